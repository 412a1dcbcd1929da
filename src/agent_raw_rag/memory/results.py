"""What the memory tools give: one object for MCP structured content, ``--json`` of the commands and REST alike.

Plain frozen dataclasses; ``as_json`` gives JSON values only. Times are ISO 8601 in UTC, to the millisecond. Ids are strings:
``e…`` an event (a turn), ``n…`` a note, ``c…`` a candidate.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent_raw_rag.models import Millis

PROMOTED_LATER = (
    "Recorded as raw history. memory_search_raw finds it now; memory_recall does after it was promoted to a note."
)
"""What the answer to a capture says."""


def stamp(instant: Millis | None) -> str | None:
    """An instant as the results show it; None stays None."""
    if instant is None:
        return None
    return datetime.fromtimestamp(instant / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# ---------------------------------------------------------------- the five tools


@dataclass(frozen=True)
class Memory:
    """A note (layer atom) or a raw turn (layer raw)."""

    source_id: str
    timestamp: str | None
    layer: str
    kind: str
    text: str
    topic: str | None
    source: str
    author: str | None
    score: float | None
    """From 0 to 1; None: raw turns have none that could be compared."""
    evidence: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Recalled:
    """The answer to ``memory_recall``."""

    memories: list[Memory]
    rendered: str = ""
    """The memories as text for a prompt, escaped and fenced; empty if there are none."""
    degraded: list[str] = field(default_factory=list)
    """Stages that could not be run, so that the order is the one of the stage before."""
    left_out: int = 0
    """How many more there were than the token budget holds."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only; ``degraded`` and ``left_out`` only where something was."""
        content = {"memories": [asdict(one) for one in self.memories], "count": len(self.memories)}
        lacking = {"degraded": self.degraded, "left_out": self.left_out}
        return {**content, "rendered": self.rendered, **{name: value for name, value in lacking.items() if value}}


@dataclass(frozen=True)
class Captured:
    """The answer to ``memory_capture``."""

    event_id: str | None
    """None: nothing was recorded."""
    source: str
    session_id: str
    recorded: bool
    duplicate: bool = False
    """It was there already; ``event_id`` is the first one's."""
    note: str = PROMOTED_LATER
    skipped: str | None = None
    """Why nothing was recorded: ``recall_echo``, ``empty``, ``forgotten`` or ``for_good``."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only; ``skipped`` only where something was."""
        content = asdict(self)
        if self.skipped is None:
            del content["skipped"]
        return content


@dataclass(frozen=True)
class Kept:
    """The answer to ``raw-rag keep``."""

    id: str
    """Of a session or a note."""
    kept: bool
    changed: bool
    """False: it was so before."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True)
class Event:
    """A raw turn."""

    event_id: str
    timestamp: str | None
    session_id: str
    user: str | None
    """Who said it: the author that a capture named, else the turn's role."""
    source: str
    content: str


def recalled_event(event: Event) -> Memory:
    """A raw turn among what is recalled."""
    return Memory(
        source_id=event.event_id, timestamp=event.timestamp, layer="raw", kind="event", text=event.content, topic=None,
        source=event.source, author=event.user, score=None, evidence=[event.event_id],
    )  # fmt: skip


@dataclass(frozen=True)
class RawFound:
    """The answer to ``memory_search_raw``."""

    events: list[Event]

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"events": [asdict(one) for one in self.events], "count": len(self.events)}


@dataclass(frozen=True)
class Saved:
    """The answer to ``memory_save``."""

    node_id: str
    content: str
    source: str
    kind: str
    created: bool
    """False: an active note says the same; ``node_id`` is that one's."""
    topic: str | None = None

    def as_json(self) -> dict[str, Any]:
        """JSON values only. ``atom_id`` is the same id: what one tool gives, another takes."""
        return {"node_id": self.node_id, "atom_id": self.node_id, **_without(asdict(self), "node_id")}


@dataclass(frozen=True)
class Updated:
    """The answer to ``memory_update``."""

    deprecated_atom_id: str
    new_node_id: str
    source: str
    kind: str
    content: str
    topic: str | None = None

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"deprecated": True, **asdict(self), "supersedes": self.deprecated_atom_id}


