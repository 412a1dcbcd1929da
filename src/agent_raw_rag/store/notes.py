"""Notes as rows: what is kept on purpose, what it replaced and what replaced it. The caller holds the transaction.

Each change of a row leaves its id in ``note_changes`` (a trigger does), so that what is derived from notes follows them.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from agent_raw_rag.models import CleanText, Millis

ACTIVE, SUPERSEDED, DEPRECATED = "active", "superseded", "deprecated"
_SLICE = 500


def new_note_id() -> str:
    """A new note's id: ``n`` and 80 random bits, so that no two stores give the same."""
    return f"n{secrets.token_hex(10)}"


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note."""

    id: str
    kind: str
    statement: CleanText
    statement_hash: bytes
    """Of its normal form: two active notes never have the same."""
    source: CleanText
    created: Millis
    changed: Millis
    topic: CleanText | None = None
    author: str | None = None
    importance: str = "medium"
    confidence: float = 1.0
    evidence: tuple[str, ...] = ()
    """Ids of the events it rests on."""
    candidate: str | None = None
    status: str = ACTIVE
    supersedes: str | None = None
    superseded_by: str | None = None
    tags: tuple[str, ...] = ()
    reason: CleanText | None = None
    """Why it no longer holds."""
    expires: Millis | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What else its writer said of it: JSON values that nothing here reads, but for finding the note by them."""


_COLUMNS = [field.name for field in fields(NoteRow)]
_LISTS = ("evidence", "tags")
_JSON = (*_LISTS, "metadata")


