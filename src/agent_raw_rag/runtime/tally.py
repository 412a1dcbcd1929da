"""How often generation models were called, and how often what they said could not be captured: a small file beside the store.

Beside it and not in it, since it is to be written just when the store cannot be.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent_raw_rag.models import Millis
from agent_raw_rag.runtime.whole_file import write_whole
from agent_raw_rag.store.lock import TALLY, lock

if TYPE_CHECKING:
    from agent_raw_rag.search.status import StatusReport

FILE = "gateway.json"
CALLERS = ("ingest", "sweep", "chat", "proxy")
"""Who might call a generation model. The first two never do."""
WAIT_SECONDS = 5.0
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of one space, since its store was made."""

    llm_calls: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(CALLERS, 0))
    capture_errors: int = 0
    """Exchanges that could not be stored, or not all of them."""
    last_error: str | None = None
    """Why not, the last time."""
    failed_at: Millis | None = None
    """When that was."""
    is_mended: bool = False
    """An exchange was stored since."""


def read(home: str) -> Tally:
    """The counts of the store of this folder; zeros where there are none."""
    try:
        with open(os.path.join(home, FILE), encoding="utf-8") as stream:
            told = json.load(stream)
        calls = {name: int(told["llm_calls"].get(name, 0)) for name in CALLERS}
        failed_at = told.get("failed_at")
        mended = told.get("is_mended") is True
        return Tally(calls, int(told["capture_errors"]), told["last_error"], failed_at and int(failed_at), mended)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # torn, or of another version
        return Tally()


def tell(report: StatusReport, home: str) -> None:
    """Put the counts into a status. A failure is a problem until something was stored after it; its count stays."""
    counted = read(home)
    report.llm_calls, report.capture_errors = dict(counted.llm_calls), counted.capture_errors
    if counted.last_error and not counted.is_mended:
        when = f" ({_shown(counted.failed_at)})" if counted.failed_at else ""
        report.problems.append(
            f"{counted.capture_errors} exchanges were not captured, or not all of them; the last{when}: {counted.last_error}"
        )


def add(
    home: str, caller: str, *, calls: int = 0, errors: int = 0, why: str | None = None, stored: bool = True,
    now: Callable[[], Millis] = lambda: time.time_ns() // 1_000_000,
) -> None:  # fmt: skip
    """Count calls by a caller, and captures that failed.

    Args:
        home: The folder of the store.
        caller: One of ``CALLERS``.
        calls: So many more.
        errors: So many more.
        why: The reason, without a word of what was said.
        stored: Something was to be stored: without an error it was.
        now: The clock.

    Raises:
        OSError, StoreBusyError: it cannot be written.
    """
    with lock(home, TALLY, wait_seconds=WAIT_SECONDS, purpose="counting"):
        old = read(home)
        told = {**old.llm_calls, caller: old.llm_calls.get(caller, 0) + calls}
        new = replace(old, llm_calls=told, capture_errors=old.capture_errors + errors)
        if why:
            new = replace(new, last_error=why[:_LONGEST], failed_at=now(), is_mended=False)
        elif stored and not errors:
            new = replace(new, is_mended=True)
        write_whole(os.path.join(home, FILE), json.dumps(asdict(new)))


def _shown(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
