"""What a store holds, as values that can be compared: everything that matters, without row numbers and clocks."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

QUERIES = {
    "sessions": """SELECT agent, native, parent, parent_kind, cwd, project, branch, title, version, started, last, turns,
                     exchange, tokens, kept, passing FROM sessions WHERE turns > 0 ORDER BY agent, native""",
    "turns": """SELECT s.native, t.ordinal, t.exchange, t.role, t.time, t.text, hex(t.key), t.status, t.open, t.abandoned,
                  t.branch_from, t.start_token, t.tokens, t.start, t.end, t.record_ids, hex(t.trail), t.redactions
                FROM turns t JOIN sessions s ON s.id = t.session_id ORDER BY s.agent, s.native, t.ordinal""",
    "chunks": """SELECT s.native, c.place, c.text, c.first_turn, c.last_turn, c.start_token, c.end_token, c.stable,
                   c.started, c.ended, c.roles FROM chunks c JOIN sessions s ON s.id = c.session_id
                 ORDER BY s.agent, s.native, c.place""",
    "tallies": "SELECT agent, shape, tally FROM sources WHERE tally <> '{}' ORDER BY path",
    "quarantine": """SELECT o.shape, q.start, q.end, q.reason FROM quarantine q JOIN sources o ON o.id = q.source_id
                     ORDER BY o.path, q.start""",
}


def dump(connection: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    return {name: [tuple(row) for row in connection.execute(sql)] for name, sql in QUERIES.items()}


def as_text(connection: sqlite3.Connection) -> str:
    return json.dumps(dump(connection), ensure_ascii=False, indent=1)


def differences(one: dict[str, list[tuple[Any, ...]]], two: dict[str, list[tuple[Any, ...]]]) -> list[str]:
    """The rows that only one of two dumps has; [] where they are equal."""
    found = []
    for name in one:
        only = [("+", row) for row in two[name] if row not in one[name]] + [
            ("-", row) for row in one[name] if row not in two[name]
        ]
        found += [f"{sign} {name} {row}" for sign, row in only]
        if not only and one[name] != two[name]:
            found.append(f"{name}: other order or number of equal rows")
    return found
