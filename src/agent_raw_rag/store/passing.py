"""Sessions that are kept for their own history only: which there are, and their end. The caller holds the transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from agent_raw_rag.models import Millis
from agent_raw_rag.store import forget as tombs
from agent_raw_rag.store.connection import BUSY_MS
from agent_raw_rag.store.reader import Scope
from agent_raw_rag.store.rows import Status

_LIVE = f"EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.status <> {int(Status.FORGOTTEN)})"


def has_turns(connection: sqlite3.Connection, session_id: int) -> bool:
    """Whether a session holds a turn that is not forgotten."""
    return (
        connection.execute(f"SELECT 1 FROM sessions s WHERE s.id = ? AND {_LIVE}", (session_id,)).fetchone() is not None
    )


def endings_of(connection: sqlite3.Connection, door: str, native: str) -> int:
    """How often the session of a door has ended; 0 where there is none."""
    row = connection.execute("SELECT endings FROM sessions WHERE agent = ? AND native = ?", (door, native)).fetchone()
    return int(row[0]) if row else 0


def passing(connection: sqlite3.Connection) -> int:
    """How many passing sessions have not ended."""
    return int(connection.execute(f"SELECT count(*) FROM sessions s WHERE s.passing = 1 AND {_LIVE}").fetchone()[0])


def unheard(connection: sqlite3.Connection, since: Millis) -> Iterator[tuple[str, str]]:
    """(door, native id) of the passing sessions that have not ended, and that the store has not heard of after ``since``."""
    rows = connection.execute(
        f"SELECT s.agent, s.native FROM sessions s WHERE s.passing = 1 AND s.heard <= ? AND {_LIVE} ORDER BY s.heard, s.id",
        (since,),
    )
    return iter([(row[0], row[1]) for row in rows])


def end(connection: sqlite3.Connection, door: str, native: str, since: Millis | None = None) -> int:
    """Forget what a passing session holds. It has no chunks, so nothing derived knows its words.

    Args:
        since: Only if the store has not heard of it after this.

    Returns:
        How many turns were forgotten; 0: it is no passing session, it has ended, or it was heard of.
    """
    row = connection.execute(
        "SELECT id FROM sessions WHERE agent = ? AND native = ? AND passing = 1 AND heard <= ?",
        (door, native, since if since is not None else 1 << 62),
    ).fetchone()
    turns = tombs.turns_in(connection, Scope(sessions=(row[0],), passing=True)) if row else []
    if not turns:
        return 0
    tombs.blank(connection, (turn for turn, _, _ in turns))
    tombs.close_sessions(connection, [row[0]])
    connection.execute("UPDATE sessions SET tokens = 0, endings = endings + 1 WHERE id = ?", (row[0],))
    return len(turns)


def leave_no_trace(connection: sqlite3.Connection) -> bool:
    """Empty the write-ahead log, which holds the words as they came; outside a transaction. Whether it was emptied: where
    somebody reads or writes right now, a later checkpoint does it. Free pages hold nothing: see ``secure_delete``."""
    connection.execute("PRAGMA busy_timeout = 200")
    try:
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError:
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