class NoteRows:
    """The notes of one open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    # ------------------------------------------------------------ reading

    def get(self, note: str) -> NoteRow | None:
        """The note of an id, of any status."""
        return next(self._rows("id = ?", (note,)), None)

    def active_of(self, statement_hash: bytes) -> NoteRow | None:
        """The active note that says this."""
        return next(self._rows("statement_hash = ? AND status = 'active'", (statement_hash,)), None)

    def active(self) -> Iterator[NoteRow]:
        """All active notes."""
        return self._rows("status = 'active'", ())

    def page(
        self,
        *,
        status: str | None,
        kind: str | None,
        topic: str | None,
        limit: int,
        after: tuple[Millis, str] | None = None,
    ) -> list[NoteRow]:
        """Notes, the newest first, from behind (created, id) of one on. None leaves a side open."""
        wanted = {"status": status, "kind": kind, "topic": topic}
        sides = [(f"{name} = ?", value) for name, value in wanted.items() if value is not None]
        where = " AND ".join(["1", *(sql for sql, _ in sides), *(["(created, id) < (?, ?)"] if after else [])])
        values = (*(value for _, value in sides), *(after or ()), limit)
        return list(self._rows(f"{where} ORDER BY created DESC, id DESC LIMIT ?", values))

    def made(self, since: Millis | None, until: Millis | None, limit: int) -> list[NoteRow]:
        """The notes that were made from an instant on and before another, the newest first."""
        where, values = (
            "created >= ? AND created < ? ORDER BY created DESC, id DESC LIMIT ?",
            (
                since if since is not None else -(1 << 62),
                until if until is not None else 1 << 62,
                limit,
            ),
        )
        return list(self._rows(where, values))

    def of_ids(self, ids: Iterable[str]) -> Iterator[NoteRow]:
        """The notes of these ids, of any status; those that do not exist are missing."""
        wanted = list(ids)
        for start in range(0, len(wanted), _SLICE):
            part = wanted[start : start + _SLICE]
            yield from self._rows(f"id IN ({', '.join('?' * len(part))})", part)

    def counts(self) -> dict[str, int]:
        """Kind -> how many active notes."""
        rows = self.connection.execute("SELECT kind, count(*) FROM notes WHERE status = 'active' GROUP BY kind")
        return {row[0]: row[1] for row in rows}

    def topics(self) -> dict[str | None, int]:
        """Topic -> how many active notes; None: without one."""
        rows = self.connection.execute("SELECT topic, count(*) FROM notes WHERE status = 'active' GROUP BY topic")
        return {row[0]: row[1] for row in rows}

    def newest(
        self, *, after: Millis | None = None, before: Millis | None = None, past: tuple[Millis, str] | None = None
    ) -> Iterator[NoteRow]:
        """The active notes, the newest first.

        Args:
            after: Made then or later.
            before: Made earlier.
            past: (when the last one that is known was made, its id): only those that follow it.
        """
        low, high = -(1 << 62) if after is None else after, 1 << 62 if before is None else before
        time, note = past or (1 << 62, "")
        return self._rows(
            "status = 'active' AND created >= ? AND created < ? AND (created, id) < (?, ?) ORDER BY created DESC, id DESC",
            (low, high, time, note),
        )

    def chain(self, note: NoteRow) -> list[NoteRow]:
        """A note with all that it replaced and all that replaced it, oldest first."""
        before = list(self._follow(note.supersedes, "supersedes", {note.id}))
        after = list(self._follow(note.superseded_by, "superseded_by", {note.id}))
        return [*reversed(before), note, *after]

    def current(self, note: NoteRow) -> NoteRow:
        """What stands in a note's place now; it need not be active."""
        return self.chain(note)[-1]

    def _follow(self, note: str | None, way: str, seen: set[str]) -> Iterator[NoteRow]:
        while note is not None and note not in seen:
            seen.add(note)
            row = self.get(note)
            if row is None:
                return
            yield row
            note = getattr(row, way)

    def _rows(self, where: str, values: Sequence[object]) -> Iterator[NoteRow]:
        rows = self.connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM notes WHERE {where}", values)
        return map(_row, rows)

    # ------------------------------------------------------------ writing

    def add(self, row: NoteRow) -> None:
        """Store a new note.

        Raises:
            sqlite3.IntegrityError: an active note says the same, or has this id.
        """
        values = {**asdict(row), **{name: json.dumps(getattr(row, name)) for name in _JSON}}
        places = ", ".join(f":{name}" for name in _COLUMNS)
        self.connection.execute(f"INSERT INTO notes ({', '.join(_COLUMNS)}) VALUES ({places})", values)

    def supersede(self, old: str, new: str, time: Millis, reason: CleanText | None = None) -> None:
        """Say that a note was replaced by another, which is stored next and names it."""
        self.connection.execute(
            "UPDATE notes SET status = 'superseded', superseded_by = ?, changed = ?, reason = ? WHERE id = ?",
            (new, time, reason, old),
        )

    def deprecate(self, note: str, time: Millis, reason: CleanText | None) -> None:
        """Say that a note no longer holds and that nothing replaces it."""
        self.connection.execute(
            "UPDATE notes SET status = 'deprecated', changed = ?, reason = ? WHERE id = ?", (time, reason, note)
        )

    def add_evidence(self, note: NoteRow, evidence: Iterable[str], time: Millis) -> bool:
        """Add events that a note rests on as well. Whether there were new ones."""
        all_of_it = tuple(dict.fromkeys([*note.evidence, *evidence]))
        if all_of_it == note.evidence:
            return False
        self.connection.execute(
            "UPDATE notes SET evidence = ?, changed = ? WHERE id = ?", (json.dumps(all_of_it), time, note.id)
        )
        return True

    def enrich(self, note: NoteRow, more: NoteRow, time: Millis) -> bool:
        """Add what another note that says the same rests on, its tags and its metadata; of one key the new value counts.
        Whether there was anything new."""
        told = united(note, more)
        if told == note:
            return False
        self.connection.execute(
            "UPDATE notes SET evidence = ?, tags = ?, metadata = ?, changed = ? WHERE id = ?",
            (json.dumps(told.evidence), json.dumps(told.tags), json.dumps(told.metadata), time, note.id),
        )
        return True

    def set_tags(self, note: NoteRow, tags: Iterable[str], time: Millis) -> bool:
        """Give a note these tags, each once. Whether they are others than before."""
        all_of_them = tuple(dict.fromkeys(tags))
        if all_of_them == note.tags:
            return False
        self.connection.execute(
            "UPDATE notes SET tags = ?, changed = ? WHERE id = ?", (json.dumps(all_of_them), time, note.id)
        )
        return True

    # ------------------------------------------------------------ following

    def store_id(self) -> tuple[str, int]:
        """What tells this store from another, and from a copy of itself that was put in its place."""
        path = self.connection.execute("PRAGMA database_list").fetchone()[2]
        generation = self.connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
        return str(generation), os.stat(path).st_ino if path else 0

    def sequence(self) -> int:
        """Number of the last change of any note; 0: none yet."""
        return int(self.connection.execute("SELECT max(sequence) FROM note_changes").fetchone()[0] or 0)

    def changed_after(self, sequence: int) -> list[str]:
        """Ids of the notes that changed after a change."""
        rows = self.connection.execute("SELECT DISTINCT note FROM note_changes WHERE sequence > ?", (sequence,))
        return [row[0] for row in rows]


def united(note: NoteRow, more: NoteRow) -> NoteRow:
    """A note with the evidence, the tags and the metadata of another one besides its own; of one key the other's value."""
    return replace(
        note, evidence=tuple(dict.fromkeys([*note.evidence, *more.evidence])),
        tags=tuple(dict.fromkeys([*note.tags, *more.tags])), metadata={**note.metadata, **more.metadata},
    )  # fmt: skip


def _list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _row(row: sqlite3.Row) -> NoteRow:
    values = dict(zip(_COLUMNS, row, strict=True))
    values.update({name: _list(values[name]) for name in _LISTS})
    values["metadata"] = {} if values["metadata"] == "{}" else json.loads(values["metadata"])
    return NoteRow(**values)
