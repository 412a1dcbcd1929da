"""Arrows 2 and 3 for one source: records -> batches of turns, with the cursor that each batch leads to.

Pure over its records: whoever holds an iterator of them (a file, a foreign database, a test) gets the same batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from agent_raw_rag.adapters.base import Adapter, State
from agent_raw_rag.models import (
    BadRecord,
    Event,
    Message,
    Record,
    Rollback,
    SessionInfo,
    Source,
    Trail,
    Turn,
)
from agent_raw_rag.turns import Assembler, Done

BATCH_TURNS = 1000
BATCH_BYTES = 4 << 20
"""A batch closes after this much of the log: bounds memory, and what a kill can cost."""

HELD_BYTES = 1 << 20
"""So far the cursor stays back for words that an adapter holds: bounds what an append has to read again."""

Tally = Counter[str]
"""``kind|version|name`` -> how often; kind is ``unknown`` or ``skipped``."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where reading a LINES source goes on: the first record of the oldest open turn, and all that was known there."""

    offset: int = 0
    done: Done = field(default_factory=dict)
    """What behind ``offset`` belongs to settled turns; see ``turns.Done``."""
    state: State = field(default_factory=dict)
    tally: dict[str, int] = field(default_factory=dict)
    """Counts of the records before ``offset``. Those behind it are read, and counted, again."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A rollback, and the place in its session where it stands."""

    session: str
    rollback: Rollback
    after_key: str | None
    """Key of the session's last turn before it, if this read has seen it."""
    position: int


@dataclass(slots=True)
class Batch:
    """What one transaction stores of one source."""

    turns: list[Turn] = field(default_factory=list)
    """Settled turns first, then the ones still open."""
    infos: dict[str, SessionInfo] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    tally: Tally = field(default_factory=Counter)
    """Counts of everything read of the source so far."""
    cursor: Cursor = field(default_factory=Cursor)
    end: int = 0
    """Byte after the last complete record read."""
    bad: list[BadRecord] = field(default_factory=list)
    whole: bool = False
    """The turns are all there is of their sessions in this source, in their order (DOCUMENT, DATABASE)."""


class _Reader:
    """Feeds records to an adapter and an assembler, and cuts batches."""

    def __init__(self, adapter: Adapter, cursor: Cursor) -> None:
        self.adapter = adapter
        self.state: State = dict(cursor.state)
        self.assembler: Assembler[State] = Assembler(cursor.done)
        self.settled_tally: Tally = Counter(cursor.tally)
        self.recent: list[tuple[int, str]] = []
        self.end = self.begun = cursor.offset
        self.batch = Batch()
        self.last_key: dict[str, str] = {}
        self.ready = 0
        self.held_from: list[tuple[int, State]] = []
        """Where the adapter began to hold words, with its state right before that."""

    def take(self, record: Record | BadRecord) -> None:
        if isinstance(record, BadRecord):
            self._count("skipped", record.reason, record.end)
            self.batch.bad.append(record)
        else:
            self._parse(record)
        self.end = record.end

    def _parse(self, record: Record) -> None:
        before = dict(self.state)
        try:
            events = list(self.adapter.parse(record, self.state))
        except Exception as error:
            # A record that breaks the adapter costs that record, not its file. It is counted and shown by name.
            self.state = before
            self._count("skipped", f"parse-{type(error).__name__}", record.end)
            return
        if self._holds(self.state) and not self._holds(before):
            self.held_from.append((record.start, before))
        for event in events:
            self._event(event, record, before)

    def _holds(self, state: State) -> bool:
        for name in self.adapter.holds:  # noqa: SIM110  once a record: a generator would cost three times as much
            if state.get(name):
                return True
        return False

    def _event(self, event: Event, record: Record, before: State) -> None:
        if isinstance(event, Message):
            session = event.session or self.state["session"]
            self.assembler.feed(event, session, record.start, record.end, before)
            self.last_key[session] = self.assembler.current_key(session) or self.last_key.get(session, "")
            self.ready += 1
        elif isinstance(event, Trail):
            self.assembler.feed(event, self.state["session"], record.start, record.end, before)
        elif isinstance(event, SessionInfo):
            self._inform(event)
        elif isinstance(event, Rollback):
            session = self.state["session"]
            self.held_from.clear()  # read again without the turns before it, a rollback would mean others
            self.batch.marks.append(Mark(session, event, self.last_key.get(session) or None, record.end))
        else:
            self._count("unknown", event.kind, record.end)

    def _inform(self, info: SessionInfo) -> None:
        session = info.session or self.state["session"]
        known = self.batch.infos.get(session)
        self.batch.infos[session] = merge(known, info) if known else replace(info, session=session)

    def _count(self, kind: str, name: str, end: int) -> None:
        self.recent.append((end, f"{kind}|{self.state.get('version') or ''}|{name}"))

    def full(self) -> bool:
        return self.ready >= BATCH_TURNS or self.end - self.begun >= BATCH_BYTES

    def cut(self) -> Batch:
        """The batch up to here; the next one begins."""
        batch, self.batch = self.batch, Batch()
        batch.turns = [*self.assembler.take_settled(), *self.assembler.open_turns()]
        point = self.assembler.resume_point()
        offset, state, done = self._before_held(*(point or (self.end, dict(self.state), {})))
        self.settled_tally.update(name for end, name in self.recent if end <= offset)
        self.recent = [(end, name) for end, name in self.recent if end > offset]
        batch.tally = self.settled_tally + Counter(name for _, name in self.recent)
        batch.cursor = Cursor(offset, done, state, dict(self.settled_tally))
        batch.end = self.end
        self.begun, self.ready = self.end, 0
        return batch

    def _before_held(self, offset: int, state: State, done: Done) -> tuple[int, State, Done]:
        """The place to go on from, moved back before the words that the state holds there."""
        passed = [place for place in self.held_from if place[0] <= offset]
        self.held_from = [*passed[-1:], *self.held_from[len(passed) :]]
        if not passed or not self._holds(state) or offset - passed[-1][0] > HELD_BYTES:
            return offset, state, done
        start, before = passed[-1]
        return start, before, self.assembler.done_from(start)


