"""Writing turns, sessions and chunks. Every method is one statement or two; the caller holds the transaction.

What is promised, not how SQLite does it: this is the contract another engine would have to keep.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields

from agent_raw_rag.models import Chunk, CleanTurn, Millis, Role
from agent_raw_rag.store.rows import (
    ROLE_BITS,
    SessionRow,
    Status,
    TurnRow,
    key_hash,
    text_hash,
    trail_hash,
)
from agent_raw_rag.store.vectors import forget_vectors

MARKED = -1
"""The ``end`` of a turn that its source is expected to hold, while the source is read again."""
_SESSION_COLUMNS = [field.name for field in fields(SessionRow)]
_TURN_COLUMNS = ", ".join(f"t.{field.name}" for field in fields(TurnRow))


class Writer:
    """The writing side of one open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    # ------------------------------------------------------------ sessions

    def session(self, agent: str, native: str) -> SessionRow:
        """The session of this name; made where it is new."""
        self.connection.execute("INSERT OR IGNORE INTO sessions (agent, native) VALUES (?, ?)", (agent, native))
        row = self.connection.execute(
            f"SELECT {', '.join(_SESSION_COLUMNS)} FROM sessions WHERE agent = ? AND native = ?", (agent, native)
        ).fetchone()
        return _session_row(row)

    def session_by_id(self, session_id: int) -> SessionRow:
        """A session by its row number."""
        row = self.connection.execute(
            f"SELECT {', '.join(_SESSION_COLUMNS)} FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        return _session_row(row)

    def save_session(self, row: SessionRow) -> None:
        """Write a session's facts and counters back."""
        columns = [name for name in _SESSION_COLUMNS if name not in ("id", "agent", "native")]
        self.connection.execute(
            f"UPDATE sessions SET {', '.join(f'{name} = :{name}' for name in columns)} WHERE id = :id", asdict(row)
        )

    def preference_of(self, source_id: int) -> str:
        """A source's ``order``: of two that tell the same session, the lower one is the better copy."""
        row = self.connection.execute("SELECT preference FROM sources WHERE id = ?", (source_id,)).fetchone()
        return str(row[0]) if row else ""

    # ------------------------------------------------------------ turns

    def holders(self, agent: str, key: str) -> list[TurnRow]:
        """Every stored turn of this key, in any session of the agent."""
        return self.holders_of(key_hash(agent, key))

    def holders_of(self, key: bytes) -> list[TurnRow]:
        """Every stored turn of this key hash."""
        rows = self.connection.execute(f"SELECT {_TURN_COLUMNS} FROM turns t WHERE key = ? ORDER BY id", (key,))
        return [_turn_row(row) for row in rows]

    def turn_at(self, session_id: int, ordinal: int) -> TurnRow | None:
        """The turn of this number, of any status."""
        row = self.connection.execute(
            f"SELECT {_TURN_COLUMNS} FROM turns t WHERE session_id = ? AND ordinal = ?", (session_id, ordinal)
        ).fetchone()
        return _turn_row(row) if row else None

    def turns_of(self, session_id: int) -> list[TurnRow]:
        """All turns of a session, in order."""
        rows = self.connection.execute(
            f"SELECT {_TURN_COLUMNS} FROM turns t WHERE session_id = ? ORDER BY ordinal", (session_id,)
        )
        return [_turn_row(row) for row in rows]

    def insert_turn(self, session: SessionRow, turn: CleanTurn, source_id: int | None, status: Status) -> TurnRow:
        """Append a turn to its session. ``session``'s counters are moved on; save it at the end of the batch."""
        session.turns += 1
        session.exchange += turn.role in (Role.USER, Role.TASK)
        live = status is Status.LIVE
        row = TurnRow(
            id=0, session_id=session.id, ordinal=session.turns, exchange=session.exchange, role=turn.role,
            time=turn.time, text_hash=text_hash(turn.text), key=key_hash(session.agent, turn.key), status=status,
            open=not turn.settled, abandoned=0, branch_from=None, start_token=session.tokens if live else 0,
            tokens=0, source_id=source_id, start=turn.start, end=turn.end,
        )  # fmt: skip
        cursor = self.connection.execute(
            """INSERT INTO turns (session_id, ordinal, exchange, role, time, text, text_hash, key, status, open,
                 start_token, source_id, start, end, record_ids, trail, redactions)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                row.session_id, row.ordinal, row.exchange, row.role.value, row.time, turn.text if live else "",
                row.text_hash, row.key, status, row.open, row.start_token, source_id, row.start, row.end,
                json.dumps(turn.record_ids), _trail(turn), " ".join(turn.redactions) if live else "",
            ),
        )  # fmt: skip
        row.id = cursor.lastrowid or 0
        return row

    def update_turn(self, row: TurnRow, turn: CleanTurn, source_id: int | None) -> None:
        """Replace what a turn says and where it stands. Its number, status and token range stay."""
        live = row.status is Status.LIVE
        with self._rewriting(needed=not row.open):
            self._update_turn(row, turn, source_id, live=live)

    def _update_turn(self, row: TurnRow, turn: CleanTurn, source_id: int | None, *, live: bool) -> None:
        self.connection.execute(
            """UPDATE turns SET role = ?, text = ?, text_hash = ?, open = ?, time = ?, source_id = ?, start = ?, end = ?,
                 record_ids = ?, trail = ?, redactions = ? WHERE id = ?""",
            (
                turn.role.value, turn.text if live else "", text_hash(turn.text), not turn.settled, turn.time, source_id,
                turn.start, turn.end, json.dumps(turn.record_ids), _trail(turn), " ".join(turn.redactions) if live else "",
                row.id,
            ),
        )  # fmt: skip

    def move_turn(self, turn_id: int, source_id: int | None, start: int, end: int) -> None:
        """Say that a turn now stands elsewhere (its file was rewritten or renamed)."""
        self.connection.execute(
            "UPDATE turns SET source_id = ?, start = ?, end = ? WHERE id = ?", (source_id, start, end, turn_id)
        )

    def set_status(self, turn_id: int, status: Status) -> None:
        """Make a turn a copy or a tombstone: its text goes."""
        with self._rewriting(needed=status is Status.COPY):
            self.connection.execute(
                "UPDATE turns SET status = ?, text = '', start_token = 0, tokens = 0, redactions = '' WHERE id = ?",
                (status, turn_id),
            )

    def cut_by(self, session_id: int, size: int, step: int) -> bool:
        """Whether a session's chunks may have been cut with these windows. A session of one chunk never says so."""
        rows = self.connection.execute(
            "SELECT start_token, end_token FROM chunks WHERE session_id = ? AND place < 2 ORDER BY place", (session_id,)
        ).fetchall()
        return len(rows) == 2 and tuple(rows[0]) == (0, size) and rows[1][0] == step

    def renumber(self, turn_id: int, ordinal: int, exchange: int) -> None:
        """Give a turn another place in its session."""
        self.connection.execute("UPDATE turns SET ordinal = ?, exchange = ? WHERE id = ?", (ordinal, exchange, turn_id))

    def set_branch(self, turn_id: int, branch_from: int | None) -> None:
        """Say which turn this one answers, where it is not the one before it."""
        self.connection.execute("UPDATE turns SET branch_from = ? WHERE id = ?", (branch_from, turn_id))

    def set_abandoned(self, session_id: int, ordinals: Iterable[int], mark: int) -> None:
        """Mark turns as an abandoned branch (``mark`` > 0) or as part of the conversation again (0)."""
        self.connection.executemany(
            "UPDATE turns SET abandoned = ? WHERE session_id = ? AND ordinal = ? AND abandoned <> ?",
            [(mark, session_id, ordinal, mark) for ordinal in ordinals],
        )

    def find_record(self, session_id: int, record_id: str) -> int | None:
        """Number of the session's turn in whose stretch of the log this record stands."""
        row = self.connection.execute(
            "SELECT ordinal FROM turns WHERE session_id = ? AND instr(trail, ?) > 0 ORDER BY ordinal DESC LIMIT 1",
            (session_id, trail_hash(record_id)),
        ).fetchone()
        return row[0] if row else None

    def mark_for_rereading(self, source_id: int) -> list[int]:
        """Mark the turns whose place in a source is known, tombstones apart, so that they are told from those that are met
        again. They stay as they are until then. Returns the sessions touched."""
        condition = "source_id = ? AND start IS NOT NULL AND status <> 2"
        rows = self.connection.execute(f"SELECT DISTINCT session_id FROM turns WHERE {condition}", (source_id,))
        sessions = [row[0] for row in rows]
        self.connection.execute(f"UPDATE turns SET start = NULL, end = {MARKED} WHERE {condition}", (source_id,))
        return sessions

    def end_rereading(self, source_id: int, *, delete: bool) -> list[int]:
        """Delete the turns that were not met again, or take their mark away: the source has lost them. Returns the sessions
        that the source tells."""
        rows = self.connection.execute("SELECT DISTINCT session_id FROM turns WHERE source_id = ?", (source_id,))
        sessions = [row[0] for row in rows]
        condition = f"source_id = ? AND start IS NULL AND end = {MARKED}"
        if delete:
            with self._rewriting():
                self.connection.execute(f"DELETE FROM turns WHERE {condition} AND status <> 2", (source_id,))
        else:
            self.connection.execute(f"UPDATE turns SET end = NULL WHERE {condition}", (source_id,))
        return sessions

    @contextmanager
    def _rewriting(self, *, needed: bool = True) -> Iterator[None]:
        """Have the database take our word for what a settled turn says, or that it is a copy, for the statements inside: see
        ``APPEND_ONLY``."""
        if needed:
            self.connection.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('rewriting', '1')")
        yield
        if needed:
            self.connection.execute("DELETE FROM meta WHERE key = 'rewriting'")

    # ------------------------------------------------------------ the token stream and its chunks

    def stream_from(self, session_id: int, token: int, ordinal: int) -> list[tuple[TurnRow, str]]:
        """Live turns with their text, in order: all from ``ordinal`` on, and those before it that reach past ``token``."""
        select = f"SELECT {_TURN_COLUMNS}, t.text FROM turns t WHERE session_id = ? AND status = 0 AND ordinal "
        before = []
        for row in self.connection.execute(f"{select} < ? ORDER BY ordinal DESC", (session_id, ordinal)):
            turn = _turn_row(row)
            if turn.start_token + turn.tokens <= token:
                break
            before.append((turn, row["text"]))
        rows = self.connection.execute(f"{select} >= ? ORDER BY ordinal", (session_id, ordinal))
        return [*reversed(before), *((_turn_row(row), row["text"]) for row in rows)]

    def token_before(self, session_id: int, ordinal: int) -> int:
        """Where in the stream the turn of this number begins."""
        row = self.connection.execute(
            """SELECT start_token + tokens FROM turns WHERE session_id = ? AND ordinal < ? AND status = 0
               ORDER BY ordinal DESC LIMIT 1""",
            (session_id, ordinal),
        ).fetchone()
        return row[0] if row else 0

    def set_tokens(self, places: Sequence[tuple[int, int, int]]) -> None:
        """(start token, count, turn id) of turns whose place in the stream changed."""
        self.connection.executemany("UPDATE turns SET start_token = ?, tokens = ? WHERE id = ?", places)

    def replace_chunks(self, session_id: int, first: int, chunks: Sequence[Chunk], turns: Sequence[TurnRow]) -> int:
        """Make the session's chunks from place ``first`` on these. Rows that say the same stay, and texts that no chunk says any
        more lose their vectors. Returns the rows written."""
        rows = self.connection.execute(
            "SELECT id, place, hash, first_turn, last_turn, stable, started, ended, roles FROM chunks "
            "WHERE session_id = ? AND place >= ?",
            (session_id, first),
        ).fetchall()
        stored = {row["place"]: row for row in rows}
        by_ordinal = {turn.ordinal: turn for turn in turns}
        written = 0
        for chunk in chunks:
            facts = _chunk_facts(chunk, by_ordinal)
            old = stored.pop(chunk.index, None)
            if old is not None and tuple(old[2:5]) + tuple(old[6:9]) == facts:
                if old["stable"] != chunk.stable:
                    self.connection.execute("UPDATE chunks SET stable = ? WHERE id = ?", (chunk.stable, old["id"]))
                continue
            if old is not None:
                self._drop_chunk(old["id"])
            self._insert_chunk(session_id, chunk, facts)
            written += 1
        for old in stored.values():
            self._drop_chunk(old["id"])
        forget_vectors(self.connection, [row["hash"] for row in rows])
        return written

    def _insert_chunk(self, session_id: int, chunk: Chunk, facts: tuple[object, ...]) -> None:
        self.connection.execute(
            """INSERT INTO chunks (session_id, place, text, start_token, end_token, stable, hash, first_turn, last_turn,
                 started, ended, roles) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (session_id, chunk.index, chunk.text, chunk.start_token, chunk.end_token, chunk.stable, *facts),
        )

    def _drop_chunk(self, chunk_id: int) -> None:
        self.connection.execute("DELETE FROM chunks WHERE id = ?", (chunk_id,))
        self.connection.execute("INSERT INTO dropped_chunks (chunk_id) VALUES (?)", (chunk_id,))


def _chunk_facts(chunk: Chunk, turns: dict[int, TurnRow]) -> tuple[object, ...]:
    """(hash, first turn, last turn, start time, end time, roles)"""
    touched = [turns[n] for n in range(chunk.first_turn, chunk.last_turn + 1) if n in turns]
    times: list[Millis] = [turn.time for turn in touched if turn.time is not None]
    roles = 0
    for turn in touched:
        roles |= ROLE_BITS[turn.role]
    return (
        text_hash(chunk.text), chunk.first_turn, chunk.last_turn,
        min(times, default=None), max(times, default=None), roles,
    )  # fmt: skip


def _trail(turn: CleanTurn) -> bytes:
    return b"".join(trail_hash(record_id) for record_id in turn.trail)


def _session_row(row: sqlite3.Row) -> SessionRow:
    session = SessionRow(*row)
    session.branched, session.forgotten = bool(session.branched), bool(session.forgotten)
    session.kept, session.passing = bool(session.kept), bool(session.passing)
    return session


def _turn_row(row: sqlite3.Row) -> TurnRow:
    turn = TurnRow(*tuple(row)[:17])
    turn.role, turn.status, turn.open = Role(turn.role), Status(turn.status), bool(turn.open)
    return turn