# ---------------------------------------------------------------- curation


@dataclass(frozen=True)
class NoteItem:
    """A note with all that is known of it."""

    id: str
    kind: str
    statement: str
    topic: str | None
    source: str
    author: str | None
    """Who wrote it down: a token's label, ``owner``, ``sweep``."""
    importance: str
    confidence: float
    evidence: list[str]
    candidate: str | None
    status: str
    """``active``, ``superseded`` or ``deprecated``."""
    supersedes: str | None
    superseded_by: str | None
    tags: list[str]
    reason: str | None
    """Why it no longer holds, as whoever changed it said."""
    created: str | None
    changed: str | None
    expires: str | None
    metadata: dict[str, Any] = field(default_factory=dict)
    """What else its writer said of it."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True)
class History:
    """The answer to ``memory_history``: what a note was before and what became of it, oldest first."""

    id: str
    notes: list[NoteItem]

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"id": self.id, "notes": [one.as_json() for one in self.notes], "count": len(self.notes)}


@dataclass(frozen=True)
class Deprecated:
    """A note that was retired without a successor."""

    id: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"deprecated": True, **asdict(self)}


@dataclass(frozen=True)
class CandidateItem:
    """A proposed statement with its quote and evidence, and what was decided."""

    id: str
    kind: str
    statement: str
    quote: str
    evidence: list[str]
    source: str
    importance: str
    confidence: float
    rule: str | None
    """The trigger rule that found it; None: it was proposed."""
    proposer: str
    status: str
    """``pending``, ``promoted``, ``rejected`` or ``conflict``."""
    reason: str | None
    note: str | None
    """The note it became or was merged into; with ``conflict`` the one it contradicts."""
    created: str | None
    decided: str | None

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True)
class Candidates:
    """The answer to ``memory_candidates``."""

    candidates: list[CandidateItem]

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"candidates": [one.as_json() for one in self.candidates], "count": len(self.candidates)}


@dataclass(frozen=True)
class Proposed:
    """The answer to ``memory_propose``."""

    candidate: CandidateItem
    created: bool
    """False: the same was proposed before."""
    merged: bool = False
    """An active note says the same; it has the evidence now."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        content = {"candidate_id": self.candidate.id, "status": self.candidate.status, "created": self.created}
        return {**content, "merged": self.merged, "candidate": self.candidate.as_json()}


@dataclass(frozen=True)
class Promotion:
    """What became of one candidate."""

    candidate_id: str
    node_id: str
    merged: bool
    """An active note said the same; it has the evidence now, and there is no new one."""
    superseded: str | None = None
    """The note that said the opposite, and was replaced."""


@dataclass(frozen=True)
class Promoted:
    """The answer to ``memory_promote``."""

    promoted: list[Promotion]

    def as_json(self) -> dict[str, Any]:
        """JSON values only; ``merged`` says whether all of them were."""
        all_merged = bool(self.promoted) and all(one.merged for one in self.promoted)
        content = {"promoted": [asdict(one) for one in self.promoted], "count": len(self.promoted)}
        return {**content, "merged": all_merged}


@dataclass(frozen=True)
class Rejected:
    """The answer to ``memory_reject``."""

    candidate_id: str
    reason: str
    status: str = "rejected"

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True)
class JournalShown:
    """The answer to ``memory_journal``: acts in their order. ``rows``: as ``store.journal.JournalRow.as_json`` gives them."""

    rows: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"rows": self.rows, "count": len(self.rows)}


@dataclass(frozen=True)
class Verified:
    """The answer to ``raw-rag journal verify``."""

    ok: bool
    rows: int
    broken: int | None = None
    """Number of the first row that was changed or is missing."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass(frozen=True)
class Swept:
    """What one sweep did."""

    read: int
    """Turns that it looked at."""
    created: int
    """New candidates."""
    promoted: int = 0
    merged: int = 0
    conflicts: int = 0
    history: int = 0
    """Turns it passed over: logs told them before there was this store. ``raw-rag sweep --all`` reads them."""
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


def _without(content: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != key}
