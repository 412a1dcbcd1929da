"""Frozen nouns that travel between the stages, in the order of the data's way.

Above: nothing but ``errors``. Below: every stage. All instants are integers: milliseconds since
1970-01-01 UTC (``Millis``); ``None`` means that the log gave no time, and none is invented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NewType, Protocol

Millis = int
CleanText = NewType("CleanText", str)
"""Text that went through ``sanitize``: secrets masked, no lone surrogates, no NUL. Made nowhere else."""


class Role(StrEnum):
    """Who contributes a turn."""

    USER = "user"
    """A human being typed it."""
    ASSISTANT = "assistant"
    TASK = "task"
    """The order another agent gave: the first message of a sub-agent. Never a human."""
    SUMMARY = "summary"
    """A compaction or branch summary that the agent's harness wrote."""
    EVENT = "event"
    """Something that happened, as a caller of a memory door told it. Nobody in particular says it."""
    TOOL = "tool"
    """What a tool gave, as a caller of a memory door told it. Logs have none: there a call is one line of its turn."""


class Shape(StrEnum):
    """How a source behaves on disk, and so how it is read."""

    LINES = "lines"
    """Append-only JSON lines, read from a byte cursor."""
    DOCUMENT = "document"
    """One or more files that are rewritten in place: read whole whenever they change."""
    DATABASE = "database"
    """A foreign SQLite database: the sessions whose stamp changed are read whole."""


# ---------------------------------------------------------------- arrow 1: bytes -> records


@dataclass(frozen=True, slots=True)
class Source:
    """One log file or one foreign database, as an adapter's ``classify`` recognised it."""

    agent: str
    path: str
    """Absolute path of the (main) file."""
    root: str
    """Absolute path of the agent's data folder that it was found under."""
    shape: Shape
    variant: str = ""
    """Which of the adapter's own generations this is; opaque to everybody else."""
    session: str | None = None
    """Native session id, where the path tells it."""
    parent: str | None = None
    """Native id of the parent session, where the path tells it."""
    members: tuple[str, ...] = ()
    """DOCUMENT: globs relative to ``root`` of the further files that make up the document. ``{stem}`` stands for
    the stem of each file that the glob before it matched."""
    companions: tuple[str, ...] = ()
    """DOCUMENT, DATABASE: globs relative to ``root`` of side files that are read along but whose change alone is no news."""
    order: str = ""
    """Sources of one agent are read in the order of (order, path): parents before forks."""


@dataclass(frozen=True, slots=True)
class Record:
    """One raw entry of a source."""

    data: dict[str, Any]
    start: int = 0
    """First byte in the file (LINES, DOCUMENT of lines)."""
    end: int = 0
    """Byte after the last one, line break included."""
    origin: str = ""
    """Path relative to the source's root (DOCUMENT), or the family's name (DATABASE)."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A stretch of a source that is no record: counted and passed over, never fatal."""

    reason: str
    """One of: json, not-object, too-long, too-deep, damaged, unreadable."""
    start: int
    end: int


# ---------------------------------------------------------------- arrow 2: record -> events


@dataclass(frozen=True, slots=True)
class Text:
    """Words that were said."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Readable reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, or another attachment that is not text."""

    label: str = "image"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An assistant's call of a tool."""

    name: str
    args: Mapping[str, Any] | str
    """The arguments as the log has them; a string where the log has no object."""
    call_id: str | None = None
    """None: the log has no ids, and results go to open calls in their order."""


