"""Rows that arrive from another store with their ids, and are added to what is there. The caller holds the transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from agent_raw_rag.models import CleanText, Millis, Role
from agent_raw_rag.store.journal import GENESIS, JournalRow, chained, content_of
from agent_raw_rag.store.rows import SessionRow, Status, TurnRow, text_hash

Values = Mapping[str, Any]


class Arrivals:
    """Adds rows of another store to one open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def is_empty(self) -> bool:
        """Whether nothing was ever said to or done in this store."""
        tables = ("sources", "sessions", "notes", "candidates", "journal")
        return not any(self.connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in tables)

    def take_name(self, generation: str) -> None:
        """Give an empty store another one's name, so that what is keyed by it stays known. Derived files are then of no store."""
        self.connection.execute("UPDATE meta SET value = ? WHERE key = 'generation'", (generation,))

    # ------------------------------------------------------------ what was said

    def source(self, values: Values) -> int:
        """The row number of a source; made where its path is new. Nothing was read of it here."""
        self.connection.execute(
            "INSERT INTO sources (agent, path, shape, preference) VALUES (?, ?, ?, ?) ON CONFLICT (path) DO NOTHING",
            (values["agent"], values["path"], values["shape"], values.get("order", "")),
        )
        row = self.connection.execute("SELECT id FROM sources WHERE path = ?", (values["path"],)).fetchone()
        return int(row[0])

    def knows_session(self, agent: str, native: str) -> bool:
        """Whether there is a session of this name."""
        row = self.connection.execute("SELECT 1 FROM sessions WHERE agent = ? AND native = ?", (agent, native))
        return row.fetchone() is not None

    def add_turn(
        self,
        session: SessionRow,
        values: Values,
        status: Status,
        text: CleanText,
        redactions: str,
        source_id: int | None,
    ) -> TurnRow:
        """Append a turn to its session; ``session``'s counters are moved on. ``values``: as in an export."""
        session.turns += 1
        live = status is Status.LIVE
        hashed = (
            bytes.fromhex(values.get("text_hash", "")) if status is Status.COPY else text_hash(text) if live else b""
        )
        row = TurnRow(
            id=0, session_id=session.id, ordinal=session.turns, exchange=session.exchange, role=Role(values["role"]),
            time=values.get("time"), text_hash=hashed, key=bytes.fromhex(values["key"]), status=status,
            open=bool(values.get("open")), abandoned=values.get("abandoned", 0), branch_from=None,
            start_token=0, tokens=0, source_id=source_id, start=values.get("start"), end=values.get("end"),
        )  # fmt: skip
        forgotten = status is Status.FORGOTTEN
        cursor = self.connection.execute(
            """INSERT INTO turns (session_id, ordinal, exchange, role, time, text, text_hash, key, status, open, abandoned,
                 source_id, start, end, record_ids, trail, redactions)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                row.session_id, row.ordinal, row.exchange, row.role.value, row.time, text if live else "", row.text_hash,
                row.key, status, row.open, row.abandoned, source_id, row.start, row.end,
                "[]" if forgotten else json.dumps(values.get("record_ids", [])), bytes.fromhex(values.get("trail", "")),
                redactions if live else "",
            ),
        )  # fmt: skip
        row.id = cursor.lastrowid or 0
        captured = values.get("captured")
        if captured:
            self.connection.execute(
                "INSERT INTO captured (turn_id, source, author, partial) VALUES (?, ?, ?, ?)",
                (row.id, captured["source"], captured.get("author"), bool(captured.get("partial"))),
            )
        return row

    def settle_turn(self, row: TurnRow, values: Values, text: CleanText, redactions: str) -> None:
        """Let an open turn say what the other store heard to its end."""
        self.connection.execute(
            "UPDATE turns SET text = ?, text_hash = ?, open = 0, record_ids = ?, trail = ?, redactions = ? WHERE id = ?",
            (
                text, text_hash(text), json.dumps(values.get("record_ids", [])), bytes.fromhex(values.get("trail", "")),
                redactions, row.id,
            ),
        )  # fmt: skip

    # ------------------------------------------------------------ the journal

    def journal(self, row: JournalRow) -> bool | None:
        """Take a row of another journal as it is, behind the same rows. True: taken; False: it is here already; None: this
        journal has gone its own way.

        Raises:
            ValueError: its chain does not lead here: it was changed.
        """
        mine = self.connection.execute("SELECT chain FROM journal WHERE id = ?", (row.id,)).fetchone()
        if mine is not None:
            return False if bytes(mine[0]) == row.chain else None
        last = self.connection.execute("SELECT id, chain FROM journal ORDER BY id DESC LIMIT 1").fetchone()
        number, chain = (last[0], bytes(last[1])) if last else (0, GENESIS)
        if row.id != number + 1:
            return None
        content = content_of(row)
        if chained(content, chain) != row.chain:
            raise ValueError(f"row {row.id} of the journal was changed")
        self.connection.execute(
            """INSERT INTO journal (id, time, action, actor, token, transport, source, target, before, after, detail, chain)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (*content, row.chain),
        )
        return True

    # ------------------------------------------------------------ notes and candidates

    def end_note(self, values: Values, reason: CleanText | None) -> None:
        """Let an active note be what the other store made of it since: superseded or deprecated."""
        self.connection.execute(
            "UPDATE notes SET status = ?, superseded_by = ?, changed = ?, reason = ? WHERE id = ?",
            (values["status"], values.get("superseded_by"), values["changed"], reason, values["id"]),
        )

    def candidate_status(self, candidate: str) -> tuple[str, Millis | None] | None:
        """(status, when it was decided) of a candidate; None: there is none."""
        row = self.connection.execute("SELECT status, decided FROM candidates WHERE id = ?", (candidate,)).fetchone()
        return (row[0], row[1]) if row else None

    def add_candidate(self, values: Values, statement: CleanText, hashed: bytes, quote: CleanText) -> None:
        """Store a candidate of another store."""
        names = ("id", "kind", "source", "importance", "confidence", "rule", "proposer", "status", "reason", "note",
                 "created", "decided")  # fmt: skip
        marks = ", ".join("?" * (len(names) + 4))
        self.connection.execute(
            f"""INSERT INTO candidates ({", ".join(names)}, statement, statement_hash, quote, evidence) VALUES ({marks})""",
            (*(values.get(name) for name in names), statement, hashed, quote, json.dumps(values.get("evidence", []))),
        )

    def decide_candidate(self, values: Values) -> None:
        """Let an undecided candidate be what the other store decided."""
        self.connection.execute(
            "UPDATE candidates SET status = ?, reason = ?, note = ?, decided = ? WHERE id = ?",
            (values["status"], values.get("reason"), values.get("note"), values.get("decided"), values["id"]),
        )
