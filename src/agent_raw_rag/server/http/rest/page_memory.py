"""``GET /notes``, ``GET /candidates`` and deciding about candidates: what is kept, and what may be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from agent_raw_rag.memory.results import CandidateItem, NoteItem
from agent_raw_rag.runtime.reading import Behind, Reading
from agent_raw_rag.server.curation_wire import Promoted, Rejected
from agent_raw_rag.server.http.rest.cursor import decode, encode
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation
from agent_raw_rag.server.http.rest.page_filters import Name, Paged
from agent_raw_rag.store.candidates import STATUSES, UNDECIDED

Words = Annotated[str, Field(max_length=10_000)]


class NotesAsked(Paged):
    """Which notes."""

    status: Literal["active", "superseded", "deprecated", "all"] = "active"
    kind: Name | None = None
    topic: Name | None = None


class CandidatesAsked(Paged):
    """Which candidates."""

    status: Literal["undecided", "pending", "conflict", "promoted", "rejected", "all"] = Field(
        "pending", description="`undecided`: pending and in conflict."
    )


class PromoteAsked(Form):
    """How a candidate becomes a note."""

    note: Words | None = Field(None, description="Why, in a few words.")
    statement: Words | None = Field(
        None, description="What the note is to say, where it is not the candidate's own words."
    )


class RejectAsked(Form):
    """Why not."""

    reason: Words


class NoteList(TypedDict):
    """Notes, the newest first."""

    notes: list[NoteItem]
    next: str | None


class CandidateList(TypedDict):
    """Candidates, the newest first."""

    candidates: list[CandidateItem]
    next: str | None


def notes(call: Call) -> dict[str, Any]:
    """List notes, the newest first."""
    asked = call.asked(NotesAsked)
    items, following = Reading(call.runtime).notes(
        status=None if asked.status == "all" else asked.status, kind=asked.kind or None, topic=asked.topic or None,
        limit=asked.limit, after=_behind(asked),
    )  # fmt: skip
    return {"notes": [item.as_json() for item in items], "next": _next(following, asked)}


def candidates(call: Call) -> dict[str, Any]:
    """List candidates, the newest first."""
    asked = call.asked(CandidatesAsked)
    statuses = {"all": STATUSES, "undecided": UNDECIDED}.get(asked.status, (asked.status,))
    items, following = Reading(call.runtime).candidates(statuses, asked.limit, _behind(asked))
    return {"candidates": [item.as_json() for item in items], "next": _next(following, asked)}


def candidate_promote(call: Call) -> dict[str, Any]:
    """Make a note of a candidate, as `memory_promote` does; with a statement of one's own it says that instead."""
    asked, promotion, name = call.asked(PromoteAsked), call.runtime.memory.promotion, call.path["candidate"]
    if asked.statement is None or not asked.statement.strip():
        return promotion.promote([name], call.actor, asked.note).as_json()
    return promotion.promote_reworded(name, asked.statement, call.actor, asked.note).as_json()


def candidate_reject(call: Call) -> dict[str, Any]:
    """Say that a candidate is not worth a note, and why."""
    asked = call.asked(RejectAsked)
    return call.runtime.memory.promotion.reject(call.path["candidate"], asked.reason, call.actor).as_json()


def _behind(asked: Paged) -> Behind:
    if not asked.cursor:
        return None
    created, name = decode(asked.cursor, (int, str), asked)
    return int(created), str(name)


def _next(following: Behind, asked: Paged) -> str | None:
    return encode(list(following), asked) if following else None


OPERATIONS = (
    Operation("GET", "/notes", "page", notes, NoteList, query=NotesAsked),
    Operation("GET", "/candidates", "page", candidates, CandidateList, scope="curate", query=CandidatesAsked),
    Operation(
        "POST", "/candidates/{candidate}/promote", "page", candidate_promote, Promoted, scope="curate", body=PromoteAsked,
        errors=(409,),
    ),
    Operation(
        "POST", "/candidates/{candidate}/reject", "page", candidate_reject, Rejected, scope="curate", body=RejectAsked,
        errors=(409,),
    ),
)  # fmt: skip
