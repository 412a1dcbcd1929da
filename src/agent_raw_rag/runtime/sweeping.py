"""Sweeping whatever is due: for the hosts that stay (daemon, servers). A sweep that fails is told in the log and tried again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from agent_raw_rag.errors import RawRagError
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime.expected import expected
from agent_raw_rag.store.homes import spaces_with_store

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.runtime.memory import Memory

AGAIN_SECONDS = 300.0
"""After a sweep that failed."""
_log = logging.getLogger(NAME)


def sweep_spaces(runtime: Runtime) -> float:
    """Sweep every space whose last sweep is an interval ago.

    Args:
        runtime: Of the default space.

    Returns:
        Seconds until the next one is due.
    """
    interval = float(runtime.settings.promotion.interval_seconds)
    waits = [_seconds_left(runtime.in_space(slug).memory) for slug in spaces_with_store(runtime.settings.store_path())]
    return min([interval, *waits])


def homes_of_rules(runtime: Runtime) -> list[str]:
    """Where a file of the user's own trigger rules may stand.

    Args:
        runtime: Of the default space.
    """
    slugs = spaces_with_store(runtime.settings.store_path())
    return list(dict.fromkeys([runtime.settings.home, *(runtime.in_space(slug).settings.home for slug in slugs)]))


def warn_of_rules(runtime: Runtime) -> None:
    """Tell the log of trigger rules that cannot be used, before any sweep is due.

    Args:
        runtime: Of the default space.
    """
    from agent_raw_rag.memory.triggers import Triggers

    for home in homes_of_rules(runtime):
        try:
            Triggers.load(home)
        except RawRagError as error:
            _log.warning("no sweep finds anything: %s", error)


def sweep_now(memory: Memory) -> bool:
    """Sweep a space, due or not; whether it went well."""
    try:
        swept = memory.promotion.sweep()
    except Exception as error:
        known = expected(error)
        _log.warning("space %s: no sweep: %s", memory.store.space, known or error, exc_info=known is None)
        return False
    if swept.created or swept.merged:
        _log.info(
            "space %s: %d candidates, %d promoted, %d in conflict",
            memory.store.space, swept.created, swept.promoted, swept.conflicts,
        )  # fmt: skip
    return True


def _seconds_left(memory: Memory) -> float:
    """Sweep if due. Seconds until the space is due again."""
    try:
        left = memory.promotion.due_in(memory.sweep_interval)
    except Exception as error:
        known = expected(error)
        _log.warning("space %s: no sweep: %s", memory.store.space, known or error, exc_info=known is None)
        return AGAIN_SECONDS
    if left > 0:
        return left
    return memory.sweep_interval if sweep_now(memory) else AGAIN_SECONDS
