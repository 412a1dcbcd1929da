"""Use case: a space, or a part of it -> JSON lines that ``raw-rag import`` takes, or Markdown for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from agent_raw_rag.memory.portable.form import Record, compact, lines
from agent_raw_rag.memory.portable.markdown import LIVE, note_section, session_section
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.portable import Part, PortableRows

Give = Callable[[bytes], object]


@dataclass(frozen=True)
class Exported:
    """The answer to ``raw-rag export``."""

    path: str | None
    """None: it went to stdout."""
    form: str
    counts: dict[str, int] = field(default_factory=dict)
    """Type of record -> how many."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"path": self.path, "format": self.form, "counts": self.counts}


def export_jsonl(connection: Connection, part: Part, chosen: Mapping[str, Any], give: Give) -> dict[str, int]:
    """Give the lines of an export, of one moment. Returns the counts. Equal stores give equal bytes."""
    with _one_moment(connection):
        rows = PortableRows(connection, part)
        counts = rows.counts()
        for line in lines(rows.generation(), counts, chosen, _records(rows)):
            give(line)
        return counts


def export_markdown(connection: Connection, part: Part, give: Give) -> dict[str, int]:
    """Give the same for people, as Markdown: what is live of it, in the order of time.
    Returns the counts of that: it holds no candidates and no journal."""
    with _one_moment(connection):
        rows = PortableRows(connection, part)
        sessions = sorted(rows.sessions(), key=lambda one: (one[1]["started"] is None, one[1]["started"] or 0, one[0]))
        counts = {"session": len(sessions), "turn": 0, "note": 0}
        for number, session in sessions:
            turns = list(rows.turns(number, session["session"]))
            counts["turn"] += sum(1 for turn in turns if turn["status"] == LIVE)
            give(session_section(session, turns).encode())
        for note in rows.notes():
            counts["note"] += 1
            give(note_section(note).encode())
        return counts


def _records(rows: PortableRows) -> Iterator[Record]:
    for source in rows.sources():
        yield compact("source", source)
    for number, session in rows.sessions():
        yield compact("session", session)
        for turn in rows.turns(number, session["session"]):
            yield compact("turn", turn)
    for note in rows.notes():
        yield compact("note", note)
    for candidate in rows.candidates():
        yield compact("candidate", candidate)
    for row in rows.journal():
        yield compact("journal", row)


@contextmanager
def _one_moment(connection: Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
