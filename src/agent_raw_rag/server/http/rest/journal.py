"""``GET /journal``: who did what."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from agent_raw_rag.server.curation_wire import Act
from agent_raw_rag.server.http.rest.cursor import decode, encode
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation

MOST_ON_A_PAGE = 500


class JournalQuery(Form):
    """Which acts."""

    limit: int = Field(50, description=f"Brought to 1 … {MOST_ON_A_PAGE}.")
    cursor: str | None = None
    since: str | None = Field(None, description="A date or an instant: only acts from then on.")
    action: str | None = Field(
        None, max_length=100, description="Only acts of this name: save, update, capture, denied, …"
    )


class JournalPage(TypedDict):
    """Acts, the last one first."""

    entries: list[Act]
    next: str | None


def journal(call: Call) -> JournalPage:
    """What was written, decided, denied and administered in the space, the last act first."""
    asked = call.asked(JournalQuery)
    limit = min(max(asked.limit, 1), MOST_ON_A_PAGE)
    before = int(decode(asked.cursor, (int,), asked)[0]) if asked.cursor is not None else None
    shown = call.runtime.memory.journal.page(limit + 1, since=asked.since, action=asked.action, before_id=before)
    rows: list[Any] = shown.rows[:limit]
    return {"entries": rows, "next": encode((rows[-1]["id"],), asked) if len(shown.rows) > limit else None}


OPERATIONS = (Operation("GET", "/journal", "history", journal, JournalPage, scope="curate", query=JournalQuery),)
