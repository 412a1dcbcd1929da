"""What must outlast a restore: a token revoked, a space disabled, and how much of what comes back had been forgotten."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field

from agent_raw_rag.models import Millis


@dataclass(frozen=True, slots=True)
class Standing:
    """Of the store that is replaced."""

    revoked: dict[bytes, Millis] = field(default_factory=dict)
    """Hash of a token -> when it was revoked."""
    disabled: frozenset[str] = frozenset()
    """Spaces that were taken out of use."""
    forgotten: frozenset[bytes] = frozenset()
    """Keys of the tombstones."""


def standing_of(store: str) -> Standing:
    """What is known of a store, whatever its schema; nothing of one that is missing or damaged."""
    if not os.path.exists(store):
        return Standing()
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        tokens = _rows(connection, "SELECT hash, revoked FROM tokens WHERE revoked IS NOT NULL")
        disabled = _rows(connection, "SELECT CAST(slug AS BLOB), 0 FROM spaces WHERE NOT enabled")
        tombs = _rows(connection, "SELECT key, 0 FROM turns WHERE status = 2")
    return Standing(dict(tokens), frozenset(slug.decode() for slug, _ in disabled), frozenset(key for key, _ in tombs))


def _rows(connection: sqlite3.Connection, query: str) -> list[tuple[bytes, int]]:
    try:
        return [(bytes(row[0]), row[1]) for row in connection.execute(query)]
    except sqlite3.DatabaseError:
        return []


def revoke_again(connection: sqlite3.Connection, before: Standing) -> None:
    """No token that was revoked opens anything again, nor for longer than it would have, and no space that was disabled is
    open again."""
    connection.executemany(
        "UPDATE tokens SET revoked = ?1 WHERE hash = ?2 AND (revoked IS NULL OR revoked > ?1)",
        [(instant, hashed) for hashed, instant in before.revoked.items()],
    )
    connection.executemany("UPDATE spaces SET enabled = 0 WHERE slug = ?", [(slug,) for slug in before.disabled])


def count_returned(connection: sqlite3.Connection, before: Standing) -> int:
    """How many turns have words again that had none."""
    live = "SELECT count(*) FROM turns WHERE key = ? AND status = 0"
    return sum(connection.execute(live, (key,)).fetchone()[0] for key in before.forgotten)
