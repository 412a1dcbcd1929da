"""The shapes of the curation tools' structured content, which is the result objects' own ``as_json``; see ``memory_wire``."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict


class Candidate(TypedDict):
    """A proposed statement, what it rests on, and what was decided."""

    id: str
    kind: str
    statement: str
    quote: str
    evidence: list[str]
    source: str
    importance: str
    confidence: float
    rule: str | None
    proposer: str
    status: str
    reason: str | None
    note: str | None
    created: str | None
    decided: str | None


class Candidates(TypedDict):
    """Newest first."""

    candidates: list[Candidate]
    count: int


class Proposed(TypedDict):
    """What became of a proposal."""

    candidate_id: str
    status: str
    created: bool
    merged: bool
    candidate: Candidate


class OnePromotion(TypedDict):
    """What became of one candidate."""

    candidate_id: str
    node_id: str
    merged: bool
    superseded: str | None


class Promoted(TypedDict):
    """In the order of the ids."""

    promoted: list[OnePromotion]
    count: int
    merged: bool


class Rejected(TypedDict):
    """A candidate that is hidden from now on."""

    candidate_id: str
    reason: str
    status: str


class Note(TypedDict):
    """A note with all that is known of it."""

    id: str
    kind: str
    statement: str
    topic: str | None
    source: str
    author: str | None
    importance: str
    confidence: float
    evidence: list[str]
    candidate: str | None
    status: str
    supersedes: str | None
    superseded_by: str | None
    tags: list[str]
    reason: str | None
    created: str | None
    changed: str | None
    expires: str | None


class History(TypedDict):
    """Oldest first."""

    id: str
    notes: list[Note]
    count: int


class Act(TypedDict):
    """One act."""

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
