"""Events: turns by the ids they have outside the store, unique everywhere: ``e`` and the first 80 bits of the key in hex."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

from agent_raw_rag.models import Millis
from agent_raw_rag.store.rows import Status

_is_event = re.compile(r"e[0-9a-f]{20}").fullmatch
_REST = 6
"""Bytes of a key that its event's id does not hold."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """A turn as evidence."""

    id: str
    text: str
    source: str
    """Who sent it: as the sender of a capture named itself, else the agent whose log holds it."""
    time: Millis | None
    forgotten: bool = False


def event_id(key: bytes) -> str:
    """The id of the turn with this key."""
    return f"e{key.hex()[:20]}"


def event(connection: sqlite3.Connection, name: str) -> EventRow | None:
    """The turn of an id; None: this store has none. Of several rows of one key the live one, else the tombstone."""
    if not _is_event(name):
        return None
    first = bytes.fromhex(name[1:])
    row = connection.execute(
        """SELECT t.text, t.status, t.time, coalesce(c.source, s.agent) FROM turns t JOIN sessions s ON s.id = t.session_id
           LEFT JOIN captured c ON c.turn_id = t.id
           WHERE t.key BETWEEN ? AND ? AND t.status <> ? ORDER BY t.status LIMIT 1""",
        (first + bytes(_REST), first + b"\xff" * _REST, Status.COPY),
    ).fetchone()
    return EventRow(name, row[0], row[3], row[2], row[1] == Status.FORGOTTEN) if row else None
