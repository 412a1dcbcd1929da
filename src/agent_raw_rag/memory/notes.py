"""What is kept on purpose: rules, facts, decisions. Each act is one transaction with its row in the journal, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotActiveError, NotFoundError
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.protected import KEEP, protected
from agent_raw_rag.memory.recall import Recall, RecallAsk
from agent_raw_rag.memory.results import Deprecated, History, Kept, NoteItem, Recalled, Saved, Updated, stamp
from agent_raw_rag.memory.statements import IMPORTANCE, KINDS, RULE, statement_hash
from agent_raw_rag.memory.taken import Taker, one_of
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store.captured import CapturedRows, no_event
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.notes import ACTIVE, NoteRow, NoteRows, new_note_id, united
from agent_raw_rag.store.rows import text_hash


@dataclass(frozen=True, slots=True)
class Save:
    """A statement to keep."""

    content: str
    source: str
    """Where it comes from: an agent, a person, a file."""
    topic: str | None = None
    kind: str = RULE
    importance: str = "medium"
    evidence: tuple[str, ...] = ()
    """Ids of the events it rests on."""
    tags: tuple[str, ...] = ()
    """Labels, such as ``keep``: it cannot be retired; ``bad``: it is shown with a warning."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What else is said of it."""
    time: Millis | None = None
    """Since when it holds; None: now."""


@dataclass(frozen=True)
class Notes:
    """The notes of one space. Safe to use from several threads."""

    store: SpaceStore
    recalling: Recall
    take: Taker
    """Text from outside -> text that may be stored."""
    new_id: Callable[[], str] = new_note_id

    def recall(self, ask: RecallAsk) -> Recalled:
        """What the space knows of a question; see ``Recall``."""
        return self.recalling(ask)

    def save(self, ask: Save, actor: Actor) -> Saved:
        """Keep a statement. What is kept already stays as it is, with the new evidence, tags and metadata; as a rule it
        becomes one.

        Raises:
            BadArgumentError: blank content or source, one that is too long, an unknown kind or importance, too many tags.
            NotFoundError: an id in ``evidence`` names no event of this space.
        """
        row = self._row(ask, actor)
        if row.evidence and not self.store.exists():  # else the refusal would leave a store
            raise no_event(row.evidence[0])
        with self.store.write() as connection:
            _must_be_there(connection, row.evidence)
            rows, journal = NoteRows(connection), Journal(connection)
            held = rows.active_of(row.statement_hash)
            if held is not None and not (row.kind == RULE and held.kind != RULE):
                if rows.enrich(held, row, row.changed):
                    journal.add(actor, "merge", time=row.changed, target=held.id, source=row.source)
                return _saved(held, created=False)
            if held is not None:
                row = _inherited(row, held)
                rows.supersede(held.id, row.id, row.changed)
            rows.add(row)
            journal.add(
                actor, "save", time=row.changed, target=row.id, source=row.source, after=text_hash(row.statement),
                before=text_hash(held.statement) if held else None, detail=_detail(row),
            )  # fmt: skip
        return _saved(row, created=True)

    def update(self, note_id: str, content: str, source: str, actor: Actor, note: str | None = None) -> Updated:
        """Put a new statement in an active note's place. It takes over topic, kind, evidence, importance and tags.

        Args:
            note: Why, in a few words.

        Raises:
            BadArgumentError: as ``save``.
            NotFoundError: there is no such note in this space.
            NotActiveError: it no longer holds; the message names the one that does.
            ConflictError: it, or another active note, says exactly that already.
        """
        statement, said_by, reason = self.take.statement(content), self.take.source(source), self.take.reason(note)
        now = self.store.now()
        with self._changing(note_id) as connection:
            rows = NoteRows(connection)
            old = _active(rows, note_id)
            row = replace(
                old, id=self.new_id(), statement=statement, statement_hash=statement_hash(statement), source=said_by,
                author=actor.name, supersedes=old.id, candidate=None, confidence=1.0, created=now, changed=now,
            )  # fmt: skip
            _must_be_news(rows, old, row)
            rows.supersede(old.id, row.id, now, reason)
            rows.add(row)
            Journal(connection).add(
                actor, "update", time=now, target=row.id, source=said_by, before=text_hash(old.statement),
                after=text_hash(statement), detail=_detail(row),
            )  # fmt: skip
        return Updated(old.id, row.id, row.source, row.kind, row.statement, row.topic)

    def deprecate(self, note_id: str, reason: str, actor: Actor, source: str | None = None) -> Deprecated:
        """Retire an active note without a successor.

        Raises:
            BadArgumentError: no reason.
            NotFoundError, NotActiveError: as ``update``.
            ProtectedError: it is tagged ``keep``.
        """
        why = self.take.reason(reason)
        if why is None:
            raise BadArgumentError("The reason is blank.", hint="Say in a few words why the note no longer holds.")
        now = self.store.now()
        with self._changing(note_id) as connection:
            rows = NoteRows(connection)
            old = _active(rows, note_id, retiring=True)
            if KEEP in old.tags:
                raise protected(old.id)
            rows.deprecate(old.id, now, why)
            Journal(connection).add(
                actor, "deprecate", time=now, target=old.id, source=source, before=text_hash(old.statement)
            )
        return Deprecated(old.id, why)

    def keep(self, note_id: str, actor: Actor, *, on: bool = True) -> Kept:
        """Tag an active note ``keep``, so that it cannot be retired, or take the tag away. Twice is once.

        Raises:
            NotFoundError, NotActiveError: as ``update``.
        """
        now = self.store.now()
        with self._changing(note_id) as connection:
            rows = NoteRows(connection)
            old = _active(rows, note_id, retiring=True)
            tags = (*old.tags, KEEP) if on else tuple(tag for tag in old.tags if tag != KEEP)
            changed = rows.set_tags(old, tags, now)
            if changed:
                Journal(connection).add(actor, "keep" if on else "let_go", time=now, target=old.id)
        return Kept(note_id, on, changed)

    def history(self, note_id: str) -> History:
        """A note, all that it replaced and all that replaced it, oldest first.

        Raises:
            NotFoundError: there is no such note in this space.
        """
        rows = NoteRows(self.store.read().connection) if self.store.exists() else None
        row = rows.get(note_id) if rows else None
        if rows is None or row is None:
            raise _missing(note_id)
        return History(row.id, [note_item(one) for one in rows.chain(row)])

    def _row(self, ask: Save, actor: Actor) -> NoteRow:
        statement, now = self.take.statement(ask.content), self.store.now()
        return NoteRow(
            self.new_id(), one_of("kind", ask.kind, KINDS), statement, statement_hash(statement),
            self.take.source(ask.source), now if ask.time is None else ask.time, now, self.take.topic(ask.topic), actor.name,
            one_of("importance", ask.importance, IMPORTANCE), evidence=tuple(dict.fromkeys(ask.evidence)),
            tags=self.take.tags(ask.tags), metadata=self.take.metadata(ask.metadata),
        )  # fmt: skip

    @contextmanager
    def _changing(self, note_id: str) -> Iterator[Connection]:
        """A transaction that changes a note; none if there is no store, which it would make."""
        if not self.store.exists():
            raise _missing(note_id)
        with self.store.write() as connection:
            yield connection


