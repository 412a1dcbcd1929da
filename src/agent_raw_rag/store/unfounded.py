"""What was made of turns goes with them: the words of a candidate or of a promoted note, once all it rests on is forgotten.

What somebody wrote themselves (a note without a candidate) stays: those words are theirs.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection

WHY = "what it rests on was forgotten"
_NOW = "CAST(strftime('%s', 'now') AS INTEGER) * 1000"


def drop_unfounded(connection: sqlite3.Connection, events: Collection[str]) -> None:
    """Take these events out of all evidence, and the words of what rests on nothing any more. In the caller's transaction."""
    gone = set(events)
    for candidate, left in _less(connection, "candidates", "1", gone):
        connection.execute("UPDATE candidates SET evidence = ? WHERE id = ?", (json.dumps(left), candidate))
        if not left:
            connection.execute(
                f"""UPDATE candidates SET statement = '', quote = '', statement_hash = x'', reason = ?, status = 'rejected',
                      decided = coalesce(decided, {_NOW}) WHERE id = ?""",
                (WHY, candidate),
            )
    for note, left in _less(connection, "notes", "candidate IS NOT NULL", gone):
        connection.execute("UPDATE notes SET evidence = ? WHERE id = ?", (json.dumps(left), note))
        if not left:
            connection.execute(
                f"""UPDATE notes SET statement = '', statement_hash = randomblob(16), reason = ?, changed = {_NOW},
                      status = CASE status WHEN 'active' THEN 'deprecated' ELSE status END WHERE id = ?""",
                (WHY, note),
            )


def _less(connection: sqlite3.Connection, table: str, where: str, gone: set[str]) -> list[tuple[str, list[str]]]:
    """(id, evidence that is left) of the rows that lose some."""
    rows = connection.execute(f"SELECT id, evidence FROM {table} WHERE {where} AND evidence <> '[]'").fetchall()
    evidence = ((name, json.loads(listed)) for name, listed in rows)
    return [
        (name, [one for one in listed if one not in gone]) for name, listed in evidence if gone.intersection(listed)
    ]
