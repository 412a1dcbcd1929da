"""``GET /count``: how much a space holds."""

from __future__ import annotations

from typing_extensions import TypedDict

from agent_raw_rag.server.http.health import counted
from agent_raw_rag.server.http.rest.operation import Call, Operation


class Counted(TypedDict):
    """How much there is."""

    count: int
    """Notes and turns."""
    sessions: int
    turns: int
    notes: int
    candidates: int


def count(call: Call) -> Counted:
    """How much the space holds."""
    found = counted(call.runtime)
    return {
        "count": found["turns"] + found["notes"], "sessions": found["sessions"], "turns": found["turns"],
        "notes": found["notes"], "candidates": found["candidates"],
    }  # fmt: skip


OPERATIONS = (Operation("GET", "/count", "memory", count, Counted),)