def note_item(row: NoteRow) -> NoteItem:
    """A note as the results show it."""
    return NoteItem(
        id=row.id, kind=row.kind, statement=row.statement, topic=row.topic, source=row.source, author=row.author,
        importance=row.importance, confidence=row.confidence, evidence=list(row.evidence), candidate=row.candidate,
        status=row.status, supersedes=row.supersedes, superseded_by=row.superseded_by, tags=list(row.tags),
        reason=row.reason, created=stamp(row.created), changed=stamp(row.changed), expires=stamp(row.expires),
        metadata=dict(row.metadata),
    )  # fmt: skip


def _must_be_there(connection: Connection, evidence: tuple[str, ...]) -> None:
    """Asked in the transaction that stores the note: what it rests on may be forgotten at any other time."""
    for event in evidence:
        CapturedRows(connection).event(event)


def _active(rows: NoteRows, note_id: str, *, retiring: bool = False) -> NoteRow:
    row = rows.get(note_id)
    if row is None:
        raise _missing(note_id)
    if row.status != ACTIVE:
        raise _inactive(row, rows.current(row), retiring=retiring)
    return row


def _missing(note_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no note {note_id[:80]!r} in this space.", hint="memory_recall gives the ids, as source_id."
    )


def _inactive(row: NoteRow, current: NoteRow, *, retiring: bool) -> NotActiveError:
    """``retiring``: no successor was to take its place, so there is none to be proposed."""
    if current.status == ACTIVE:
        retire = f'`raw-rag deprecate {current.id} --reason "…"` retires that one.'
        hint = retire if retiring else f"memory_update {current.id} changes that one."
        return NotActiveError(f"{row.id} was superseded by {current.id}.", hint=hint)
    gone = f"{row.id} was {row.status}"
    if row.id != current.id:
        gone += f" by {current.id}, which was {current.status}"
    return NotActiveError(
        f"{gone}, and nothing stands in its place.", hint="" if retiring else "memory_save keeps a new statement."
    )


def _must_be_news(rows: NoteRows, old: NoteRow, new: NoteRow) -> None:
    if new.statement == old.statement:
        raise ConflictError(f"{old.id} says exactly that already.", hint="Nothing was changed.")
    other = rows.active_of(new.statement_hash)
    if other is not None and other.id != old.id:
        raise ConflictError(
            f"{other.id} says that already.", hint=f"Deprecate {old.id} if {other.id} is to stand in its place."
        )


def _inherited(row: NoteRow, held: NoteRow) -> NoteRow:
    """A rule that says what a note of another kind says: it takes that note's place, with what it rests on."""
    told = united(held, row)
    return replace(
        row, supersedes=held.id, topic=row.topic or held.topic, evidence=told.evidence, tags=told.tags,
        metadata=told.metadata,
    )  # fmt: skip


def _saved(row: NoteRow, *, created: bool) -> Saved:
    return Saved(row.id, row.statement, row.source, row.kind, created, row.topic)


def _detail(row: NoteRow) -> dict[str, str]:
    return {"kind": row.kind, **({"supersedes": row.supersedes} if row.supersedes else {})}
