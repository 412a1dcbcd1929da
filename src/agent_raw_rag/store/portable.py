"""A store's rows without its own numbers, as an export holds them: sources, sessions, turns, notes, candidates, journal.

Instants are milliseconds, hashes hex, ids as everywhere outside the store. The caller holds a transaction, so that all of it is
of one moment.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.models import Millis
from agent_raw_rag.store.captured import event_id
from agent_raw_rag.store.rows import SEARCHED

Values = dict[str, Any]
_ROW_STATUS = {0: "live", 1: "copy", 2: "forgotten"}
STATUS = {name: number for number, name in _ROW_STATUS.items()}
_NOTE = """id, kind, statement, topic, source, author, importance, confidence, evidence, candidate, status, supersedes,
           superseded_by, tags, reason, created, changed, expires, metadata"""
_CANDIDATE = """id, kind, statement, quote, evidence, source, importance, confidence, rule, proposer, status, reason, note,
                created, decided"""
_JOURNAL = "id, time, action, actor, token, transport, source, target, before, after, detail, chain"
ACTS_OF_MOVING = ("export", "import", "backup", "restore")
"""Journal actions that change nothing of what is exported. At the journal's end they are left out, so that an export does not
differ from the one before by telling of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a store is exported."""

    sessions: tuple[int, ...] | None = None
    """None: all."""
    since: Millis | None = None
    notes: bool = True
    """Notes and candidates too."""

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self.sessions is None and self.since is None and self.notes


class PortableRows:
    """Reads a store's rows for an export. Every query is in one order, whatever the rows' numbers."""

    def __init__(self, connection: sqlite3.Connection, part: Part) -> None:
        self.connection = connection
        self.part = part
        self._numbers = self._numbered(self._used_sources())

    def _used_sources(self) -> set[int]:
        """Of the sessions and turns in the part; nothing is told of where others came from."""
        used: set[int] = set()
        for number, _ in self._chosen_sessions():
            rows = self.connection.execute(
                f"""SELECT DISTINCT t.source_id FROM turns t WHERE {self._in_time()} AND t.session_id = ?
                    UNION SELECT source_id FROM sessions WHERE id = ?""",
                (*self._times(), number, number),
            )
            used.update(row[0] for row in rows if row[0] is not None)
        return used

    def _numbered(self, used: set[int]) -> dict[int, int]:
        rows = self.connection.execute("SELECT id FROM sources ORDER BY agent, path")
        return {number: place for place, number in enumerate((row[0] for row in rows if row[0] in used), start=1)}

    # ------------------------------------------------------------ what was said

    def sources(self) -> Iterator[Values]:
        """The sources that anything in the store came from."""
        for row in self.connection.execute(
            "SELECT id, agent, path, shape, preference FROM sources ORDER BY agent, path"
        ):
            if row[0] in self._numbers:
                yield {
                    "number": self._numbers[row[0]],
                    "agent": row[1],
                    "path": row[2],
                    "shape": row[3],
                    "order": row[4],
                }

    def sessions(self) -> Iterator[tuple[int, Values]]:
        """(row number, values) of the sessions in the part: with a turn in its time, if it has one. None that passes."""
        return ((number, self._session(row)) for number, row in self._chosen_sessions())

    def _chosen_sessions(self) -> Iterator[tuple[int, sqlite3.Row]]:
        rows = self.connection.execute(f"SELECT * FROM sessions s WHERE {SEARCHED} ORDER BY agent, native").fetchall()
        for row in rows:
            if self.part.sessions is not None and row["id"] not in self.part.sessions:
                continue
            if self.part.since is not None and not self._count_turns(row["id"]):
                continue
            yield row["id"], row

    def _session(self, row: sqlite3.Row) -> Values:
        names = ("parent", "parent_kind", "cwd", "project", "remote", "branch", "title", "version", "started", "last")
        values = {name: row[name] for name in names}
        return {
            "session": f"{row['agent']}:{row['native']}", **values, "branched": bool(row["branched"]),
            "kept": bool(row["kept"]), "endings": row["endings"] or None,
            "forgotten": bool(row["forgotten"]), "source": self._numbers.get(row["source_id"]),
        }  # fmt: skip

    def turns(self, session_id: int, name: str) -> Iterator[Values]:
        """The turns of a session, in order. A copy whose original is not in the part is told with the original's words."""
        rows = self.connection.execute(
            f"""SELECT t.*, c.source AS door, c.author, c.partial FROM turns t LEFT JOIN captured c ON c.turn_id = t.id
                WHERE {self._in_time()} AND t.session_id = ? ORDER BY t.ordinal""",
            (*self._times(), session_id),
        ).fetchall()
        keys = {row["ordinal"]: bytes(row["key"]) for row in rows}
        for row in rows:
            yield self._turn(row, name, keys)

    def _turn(self, row: sqlite3.Row, name: str, keys: Mapping[int, bytes]) -> Values:
        status, text, redactions = _ROW_STATUS[row["status"]], row["text"], row["redactions"]
        if status == "copy" and not self.part.is_all:
            original = self._original(row["key"])
            if original is not None:
                status, text, redactions = "live", original[0], original[1]
        key, parent = bytes(row["key"]), keys.get(row["branch_from"])
        captured = {"source": row["door"], "author": row["author"], "partial": bool(row["partial"])}
        return {
            "id": event_id(key), "session": name, "key": key.hex(), "role": row["role"], "time": row["time"],
            "text": text, "status": status, "text_hash": bytes(row["text_hash"]).hex() if status == "copy" else None,
            "open": bool(row["open"]), "abandoned": row["abandoned"] or None, "answers": event_id(parent) if parent else None,
            "source": self._numbers.get(row["source_id"]), "start": row["start"], "end": row["end"],
            "record_ids": json.loads(row["record_ids"]), "trail": bytes(row["trail"]).hex(), "redactions": redactions,
            "captured": captured if row["door"] is not None else None,
        }  # fmt: skip

    def _original(self, key: bytes) -> tuple[str, str] | None:
        """Words of a copy's original, if that is not in the part."""
        row = self.connection.execute(
            f"""SELECT t.text, t.redactions, t.session_id, ({self._in_time()}) FROM turns t
                WHERE t.key = ? AND t.status = 0""",
            (*self._times(), key),
        ).fetchone()
        if row is None or (row[3] and (self.part.sessions is None or row[2] in self.part.sessions)):
            return None
        return row[0], row[1]

    def _in_time(self) -> str:
        since = "coalesce(t.time, (SELECT s.last FROM sessions s WHERE s.id = t.session_id)) >= ?"
        return since if self.part.since is not None else "1"

    def _times(self) -> tuple[Millis, ...]:
        return (self.part.since,) if self.part.since is not None else ()

    def _count_turns(self, session_id: int) -> int:
        row = self.connection.execute(
            f"SELECT count(*) FROM turns t WHERE {self._in_time()} AND t.session_id = ?", (*self._times(), session_id)
        ).fetchone()
        return int(row[0])

    # ------------------------------------------------------------ what was made of it

    def notes(self) -> Iterator[Values]:
        """The notes of every status."""
        if self.part.notes:
            where, values = ("changed >= ?", (self.part.since,)) if self.part.since is not None else ("1", ())
            rows = self.connection.execute(f"SELECT {_NOTE} FROM notes WHERE {where} ORDER BY created, id", values)
            yield from (_listed(row, "evidence", "tags", "metadata") for row in rows)

    def candidates(self) -> Iterator[Values]:
        """The candidates of every status."""
        if self.part.notes:
            where = "max(created, coalesce(decided, 0)) >= ?" if self.part.since is not None else "1"
            rows = self.connection.execute(
                f"SELECT {_CANDIDATE} FROM candidates WHERE {where} ORDER BY created, id", self._times()
            )
            yield from (_listed(row, "evidence") for row in rows)

    def journal(self) -> Iterator[Values]:
        """The journal from its beginning, if all is wanted, up to the last act that changed something of it."""
        if not self.part.is_all:
            return
        marks = ", ".join("?" * len(ACTS_OF_MOVING))
        rows = self.connection.execute(
            f"""SELECT {_JOURNAL} FROM journal
                WHERE id <= (SELECT max(id) FROM journal WHERE action NOT IN ({marks})) ORDER BY id""",
            ACTS_OF_MOVING,
        )
        for row in rows:
            hashes = {name: bytes(row[name]).hex() if row[name] else None for name in ("before", "after", "chain")}
            yield {**dict(row), **hashes, "detail": json.loads(row["detail"])}

    # ------------------------------------------------------------ the head

    def generation(self) -> str:
        """The store's own name."""
        return str(self.connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])

    def counts(self) -> dict[str, int]:
        """Type of record -> how many there will be."""
        sessions = [number for number, _ in self.sessions()]
        return {
            "source": sum(1 for _ in self.sources()),
            "session": len(sessions),
            "turn": sum(map(self._count_turns, sessions)),
            "note": sum(1 for _ in self.notes()),
            "candidate": sum(1 for _ in self.candidates()),
            "journal": sum(1 for _ in self.journal()),
        }


def _listed(row: sqlite3.Row, *lists: str) -> Values:
    return {**dict(row), **{name: json.loads(row[name]) for name in lists}}
