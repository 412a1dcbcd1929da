"""The journal: every write, decision, denial and act of administration, in order, each chained to the one before by a hash.

No secret and no whole text stands in it: what changed is named by its id and by hashes of before and after.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_raw_rag.models import Actor, Millis

GENESIS = bytes(16)
"""What the first row is chained to."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One act."""

    id: int
    time: Millis
    action: str
    actor: str
    token: str | None
    transport: str
    source: str | None
    target: str | None
    before: bytes | None
    after: bytes | None
    detail: dict[str, Any] = field(default_factory=dict)
    chain: bytes = GENESIS

    def as_json(self) -> dict[str, Any]:
        """JSON values only; hashes in hex."""
        return {
            "id": self.id, "time": self.time, "action": self.action, "actor": self.actor, "token": self.token,
            "transport": self.transport, "source": self.source, "target": self.target,
            "before": self.before.hex() if self.before else None, "after": self.after.hex() if self.after else None,
            "detail": self.detail,
        }  # fmt: skip


class Journal:
    """The journal of one open store. ``add`` is part of the caller's transaction: an act and its row are stored together."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def add(
        self, actor: Actor, action: str, *, time: Millis, target: str | None = None, source: str | None = None,
        before: bytes | None = None, after: bytes | None = None, detail: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Write down an act. ``before`` and ``after``: hashes of what was changed (``rows.text_hash``)."""
        last = self.connection.execute("SELECT id, chain FROM journal ORDER BY id DESC LIMIT 1").fetchone()
        number, chain = (last[0] + 1, bytes(last[1])) if last else (1, GENESIS)
        row = JournalRow(
            number, time, action, actor.name, actor.token, actor.transport, source, target, before, after,
            dict(detail or {}),
        )  # fmt: skip
        self.connection.execute(
            """INSERT INTO journal (id, time, action, actor, token, transport, source, target, before, after, detail, chain)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                row.id, row.time, row.action, row.actor, row.token, row.transport, row.source, row.target, row.before,
                row.after, _detail(row), chained(row, chain),
            ),
        )  # fmt: skip

    def rows(self, *, limit: int = -1, since: Millis | None = None, after_id: int = 0) -> Iterator[JournalRow]:
        """Acts in their order; with a limit the last so many."""
        rows = self.connection.execute(
            """SELECT * FROM (SELECT id, time, action, actor, token, transport, source, target, before, after, detail, chain
               FROM journal WHERE id > ? AND time >= ? ORDER BY id DESC LIMIT ?) ORDER BY id""",
            (after_id, since if since is not None else -(1 << 62), limit),
        )
        return (_row(row) for row in rows)

    def broken(self) -> int | None:
        """Number of the first row that was changed, or that follows one that was removed; None: all is as it was."""
        chain = GENESIS
        for expected, row in enumerate(self.rows(), start=1):
            chain = chained(row, chain)
            if row.id != expected or row.chain != chain:
                return row.id
        return None


def chained(row: JournalRow, before: bytes) -> bytes:
    """The chain's next link (BLAKE2b, 128 bits) over the link before and everything in a row."""
    content = [
        row.id, row.time, row.action, row.actor, row.token, row.transport, row.source, row.target,
        row.before.hex() if row.before else None, row.after.hex() if row.after else None, _detail(row),
    ]  # fmt: skip
    said = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return hashlib.blake2b(before + said, digest_size=16).digest()


def _detail(row: JournalRow) -> str:
    return json.dumps(row.detail, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _row(row: sqlite3.Row) -> JournalRow:
    return JournalRow(**{**dict(row), "detail": json.loads(row["detail"]), "chain": bytes(row["chain"])})
