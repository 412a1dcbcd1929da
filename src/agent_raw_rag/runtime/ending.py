"""Ending what passes, in every space: for the hosts that stay (daemon, servers), and for a chat that begins."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from agent_raw_rag.log import NAME
from agent_raw_rag.models import Actor
from agent_raw_rag.runtime.expected import expected
from agent_raw_rag.store.homes import spaces_with_store

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

EVERY_SECONDS = 60.0
HOUSEKEEPING = Actor("housekeeping", "sweep")
_log = logging.getLogger(NAME)


def end_idle_sessions(runtime: Runtime, actor: Actor = HOUSEKEEPING) -> int:
    """End the passing sessions of all spaces that were silent for long enough. What goes wrong in one space is told in the log.

    Args:
        runtime: Of the default space.

    Returns:
        How many ended.
    """
    return sum(_ended(runtime.in_space(slug), actor) for slug in spaces_with_store(runtime.settings.store_path()))


def _ended(room: Runtime, actor: Actor) -> int:
    try:
        return room.memory.end_idle_sessions(actor)
    except Exception as error:
        known = expected(error)
        _log.warning("space %s: no session was ended: %s", room.space, known or error, exc_info=known is None)
        return 0
