"""Rows as the store hands them out, and the hashes it keys them by."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import IntEnum

from agent_raw_rag.models import Millis, Role

ROLE_BITS = {Role.USER: 1, Role.ASSISTANT: 2, Role.TASK: 4, Role.SUMMARY: 8, Role.EVENT: 16, Role.TOOL: 32}
"""A chunk's roles as a bit mask."""


SEARCHED = "s.passing = 0"
"""SQL over ``sessions s``: what every way of searching and listing adds. A passing session is found by its exact id alone."""


def roles_of(mask: int) -> list[Role]:
    """The roles of a bit mask."""
    return [role for role, bit in ROLE_BITS.items() if mask & bit]


class Status(IntEnum):
    """What a stored turn is worth."""

    LIVE = 0
    COPY = 1
    """Another session owns this turn (fork, resume): no text here, not searched, not shown."""
    FORGOTTEN = 2
    """Blanked on demand. The row stays so that the log cannot bring the text back."""


def key_hash(agent: str, key: str) -> bytes:
    """128 bits that name a turn across all sessions of its agent."""
    return hashlib.blake2b(f"{agent}\0{key}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def text_hash(text: str) -> bytes:
    """128 bits that stand for a text: of a turn (to see a change), of a chunk (to find its vector)."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def trail_hash(record_id: str) -> bytes:
    """64 bits that stand for a record id in a turn's trail."""
    return hashlib.blake2b(record_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()


@dataclass(slots=True)
class SourceRow:
    """A known source and what its file looked like when it was last read."""

    id: int
    agent: str
    path: str
    shape: str
    device: int | None
    inode: int | None
    size: int | None
    mtime_ns: int | None
    error: str | None
    gone: bool


@dataclass(slots=True)
class SessionRow:
    """A session, with the counters an append needs."""

    id: int
    agent: str
    native: str
    parent: str | None = None
    parent_kind: str | None = None
    cwd: str | None = None
    project: str | None = None
    remote: str | None = None
    branch: str | None = None
    title: str | None = None
    version: str | None = None
    started: Millis | None = None
    last: Millis | None = None
    turns: int = 0
    """Rows of any status, so the next ordinal is ``turns + 1``."""
    exchange: int = 0
    """The exchange of the last turn."""
    tokens: int = 0
    branched: bool = False
    forgotten: bool = False
    source_id: int | None = None
    kept: bool = False
    """No forgetting by filters takes it."""
    passing: bool = False
    """It is there for its own history only: never searched, forgotten when it ends."""
    heard: Millis = 0
    """PASSING: when the store heard of it last."""
    endings: int = 0
    """PASSING: how often it has ended."""

    @property
    def public_id(self) -> str:
        """The name a session has outside the store: ``agent:native``."""
        return f"{self.agent}:{self.native}"


@dataclass(slots=True)
class TurnRow:
    """A stored turn without its text."""

    id: int
    session_id: int
    ordinal: int
    exchange: int
    role: Role
    time: Millis | None
    text_hash: bytes
    key: bytes
    status: Status
    open: bool
    abandoned: int
    branch_from: int | None
    start_token: int
    tokens: int
    source_id: int | None
    start: int | None
    end: int | None


@dataclass(slots=True)
class ChunkRow:
    """A stored chunk."""

    id: int
    session_id: int
    place: int
    text: str
    hash: bytes
    start_token: int
    end_token: int
    first_turn: int
    last_turn: int
    started: Millis | None
    ended: Millis | None
    roles: int


@dataclass(slots=True)
class ShownTurn:
    """A live turn with its text and provenance, as searches and people see it."""

    session_id: int
    ordinal: int
    exchange: int
    role: Role
    time: Millis | None
    text: str
    start_token: int
    tokens: int
    """Of the rendered line, speaker included."""
    abandoned: bool
    source_path: str | None
    source_gone: bool
    start: int | None
    end: int | None
    record_ids: list[str] = field(default_factory=list)
