"""What is told through a door of the memory -> turns, by the way that a log's turns take: sanitized, placed, cut into chunks.

A turn's key is made of what it is, so that a retry is the same turn, whoever sends it and in whatever order. What is stored is
never changed: a retry that says something else under the same id of its own changes nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_raw_rag.ingest.changes import Changes, apply_info
from agent_raw_rag.ingest.place import place_turn
from agent_raw_rag.ingest.recut import recut
from agent_raw_rag.ingest.run import IngestOptions
from agent_raw_rag.models import Capture, CleanText, CleanTurn, Millis, Text, Tokenizer, Turn
from agent_raw_rag.sanitize import clean, clean_label, clean_name
from agent_raw_rag.sanitize.scrub import scrub
from agent_raw_rag.sources.projects import Projects
from agent_raw_rag.store.captured import CapturedRows, event_id
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.passing import endings_of, has_turns
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import SessionRow, Status, text_hash
from agent_raw_rag.store.writer import Writer

EMPTY = "empty"
FORGOTTEN = "forgotten"
FOR_GOOD = "for_good"


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of one capture."""

    event: str | None
    """Id of the turn; None: there is none."""
    session: str
    source: str
    text: str = ""
    new: bool = False
    """It was stored now; else it was there already, or is not stored."""
    skipped: str | None = None
    """Why it is not stored: ``EMPTY``, ``FORGOTTEN`` or ``FOR_GOOD``."""
    passing: bool = False
    """It is forgotten when its session ends."""


@dataclass(slots=True)
class Capturing:
    """Captures of one transaction, which the caller holds. ``finish`` comes before it ends."""

    connection: Connection
    tokenizer: Tokenizer
    options: IngestOptions
    now: Millis = 0
    projects: Projects = field(default_factory=Projects)
    new_chunks: int = 0
    _changes: dict[str, Changes] = field(default_factory=dict)

    def store(self, captures: Iterable[Capture]) -> list[Stored]:
        """Store all of them, each session's in the order given. A session's chunks are cut once."""
        stored = [self.add(one) for one in captures]
        self.finish()
        return stored

    def add(self, capture: Capture) -> Stored:
        """Store one turn."""
        source = self._label(capture.source)
        native = self._name(capture.session or "") or f"ext:{source}"
        turn = self._clean(capture, native)
        if turn is None:
            return Stored(None, native, source, skipped=EMPTY)
        writer = Writer(self.connection)
        known = next(iter(writer.holders(capture.door, turn.key)), None)
        if known is not None:
            forgotten = known.status is Status.FORGOTTEN
            return Stored(
                None if forgotten else event_id(known.key), native, source, turn.text,
                skipped=FORGOTTEN if forgotten else None,
            )  # fmt: skip
        changes = self._changes.setdefault(capture.door, Changes(writer, capture.door, None))
        if not self._is_kept_so(changes.session(native), capture):
            return Stored(None, native, source, turn.text, skipped=FOR_GOOD)
        if capture.info is not None:
            apply_info(changes.session(native), capture.info, self.projects, clean_label)
        row = place_turn(changes, turn)
        assert row is not None  # nobody holds its key
        if row.status is Status.FORGOTTEN:
            return Stored(None, native, source, turn.text, skipped=FORGOTTEN)
        author = self._label(capture.author or "") or None
        CapturedRows(self.connection).add(row.id, source, author, partial=capture.partial)
        passing = changes.session(native).passing
        return Stored(event_id(row.key), native, source, turn.text, new=True, passing=passing)

    def finish(self) -> None:
        """Cut the chunks of what was added."""
        for changes in self._changes.values():
            for session_id, ordinal in changes.first_changed.items():
                session = changes.session_by_id(session_id)
                self.new_chunks += recut(changes.writer, session, ordinal, self.tokenizer, self.options.windows)
            changes.save()
        self._changes.clear()

    def _is_kept_so(self, session: SessionRow, capture: Capture) -> bool:
        """Whether a session can take a turn that is to be kept so. Its first turn says how a session is kept, until it ends: what
        was stored for good does not begin to pass, and what is to pass is not stored for good."""
        if capture.passing != session.passing:
            if has_turns(self.connection, session.id):
                return not capture.passing
            session.passing, session.kept = capture.passing, False
        if session.passing:
            session.heard = max(session.heard, self.now)
        else:
            session.kept = session.kept or capture.kept
        return True

    def _clean(self, capture: Capture, native: str) -> CleanTurn | None:
        own = capture.host_turn_id
        record_ids = [self._name(own)] if own else []
        turn = Turn(native, capture.role, "", capture.time, [Text(capture.content)], record_ids, 0, 0, settled=True)
        cleaned = clean(turn, self.tokenizer, self.options.sanitize)
        if cleaned is None:
            return None
        endings = endings_of(self.connection, capture.door, native)
        key = turn_key(Reader(self.connection).generation, capture, native, cleaned.text, endings)
        return CleanTurn(
            native, cleaned.role, key, cleaned.time, cleaned.text, cleaned.record_ids, 0, 0,
            redactions=cleaned.redactions,
        )  # fmt: skip

    def _name(self, text: str) -> str:
        return clean_name(text) if self.options.sanitize.redact else " ".join(scrub(text).split())

    def _label(self, text: str) -> str:
        flat = " ".join(scrub(text).split())
        return clean_label(flat) if self.options.sanitize.redact else flat


def turn_key(generation: str, capture: Capture, session: str, text: CleanText, endings: int = 0) -> str:
    """What makes a captured turn the turn it is: its place in the caller's conversation, by the caller's id where there is one,
    else by its words. The store's generation is in it, so that an id means one turn wherever it is met. So is how often the
    session has ended: what is said after an end is no retry of what was said before it."""
    if capture.host_turn_id:
        own = f"id\0{capture.host_turn_id}"
    else:
        own = f"text\0{text_hash(normal(text)).hex()}\0{capture.repeat}"
    again = f"\0{endings}" if endings else ""
    return f"{generation}\0{session}\0{capture.role.value}\0{own}{again}"


def normal(text: str) -> str:
    """A text as two that say the same are compared: composed, runs of blanks as one."""
    return " ".join(unicodedata.normalize("NFC", text).split())
