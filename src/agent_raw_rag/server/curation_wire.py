"""The shapes of the curation tools' structured content, which is the result objects' own ``as_json``; see ``memory_wire``."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from agent_raw_rag.memory.results import CandidateItem, NoteItem, Promotion


class Candidates(TypedDict):
    """Newest first."""

    candidates: list[CandidateItem]
    count: int


class Proposed(TypedDict):
    """What became of a proposal."""

    candidate_id: str
    status: str
    created: bool
    merged: bool
    candidate: CandidateItem


class Promoted(TypedDict):
    """In the order of the ids."""

    promoted: list[Promotion]
    count: int
    merged: bool


class Rejected(TypedDict):
    """A candidate that is hidden from now on."""

    candidate_id: str
    reason: str
    status: str


class History(TypedDict):
    """Oldest first."""

    id: str
    notes: list[NoteItem]
    count: int


class Act(TypedDict):
    """One act. `before` and `after` are hashes of what was changed, `chain` of this row and of all before it."""

    id: int
    time: str
    action: str
    actor: str
    token: str | None
    transport: str
    source: str | None
    target: str | None
    before: str | None
    after: str | None
    detail: dict[str, Any]
    chain: str | None


class Journal(TypedDict):
    """Oldest first."""

    rows: list[Act]
    count: int
