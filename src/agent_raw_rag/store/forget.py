"""Forgetting for good: a turn's text goes everywhere, its key stays as a tombstone so that no log brings it back."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable

from agent_raw_rag.store.captured import event_id
from agent_raw_rag.store.reader import Scope, session_conditions, time_conditions
from agent_raw_rag.store.rows import Status
from agent_raw_rag.store.unfounded import drop_unfounded


def turns_in(connection: sqlite3.Connection, scope: Scope) -> list[tuple[int, int, int]]:
    """(turn id, session id, ordinal) of everything in a scope that is not forgotten yet, copies included."""
    where, values = session_conditions(scope)
    when, times = time_conditions(scope, "t.time", "t.time")
    rows = connection.execute(
        f"""SELECT t.id, t.session_id, t.ordinal FROM turns t JOIN sessions s ON s.id = t.session_id
            WHERE {where} AND {when} AND t.status <> ? ORDER BY t.session_id, t.ordinal""",
        (*values, *times, Status.FORGOTTEN),
    )
    return [tuple(row) for row in rows]


def kept_sessions(connection: sqlite3.Connection) -> list[int]:
    """Row numbers of the sessions that somebody keeps on purpose."""
    return [row[0] for row in connection.execute("SELECT id FROM sessions WHERE kept = 1 ORDER BY id")]


def outside(
    connection: sqlite3.Connection, turns: Iterable[tuple[int, int, int]], shield: Collection[int]
) -> list[tuple[int, int, int]]:
    """Of turns as ``turns_in`` gives them, those that no shielded session has too: a copy is blanked with its original."""
    if not shield:
        return list(turns)
    marks = ", ".join(map(str, sorted(shield)))
    theirs = {
        row[0]
        for row in connection.execute(
            f"SELECT t.id FROM turns t JOIN turns k ON k.key = t.key WHERE k.session_id IN ({marks})"
        )
    }
    return [turn for turn in turns if turn[0] not in theirs]


def blank(connection: sqlite3.Connection, turn_ids: Iterable[int]) -> set[int]:
    """Make turns tombstones, and every other row of the same keys; with what was made of nothing else. Returns the sessions
    whose streams change.

    The caller holds the transaction, and cuts those sessions again.
    """
    touched: set[int] = set()
    events: set[str] = set()
    for turn_id in turn_ids:
        key = connection.execute("SELECT key FROM turns WHERE id = ?", (turn_id,)).fetchone()[0]
        touched.update(row[0] for row in connection.execute("SELECT session_id FROM turns WHERE key = ?", (key,)))
        connection.execute(
            """UPDATE turns SET status = ?, text = '', text_hash = x'', tokens = 0, open = 0, record_ids = '[]',
                 redactions = '' WHERE key = ?""",
            (Status.FORGOTTEN, key),
        )
        connection.execute("UPDATE captured SET author = NULL WHERE turn_id = ?", (turn_id,))
        events.add(event_id(key))
    drop_unfounded(connection, events)
    return touched


def close_sessions(connection: sqlite3.Connection, session_ids: Iterable[int]) -> None:
    """Forget whole sessions: their titles go, and whatever the logs of those that have one add later is forgotten on arrival."""
    connection.executemany(
        "UPDATE sessions SET forgotten = source_id IS NOT NULL, title = NULL WHERE id = ?",
        [(number,) for number in session_ids],
    )


def set_traces(connection: sqlite3.Connection) -> None:
    """Note, in the transaction that forgets, that traces are left: in the write-ahead log, in free pages, in derived files."""
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('traces', '1')")


def has_traces(connection: sqlite3.Connection) -> bool:
    """Whether something was forgotten and its traces were not removed yet: the process was killed in between."""
    return connection.execute("SELECT 1 FROM meta WHERE key = 'traces'").fetchone() is not None


def scrub(connection: sqlite3.Connection) -> None:
    """Leave no trace in the write-ahead log or in free pages. Outside a transaction, after the derived files are gone."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("VACUUM")
    connection.execute("DELETE FROM meta WHERE key = 'traces'")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
