"""What SQLite itself offers here, beside what the store needs of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

VERSION = sqlite3.sqlite_version
NEEDED = {
    "tables without row numbers": "CREATE TABLE a (k TEXT PRIMARY KEY, v INTEGER) WITHOUT ROWID",
    "upserts": "INSERT INTO a VALUES ('k', 1) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
    "subqueries in FROM": "SELECT count(*) FROM (SELECT 1 FROM a WHERE v > 0 LIMIT 1)",
    "overwriting what is deleted": "PRAGMA secure_delete = ON",
}
"""Feature -> a statement that needs it, to be run in this order."""


def lacking() -> list[str]:
    """The features that this SQLite has not."""
    missing = []
    with closing(sqlite3.connect(":memory:")) as connection:
        for feature, statement in NEEDED.items():
            try:
                connection.execute(statement).fetchall()
            except sqlite3.Error:
                missing.append(feature)
    return missing


def journal_mode(connection: sqlite3.Connection) -> str:
    """How an open store keeps its transactions: ``wal`` where the file system allows it."""
    return str(connection.execute("PRAGMA journal_mode").fetchone()[0])
