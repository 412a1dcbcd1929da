"""Candidates as rows: statements that were proposed as notes, the words they rest on, and what was decided.

The caller holds the transaction. Nothing is ever removed but the words of what was forgotten.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields

from agent_raw_rag.models import CleanText, Millis

PENDING, PROMOTED, REJECTED, CONFLICT = "pending", "promoted", "rejected", "conflict"
STATUSES = (PENDING, CONFLICT, PROMOTED, REJECTED)
UNDECIDED = (PENDING, CONFLICT)


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A candidate."""

    id: str
    kind: str
    statement: CleanText
    statement_hash: bytes
    quote: CleanText
    evidence: tuple[str, ...]
    """Ids of the events it rests on."""
    source: str
    proposer: str
    """The sweep, or who proposed it."""
    created: Millis
    importance: str = "medium"
    confidence: float = 0.5
    rule: str | None = None
    """The trigger rule that found it."""
    status: str = PENDING
    reason: str | None = None
    note: str | None = None
    """The note it became or was merged into, or the one it contradicts."""
    decided: Millis | None = None


_COLUMNS = [field.name for field in fields(CandidateRow)]


def candidate_id(generation: str, kind: str, statement_hash: bytes, evidence: Iterable[str]) -> str:
    """The id of a candidate: the same kind, statement and evidence in the same store give the same one."""
    said = json.dumps([generation, kind, statement_hash.hex(), sorted(evidence)], separators=(",", ":"))
    return f"c{hashlib.blake2b(said.encode('ascii', 'backslashreplace'), digest_size=10).hexdigest()}"


class CandidateRows:
    """The candidates of one open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def get(self, candidate: str) -> CandidateRow | None:
        """The candidate of an id."""
        return next(self._rows("id = ?", (candidate,)), None)

    def saying(self, statement_hash: bytes) -> list[CandidateRow]:
        """The candidates that say this, of any kind and status, the newest first."""
        return list(self._rows("statement_hash = ? ORDER BY created DESC, rowid DESC", (statement_hash,)))

    def listed(self, statuses: Sequence[str], limit: int) -> list[CandidateRow]:
        """Candidates of these statuses, the newest first."""
        marks = ", ".join("?" * len(statuses))
        return list(self._rows(f"status IN ({marks}) ORDER BY created DESC, rowid DESC LIMIT ?", (*statuses, limit)))

    def page(self, statuses: Sequence[str], limit: int, after: tuple[Millis, str] | None = None) -> list[CandidateRow]:
        """Candidates of these statuses, the newest first, from behind (created, id) of one on."""
        behind = "(created, id) < (?, ?)" if after else "1"
        where = f"status IN ({', '.join('?' * len(statuses))}) AND {behind} ORDER BY created DESC, id DESC LIMIT ?"
        return list(self._rows(where, (*statuses, *(after or ()), limit)))

    def counts(self) -> dict[str, int]:
        """Status -> how many; every status is there."""
        rows = self.connection.execute("SELECT status, count(*) FROM candidates GROUP BY status").fetchall()
        return {**dict.fromkeys(STATUSES, 0), **dict(rows)}

    def generation(self) -> str:
        """What names this store, and is part of its candidates' ids."""
        return str(self.connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])

    def add(self, row: CandidateRow) -> None:
        """Store a new candidate.

        Raises:
            sqlite3.IntegrityError: there is one of this id.
        """
        values = {**asdict(row), "evidence": json.dumps(row.evidence)}
        places = ", ".join(f":{name}" for name in _COLUMNS)
        self.connection.execute(f"INSERT INTO candidates ({', '.join(_COLUMNS)}) VALUES ({places})", values)

    def add_evidence(self, row: CandidateRow, evidence: Iterable[str]) -> None:
        """Add events that a candidate rests on as well."""
        all_of_it = tuple(dict.fromkeys([*row.evidence, *evidence]))
        self.connection.execute("UPDATE candidates SET evidence = ? WHERE id = ?", (json.dumps(all_of_it), row.id))

    def decide(
        self, candidate: str, status: str, time: Millis | None, *, note: str | None = None, reason: str | None = None
    ) -> None:
        """Say what became of a candidate. ``time`` None: it is still to be decided."""
        self.connection.execute(
            "UPDATE candidates SET status = ?, decided = ?, note = coalesce(?, note), reason = coalesce(?, reason) WHERE id = ?",
            (status, time, note, reason, candidate),
        )

    def _rows(self, where: str, values: Sequence[object]) -> Iterator[CandidateRow]:
        rows = self.connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM candidates WHERE {where}", values)
        return map(_row, rows)


def _row(row: sqlite3.Row) -> CandidateRow:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["evidence"] = tuple(json.loads(values["evidence"]))
    return CandidateRow(**values)


def statements_with(connection: sqlite3.Connection, piece: str) -> Iterator[tuple[str, str, str]]:
    """(id, kind, statement) of the active notes whose statement holds a piece of text; "" is in all of them.
    Compared in lower case of ASCII letters."""
    rows = connection.execute(
        "SELECT id, kind, statement FROM notes WHERE status = 'active' AND instr(lower(statement), ?) > 0 ORDER BY created, id",
        (piece,),
    )
    return (tuple(row) for row in rows)
