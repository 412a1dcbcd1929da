"""How often generation models were called, and how often what they said could not be captured: a small file beside the store.

Beside it and not in it, since it is to be written just when the store cannot be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

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
    """Exchanges of which nothing could be stored."""
    last_error: str | None = None
    """Why not, the last time."""


def read(home: str) -> Tally:
    """The counts of the store of this folder; zeros where there are none."""
    try:
        with open(os.path.join(home, FILE), encoding="utf-8") as stream:
            told = json.load(stream)
        calls = {name: int(told["llm_calls"].get(name, 0)) for name in CALLERS}
        return Tally(calls, int(told["capture_errors"]), told["last_error"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # torn, or of another version
        return Tally()


def tell(report: StatusReport, home: str) -> None:
    """Put the counts into a status."""
    counted = read(home)
    report.llm_calls, report.capture_errors = dict(counted.llm_calls), counted.capture_errors
    if counted.last_error:
        report.problems.append(f"{counted.capture_errors} exchanges were not captured; the last: {counted.last_error}")


def add(home: str, caller: str, *, calls: int = 0, errors: int = 0, why: str | None = None) -> None:
    """Count calls by a caller, and captures that failed; ``why`` holds no word of what was said.

    Raises:
        OSError, StoreBusyError: it cannot be written.
    """
    with lock(home, TALLY, wait_seconds=WAIT_SECONDS, purpose="counting"):
        old = read(home)
        told = {**old.llm_calls, caller: old.llm_calls.get(caller, 0) + calls}
        new = Tally(told, old.capture_errors + errors, why[:_LONGEST] if why else old.last_error)
        write_whole(os.path.join(home, FILE), json.dumps(asdict(new)))
