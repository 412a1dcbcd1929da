"""Which turns a sweep has still to look at, and how far it came."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from agent_raw_rag.models import DOORS, Millis
from agent_raw_rag.store.captured import event_id
from agent_raw_rag.store.rows import SEARCHED

_LIVE_DOORS = tuple(door for door in DOORS if door != "import")
"""Doors whose turns were given to this product when they were said. Logs and imports also hold history."""
SPAN = 20_000
"""Row numbers that one slice covers at most."""
_TURN = f"""
SELECT t.id, t.key, t.text, coalesce(c.source, s.agent),
       s.agent IN ({", ".join(repr(door) for door in _LIVE_DOORS)}) OR coalesce(t.time, 0) >= :since
FROM turns t JOIN sessions s ON s.id = t.session_id LEFT JOIN captured c ON c.turn_id = t.id
WHERE {SEARCHED} AND t.role IN ('user', 'event') AND t.status = 0 AND t.open = 0 AND t.abandoned = 0"""


@dataclass(frozen=True, slots=True)
class TurnToSweep:
    """A settled turn of a person, or of a caller that tells what happened."""

    number: int
    """Of its row."""
    event: str
    text: str
    source: str
    is_new: bool
    """It was said since there is this store, or given to it. Else it is history."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some of what is to be swept."""

    turns: list[TurnToSweep]
    upto: int
    """The row number that was come to."""
    waiting: tuple[int, ...] = ()
    """Row numbers out of ``unswept`` that the slice takes in."""


class SweepRows:
    """The sweep's side of one open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def cursor(self) -> int:
        """The row number up to which turns were swept."""
        return self._meta("swept") or 0

    def since(self) -> Millis:
        """What a log told before this instant is history."""
        return self._meta("swept_since") or 0

    def last(self) -> Millis | None:
        """When the last sweep ended."""
        return self._meta("swept_at")

    def newest(self) -> int:
        """The last row number there is."""
        return int(self.connection.execute("SELECT coalesce(max(id), 0) FROM turns").fetchone()[0])

    def after(self, number: int, upto: int, limit: int) -> Slice:
        """The next turns behind a row number, up to another."""
        end = min(upto, number + SPAN)
        turns = self._turns("AND t.id > :first AND t.id <= :end ORDER BY t.id LIMIT :limit", number, end, limit)
        return Slice(turns, turns[-1].number if len(turns) == limit else end)

    def waiting(self, limit: int) -> Slice:
        """Turns that settled, or came back, behind the cursor."""
        numbers = [
            row[0] for row in self.connection.execute("SELECT turn_id FROM unswept ORDER BY 1 LIMIT ?", (limit,))
        ]
        chosen = ", ".join(map(str, numbers))
        turns = self._turns(f"AND t.id IN ({chosen}) AND t.id <= :end ORDER BY t.id", 0, self.cursor(), limit)
        return Slice(turns, numbers[-1] if numbers else 0, tuple(numbers))

    def pass_to(self, number: int) -> None:
        """Come to a row number."""
        self._set("swept", number)

    def take_in(self, numbers: Iterable[int]) -> None:
        """These waiting turns were swept."""
        self.connection.executemany("DELETE FROM unswept WHERE turn_id = ?", [(number,) for number in numbers])

    def ended(self, time: Millis) -> None:
        """A sweep came to its end."""
        self._set("swept_at", time)

    def _turns(self, where: str, first: int, end: int, limit: int) -> list[TurnToSweep]:
        values = {"since": self.since(), "first": first, "end": end, "limit": limit}
        rows = self.connection.execute(f"{_TURN} {where}", values)
        return [TurnToSweep(number, event_id(key), text, who, bool(new)) for number, key, text, who, new in rows]

    def _meta(self, key: str) -> int | None:
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return int(row[0]) if row else None

    def _set(self, key: str, value: int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, str(value)))
