"""The journal: every write, decision, denial and act of administration, in order, each chained to the one before by a hash.

No secret and no whole text stands in it: what changed is named by its id and by hashes of before and after.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
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

    def link(self, before: bytes) -> bytes:
        """Its chain, if the row before it has this one."""
        content = (
            self.id, self.time, self.action, self.actor, self.token, self.transport, self.source, self.target, self.before,
            self.after, _told(self.detail),
        )  # fmt: skip
        return chained(content, before)

    def as_json(self) -> dict[str, Any]:
        """JSON values only; hashes in hex."""
        return {
            "id": self.id, "time": self.time, "action": self.action, "actor": self.actor, "token": self.token,
            "transport": self.transport, "source": self.source, "target": self.target,
            "before": _hex(self.before), "after": _hex(self.after),
            "detail": self.detail, "chain": _hex(self.chain),
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
        chain = bytes(last[1]) if last else GENESIS
        # A number is never given twice, so that rows which were cut off at the end leave a gap.
        content = (
            max(last[0] if last else 0, self.given()) + 1, time, action, actor.name, actor.token, actor.transport, source,
            target, before, after, _told(detail or {}),
        )  # fmt: skip
        self.connection.execute(
            f"INSERT INTO journal ({', '.join(_CONTENT)}, chain) VALUES ({', '.join('?' * len(_CONTENT))}, ?)",
            (*content, chained(content, chain)),
        )

    def given(self) -> int:
        """The highest number that was ever given to a row."""
        row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
        return int(row[0]) if row else 0

    def rows(self, *, limit: int = -1, since: Millis | None = None, after_id: int = 0) -> Iterator[JournalRow]:
        """Acts in their order; with a limit the last so many."""
        rows = self.connection.execute(
            f"""SELECT * FROM (SELECT {", ".join(_CONTENT)}, chain FROM journal WHERE id > ? AND time >= ?
                ORDER BY id DESC LIMIT ?) ORDER BY id""",
            (after_id, since if since is not None else -(1 << 62), limit),
        )
        return (_row(row) for row in rows)

    def page(
        self, limit: int, *, since: Millis | None = None, action: str | None = None, before_id: int | None = None
    ) -> list[JournalRow]:
        """Acts from the last one backwards; ``before_id``: those before this number."""
        rows = self.connection.execute(
            f"""SELECT {", ".join(_CONTENT)}, chain FROM journal WHERE id < ? AND time >= ? AND (? IS NULL OR action = ?)
                ORDER BY id DESC LIMIT ?""",
            (
                1 << 62 if before_id is None else before_id,
                since if since is not None else -(1 << 62),
                action,
                action,
                limit,
            ),
        )
        return [_row(row) for row in rows]

    def count(self) -> int:
        """How many rows there are."""
        return int(self.connection.execute("SELECT count(*) FROM journal").fetchone()[0])

    def broken(self) -> int | None:
        """Number of the first row that was changed, that follows one which was removed, or that is missing at the end; None:
        all is as it was written. Reads whatever stands there, sound or not."""
        chain, number, given = GENESIS, 0, self.given()  # asked first: rows may come while these are read
        for row in self.connection.execute(f"SELECT {', '.join(_CONTENT)}, chain FROM journal ORDER BY id"):
            *content, link = row
            if content[0] != number + 1 or link != (chain := chained(content, chain)):
                return int(content[0])
            number += 1
        return number + 1 if given > number else None


_CONTENT = (
    "id", "time", "action", "actor", "token", "transport", "source", "target", "before", "after", "detail",
)  # fmt: skip
"""The columns that the chain covers, in the order it covers them in."""


def chained(content: Sequence[object], before: bytes) -> bytes:
    """The chain's next link (BLAKE2b, 128 bits) over the link before and everything in a row, as it stands in the store."""
    plain = [{"hex": one.hex()} if isinstance(one, bytes) else one for one in content]
    said = json.dumps(plain, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return hashlib.blake2b(before + said, digest_size=16).digest()


def _hex(value: object) -> str | None:
    return value.hex() if isinstance(value, bytes) else value if value is None else str(value)


def _told(detail: Mapping[str, Any]) -> str:
    return json.dumps(detail, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def _row(row: sqlite3.Row) -> JournalRow:
    values = dict(row)
    try:
        values["detail"] = json.loads(row["detail"])
    except (TypeError, ValueError):  # somebody edited it; ``broken`` tells
        values["detail"] = {"unreadable": str(row["detail"])[:200]}
    return JournalRow(**values)
