"""Vectors as truth: one row per (space, text), half precision. A text that comes again is never embedded twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_raw_rag.models import Millis


@dataclass(frozen=True, slots=True)
class Missing:
    """A chunk whose text has no vector in a space."""

    chunk_id: int
    hash: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A chunk with its vector (raw bytes, float16) and what filters need."""

    chunk_id: int
    session_id: int
    started: Millis | None
    ended: Millis | None
    roles: int
    vector: bytes


class Vectors:
    """The vectors of one space in one open store."""

    def __init__(self, connection: sqlite3.Connection, space: str) -> None:
        self.connection = connection
        self.space = space

    def backlog(self, after: int, limit: int) -> list[Missing]:
        """Chunks from number ``after`` on (exclusive) that lack a vector, in order. Committed work never comes again."""
        rows = self.connection.execute(
            """SELECT c.id, c.hash, c.text FROM chunks c
               WHERE c.id > ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space = ? AND v.hash = c.hash)
               ORDER BY c.id LIMIT ?""",
            (after, self.space, limit),
        )
        return [Missing(*row) for row in rows]

    def count(self) -> tuple[int, int]:
        """(chunks with a vector, chunks without)."""
        total = self.connection.execute("SELECT count(*) FROM chunks").fetchone()[0]
        ready = self.connection.execute(
            "SELECT count(*) FROM chunks c JOIN vectors v ON v.space = ? AND v.hash = c.hash", (self.space,)
        ).fetchone()[0]
        return ready, total - ready

    def missing(self, after: int) -> int:
        """How many chunks from number ``after`` on (exclusive) have no vector."""
        found = self.connection.execute(
            """SELECT count(*) FROM chunks c WHERE c.id > ?
               AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space = ? AND v.hash = c.hash)""",
            (after, self.space),
        )
        return int(found.fetchone()[0])

    def first_missing(self, after: int = 0) -> int | None:
        """Number of the first chunk without a vector, from ``after`` on (exclusive). Looks at every chunk on the way."""
        missing = self.backlog(after, 1)
        return missing[0].chunk_id if missing else None

    def put(self, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        """Store (text hash, float16 bytes), of texts that some chunk still holds. The caller holds the transaction.

        A text may be forgotten while it is being encoded: its vector must not come after it.
        """
        self.connection.executemany(
            """INSERT OR IGNORE INTO vectors (space, hash, vector)
               SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM chunks WHERE hash = ?)""",
            [(self.space, key, vector, key) for key, vector in vectors],
        )

    def placed(self, after: int, before: int | None) -> Iterator[Placed]:
        """Chunks with vectors whose number lies between the two (exclusive), in order."""
        # CROSS JOIN: chunks come first. SQLite would pass over all vectors and sort them for a single new chunk.
        rows = self.connection.execute(
            """SELECT c.id, c.session_id, c.started, c.ended, c.roles, v.vector FROM chunks c
               CROSS JOIN vectors v ON v.space = ? AND v.hash = c.hash WHERE c.id > ? AND c.id < ? ORDER BY c.id""",
            (self.space, after, before if before is not None else 1 << 62),
        )
        return (Placed(*row) for row in rows)

    def count_placed(self, after: int, before: int | None) -> int:
        """How many rows ``placed`` gives."""
        found = self.connection.execute(
            """SELECT count(*) FROM chunks c CROSS JOIN vectors v ON v.space = ? AND v.hash = c.hash
               WHERE c.id > ? AND c.id < ?""",
            (self.space, after, before if before is not None else 1 << 62),
        )
        return int(found.fetchone()[0])


def forget_unused(connection: sqlite3.Connection) -> int:
    """Delete the vectors, of all spaces, of texts that no chunk holds any more. The caller holds the transaction."""
    return connection.execute(
        "DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.hash = vectors.hash)"
    ).rowcount


def forget_vectors(connection: sqlite3.Connection, hashes: Iterable[bytes]) -> None:
    """Delete the vectors of these texts, in all spaces, unless some chunk still says them: the last window of a session changes
    with each of its turns, and what it said before is never asked for again. The caller holds the transaction."""
    connection.executemany(
        """DELETE FROM vectors WHERE space IN (SELECT name FROM vector_spaces) AND hash = ?1
           AND NOT EXISTS (SELECT 1 FROM chunks WHERE hash = ?1)""",
        [(key,) for key in hashes],
    )