class Outcome(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    """The human said no. Not a failure of the command."""
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"
    """The log does not say. Never shown as success."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back from a call."""

    call_id: str | None
    outcome: Outcome
    output: str = ""
    """Merged output. Only read when ``outcome`` is FAILED: pass "" otherwise to save work."""
    exit_code: int | None = None
    """Only where the log states it."""


Part = Text | Thinking | Image | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Message:
    """One message or fragment of one, as it stands in one record."""

    role: Role
    key: str
    """Identity of the record's content inside its agent: equal for every physical copy (fork, resume, mirror), and
    different for everything else. Native ids where the log has them, a content hash where it has none."""
    parts: tuple[Part, ...]
    time: Millis | None = None
    session: str | None = None
    """Native session id; None: the source's current session."""
    record_id: str | None = None
    """The native id to show as provenance."""
    group: str | None = None
    """Fragments of one model message share this; texts of one group are one contribution."""
    branch_from: str | None = None
    """Tree logs: id of the record this message answers, given only where that is not the record before it."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """Facts about a session. None means: nothing new. First cwd, branch, started and parent win; last title and version."""

    session: str | None = None
    cwd: str | None = None
    branch: str | None = None
    title: str | None = None
    version: str | None = None
    started: Millis | None = None
    parent: str | None = None
    parent_kind: str | None = None
    """One of: subagent, fork, continued."""


@dataclass(frozen=True, slots=True)
class Trail:
    """Tree logs: the id of a record that makes no message but may be named as a parent."""

    record_id: str


@dataclass(frozen=True, slots=True)
class Rollback:
    """Something was taken back: the last ``exchanges`` user turns and all that followed them, or all from a record on.
    The turns are kept, marked as an abandoned branch."""

    exchanges: int = 0
    from_record: str | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A record of a type never seen before: counted by type and version, and shown in status."""

    kind: str


Event = Message | SessionInfo | Trail | Rollback | Unknown


# ---------------------------------------------------------------- arrow 3: events -> turns


@dataclass(slots=True)
class Action:
    """A tool call and, once it came, its result."""

    call: ToolCall
    result: ToolResult | None = None


@dataclass(slots=True)
class Turn:
    """One contribution of one speaker, as it was said. Not storable: it has not been sanitized."""

    session: str
    role: Role
    key: str
    time: Millis | None
    items: list[Text | Thinking | Image | Action]
    record_ids: list[str]
    start: int
    end: int
    trail: list[str] = field(default_factory=list)
    """Ids of all tree records in this turn's stretch of the log, messages and others."""
    group: str | None = None
    branch_from: str | None = None
    settled: bool = False
    """Nothing that follows in the log can change it any more."""


# ---------------------------------------------------------------- arrow 4: turns -> clean turns


@dataclass(frozen=True, slots=True)
class CleanTurn:
    """A turn that may be stored."""

    session: str
    role: Role
    key: str
    time: Millis | None
    text: CleanText
    record_ids: tuple[str, ...]
    start: int
    end: int
    trail: tuple[str, ...] = ()
    branch_from: str | None = None
    settled: bool = True
    redactions: tuple[str, ...] = ()
    """Kinds of the secrets that were masked, one entry a mask."""


# ---------------------------------------------------------------- arrow 5: clean turns -> chunks


class Tokenizer(Protocol):
    """cl100k_base, or anything with its two directions."""

    def encode(self, text: str) -> list[int]:
        """Token ids of a text; special tokens are ordinary text."""
        ...

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens; may begin or end inside a character."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A 256-token window over a session's token stream."""

    index: int
    text: CleanText
    start_token: int
    end_token: int
    first_turn: int
    """Ordinal of the first turn the window touches, 1-based like all turn numbers."""
    last_turn: int
    stable: bool
    """Its text can no longer change."""


# ---------------------------------------------------------------- arrow 8: query -> hits


@dataclass(frozen=True, slots=True)
class Ask:
    """The filters that every reading call takes, as a caller writes them. None leaves a side open."""

    project: str | None = None
    """A folder, or ``*``. None: all projects."""
    agent: str | None = None
    after: str | None = None
    before: str | None = None
    branch: str | None = None
    role: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectItem:
    """A project in a list."""

    project: str
    sessions: int
    last: str | None
    """Time of its last turn."""


# ---------------------------------------------------------------- the memory layer


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something to the store on purpose, as the journal names them."""

    name: str
    """A token's label, ``owner`` for whoever has the machine's user, or the product's own ``sweep``."""
    transport: str
    """One of: stdio, http, cli, proxy, chat, sweep."""
    token: str | None = None
    """The token's prefix."""


DOORS = ("mcp", "http", "chat", "proxy", "import")
"""What a captured session's ``agent`` may be: the door it came through. No adapter has one of these names."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Something that was said or that happened, as a caller of a memory door tells it. Not sanitized."""

    content: str
    source: str
    """Who tells it, as they name themselves."""
    door: str = "mcp"
    """One of ``DOORS``."""
    session: str | None = None
    """The caller's own id of the conversation. None: ``ext:<source>``."""
    role: Role = Role.EVENT
    host_turn_id: str | None = None
    """The caller's own id of the turn: what makes a retry the same turn. None: the words do."""
    repeat: int = 1
    """Which of the session's turns that say the very same; for a caller that tells a whole conversation and has no ids."""
    time: Millis | None = None
    """None: no time is known."""
    author: str | None = None
    """Who said it, where the caller knows."""
    partial: bool = False
    """The end is missing."""
    kept: bool = False
    """No forgetting by filters takes its session."""
    passing: bool = False
    """Its session is kept for its own history only: never searched, forgotten when it ends."""
    info: SessionInfo | None = None
    """What is known of the conversation."""