def read_batches(adapter: Adapter, records: Iterable[Record | BadRecord], cursor: Cursor) -> Iterator[Batch]:
    """Batches of a LINES source from ``cursor`` on. The last one may be empty; its cursor counts all the same.

    Between two batches the assembler goes on, so open turns come again with the next one: storing is an upsert.
    """
    reader = _Reader(adapter, cursor)
    for record in records:
        reader.take(record)
        if reader.full():
            yield reader.cut()
    yield reader.cut()


def read_whole(adapter: Adapter, source: Source, records: list[Record | BadRecord]) -> Batch:
    """The one batch of a DOCUMENT, or of one session of a DATABASE: every turn settled, in order."""
    good = [record for record in records if isinstance(record, Record)]
    reader = _Reader(adapter, Cursor(state=adapter.start(source)))
    for bad in records:
        if isinstance(bad, BadRecord):
            reader.take(bad)
    arranged = adapter.arrange(good) if adapter.arrange else good
    for place, record in enumerate(arranged):
        # Offsets of several files may coincide or run backwards: for the time of reading, a record's place stands for it.
        reader.take(replace(record, start=place, end=place + 1))
    batch = reader.cut()
    for turn in batch.turns:
        turn.settled = True
        first, last = arranged[turn.start], arranged[turn.end - 1]
        turn.start, turn.end = first.start, max(first.end, last.end)
    batch.tally = reader.settled_tally + Counter(name for _, name in reader.recent)
    batch.whole = True
    return batch


def start_cursor(adapter: Adapter, source: Source) -> Cursor:
    """The cursor before a source's first record."""
    return Cursor(state=adapter.start(source))


def merge(old: SessionInfo, new: SessionInfo) -> SessionInfo:
    """What two infos say together: the first cwd, branch, started and parent win, the last title and version."""
    return SessionInfo(
        session=old.session,
        cwd=old.cwd or new.cwd,
        branch=old.branch or new.branch,
        title=new.title or old.title,
        version=new.version or old.version,
        started=old.started if old.started is not None else new.started,
        parent=old.parent or new.parent,
        parent_kind=old.parent_kind or new.parent_kind,
    )
