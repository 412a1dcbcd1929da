"""Turns as events: found by their one id wherever they came from, and what is known of those that a door took in."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent_raw_rag.errors import NotFoundError
from agent_raw_rag.models import DOORS, Millis, Role
from agent_raw_rag.store.rows import SEARCHED

ID_DIGITS = 20
"""Hexadecimal digits of a turn's key in its event id: 80 bits, so that no two turns of a store share them."""
_is_event_id = re.compile(rf"e[0-9a-f]{{{ID_DIGITS}}}").fullmatch
_SLICE = 500
_MANY = 2000
_COLUMNS = """t.id AS turn_id, t.key, s.id AS session_number, s.agent, s.native, t.ordinal, t.role, t.time, t.text,
              t.tokens, coalesce(c.source, s.agent) AS source, c.author, coalesce(c.partial, 0) AS partial, t.abandoned,
              s.project"""
_JOINS = f"JOIN sessions s ON s.id = t.session_id AND {SEARCHED} LEFT JOIN captured c ON c.turn_id = t.id"
_EVENT = f"{_COLUMNS} FROM turns t {_JOINS}"


def event_id(key: bytes) -> str:
    """The id that a turn has outside the store. ``key``: the turn's."""
    return f"e{key.hex()[:ID_DIGITS]}"


def no_event(event: str) -> NotFoundError:
    """The error of an id that no event of a space has, or one that was forgotten."""
    shown = event if len(event) <= 40 else f"{event[:40]}…"
    return NotFoundError(
        f"There is no event {shown!r} in this space.", hint="memory_search_raw gives the ids of events."
    )


@dataclass(frozen=True, slots=True)
class EventRow:
    """A live turn as an event."""

    turn_id: int
    key: bytes
    session_number: int
    agent: str
    native: str
    ordinal: int
    role: Role
    time: Millis | None
    text: str
    tokens: int
    """Of its rendered line."""
    source: str
    """Who told it; of a turn from a log: the agent."""
    author: str | None
    partial: bool
    abandoned: bool
    project: str | None

    @property
    def id(self) -> str:
        """Its event id."""
        return event_id(self.key)

    @property
    def session(self) -> str:
        """What the caller of a door called the session; the public id of a log's."""
        return self.native if self.agent in DOORS else f"{self.agent}:{self.native}"


class CapturedRows:
    """The captured turns of one open store. Whoever writes holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def add(self, turn_id: int, source: str, author: str | None, *, partial: bool) -> None:
        """Say where a turn came from."""
        self.connection.execute(
            "INSERT INTO captured (turn_id, source, author, partial) VALUES (?, ?, ?, ?)",
            (turn_id, source, author, partial),
        )

    def event(self, event: str) -> EventRow:
        """The live turn of an event id, from a log or a door.

        Raises:
            NotFoundError: this space has none: it never had, or it was forgotten.
        """
        found = self.events([event]).get(event)
        if found is None:
            raise no_event(event)
        return found

    def events(self, events: Iterable[str]) -> dict[str, EventRow]:
        """Event id -> live turn; ids that are none, or whose turn is not there, are missing."""
        found = {}
        for event in dict.fromkeys(events):
            if not _is_event_id(event):
                continue
            low = bytes.fromhex(event[1:])
            row = self.connection.execute(
                f"SELECT {_EVENT} WHERE t.key >= ? AND t.key < ? AND t.status = 0 ORDER BY t.id LIMIT 1",
                (low.ljust(16, b"\0"), low.ljust(16, b"\xff")),
            ).fetchone()
            if row is not None:
                found[event] = _event(row)
        return found

    def at(self, places: Iterable[tuple[int, int]]) -> Iterator[EventRow]:
        """The live turns at (session number, turn number), each place once."""
        wanted = list(places)
        for start in range(0, len(wanted), _SLICE):
            part = wanted[start : start + _SLICE]
            # CROSS JOIN: the places come first. SQLite might walk through all turns.
            rows = self.connection.execute(
                f"""WITH places (session, turn) AS (VALUES {", ".join(["(?, ?)"] * len(part))})
                    SELECT {_COLUMNS} FROM places CROSS JOIN turns t ON t.session_id = places.session
                    AND t.ordinal = places.turn {_JOINS} WHERE t.status = 0""",
                [number for place in part for number in place],
            )
            yield from map(_event, rows)

    def session_of(self, door: str, native: str) -> int | None:
        """The session of a door that its callers call so; None: there is none."""
        row = self.connection.execute(
            "SELECT id FROM sessions WHERE agent = ? AND native = ?", (door, native)
        ).fetchone()
        return row[0] if row else None

    def sessions_named(self, name: str) -> tuple[int, ...]:
        """The sessions of a native or public id, of any agent or door."""
        rows = self.connection.execute(
            """SELECT id FROM sessions WHERE native = ?
               UNION SELECT id FROM sessions WHERE agent = ? AND native = ?""",
            (name, name.partition(":")[0], name.partition(":")[2]),
        )
        return tuple(row[0] for row in rows)

    def sessions_of_source(self, source: str) -> tuple[int, ...] | None:
        """The sessions that hold a turn of a source; None: it told so much that the question is not worth its answer."""
        sessions = self.connection.execute(
            "SELECT id FROM sessions WHERE agent = ? LIMIT ?", (source, _MANY)
        ).fetchall()
        told = self.connection.execute(
            "SELECT t.session_id FROM captured c JOIN turns t ON t.id = c.turn_id WHERE c.source = ? LIMIT ?",
            (source, _MANY),
        ).fetchall()
        if len(sessions) == _MANY or len(told) == _MANY:
            return None
        return tuple({row[0] for row in (*sessions, *told)})


def _event(row: sqlite3.Row) -> EventRow:
    values = dict(row)
    for name, kind in (("role", Role), ("partial", bool), ("abandoned", bool)):
        values[name] = kind(values[name])
    return EventRow(**values)
