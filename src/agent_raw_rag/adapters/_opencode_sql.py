"""The tables of OpenCode's database, as queries: which sessions there are, when each last changed, and its rows.

Two generations share one file. 1.x has ``session``, ``message``, ``part``; 2.x has ``session_v2``, ``session_message``. The
upgrade copies each 1.x session once, under the same ids, and leaves the old tables behind; who goes on with 1.x after that
writes to the old tables only. Hence three families: sessions that went on in the old tables are read from both,
other copied or new ones from the new tables, the rest from the old ones.

**Stamps.** Nearly every row is updated in place while it is written, and no index holds ``time_updated``; looking at that of
all rows would read the whole database at each poll. A row only changes during a run of the agent, though, and a run begins
by updating its session's row. So a session counts as *awake* for a week after its row was last updated (seen from
the newest session, or from now if that lies in the future). The stamp of every session has its row's ``time_updated`` and
the number and last key of its messages, all from covering indexes; the stamp of one that is awake adds number and sum of
``time_updated`` over its rows, which an index on the session id finds. What this misses: a row changed in place in a session
that was not prompted for a week.
"""

from __future__ import annotations

from agent_raw_rag.adapters.base import Family

WEEK_MS = 7 * 24 * 3600 * 1000

_NOW = "CAST(strftime('%s', 'now') AS INTEGER) * 1000"
_IMPORTED = "(SELECT coalesce(max(time_updated), 0) FROM kv WHERE key = 'migration.v1-v2')"


def _awake(table: str) -> str:
    return (
        f"SELECT id FROM {table} WHERE time_updated > (SELECT min(max(time_updated), {_NOW}) - {WEEK_MS} FROM {table})"
    )


def _counts(table: str, order: str) -> str:
    return f"(SELECT session_id, count(*) || '.' || max({order}) AS mark FROM {table} GROUP BY session_id)"


def _sums(table: str, sessions: str) -> str:
    # The upper bits say nothing, and a sum of whole milliseconds could overflow.
    return (
        f"(SELECT session_id, count(*) || '.' || sum(time_updated & 4294967295) AS mark"
        f" FROM {table} WHERE session_id IN ({_awake(sessions)}) GROUP BY session_id)"
    )


_NEW = f"""
SELECT s.id AS session, s.time_updated || ':' || c.mark || ':' || coalesce(m.mark, '') AS stamp
FROM session_v2 s
JOIN {_counts("session_message", "seq")} c ON c.session_id = s.id
LEFT JOIN {_sums("session_message", "session_v2")} m ON m.session_id = s.id
"""

_OLD = f"""
SELECT s.id AS session,
  s.time_updated || ':' || coalesce(c.mark, '') || ':' || coalesce(m.mark, '') || ':' || coalesce(p.mark, '') AS stamp
FROM session s
LEFT JOIN {_counts("message", "time_created")} c ON c.session_id = s.id
LEFT JOIN {_sums("message", "session")} m ON m.session_id = s.id
LEFT JOIN {_sums("part", "session")} p ON p.session_id = s.id
"""

_BOTH = f"""
SELECT n.session AS session, n.stamp || '|' || o.stamp AS stamp
FROM ({_NEW}) n JOIN ({_OLD}) o ON o.session = n.session
WHERE EXISTS (SELECT 1 FROM message m WHERE m.session_id = n.session AND m.time_created > {_IMPORTED})
"""

_NEW_ROWS = (
    "SELECT 'session' AS kind, * FROM session_v2 WHERE id = :session",
    "SELECT 'row' AS kind, id, session_id, type, seq, time_created, data AS data_json"
    " FROM session_message WHERE session_id = :session ORDER BY seq",
)

_OLD_ROWS = (
    "SELECT 'message' AS kind, id, session_id, time_created, data AS data_json FROM message WHERE session_id = :session",
    "SELECT 'part' AS kind, id, session_id, message_id, data AS data_json FROM part WHERE session_id = :session",
)

_ONLY_OLD = "NOT IN (SELECT id FROM session_message WHERE session_id = :session)"

FAMILIES = (
    Family(
        name="v2+v1",
        tables=("session_v2", "session_message", "session", "message", "part", "kv"),
        sessions=_BOTH,
        records=(
            *_NEW_ROWS,
            f"{_OLD_ROWS[0]} AND time_created > {_IMPORTED} AND id {_ONLY_OLD}",
            f"{_OLD_ROWS[1]} AND message_id {_ONLY_OLD}",
        ),
    ),
    Family(name="v2", tables=("session_v2", "session_message"), sessions=_NEW, records=_NEW_ROWS),
    Family(
        name="v1",
        tables=("session", "message", "part"),
        sessions=_OLD,
        records=("SELECT 'session' AS kind, * FROM session WHERE id = :session", *_OLD_ROWS),
    ),
)
"""Preferred first."""
