"""What the store holds, counted: per agent, per source, per vector space."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass, field

from agent_raw_rag.models import Millis

UnknownTypes = dict[str, dict[tuple[str, str], int]]
"""Agent -> (version, type) -> records."""


@dataclass
class AgentTotals:
    """What is stored of one agent."""

    sources: int = 0
    gone_sources: int = 0
    failed_sources: dict[str, str] = field(default_factory=dict)
    sessions: int = 0
    turns: int = 0
    chunks: int = 0
    first_turn: Millis | None = None
    last_turn: Millis | None = None
    last_read: Millis | None = None
    last_project: str | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    """Reason -> stretches of logs that were no records."""
    unknown: dict[str, int] = field(default_factory=dict)
    """Type -> records of types never seen before, all versions."""
    unknown_by_version: dict[str, dict[str, int]] = field(default_factory=dict)


def totals(connection: sqlite3.Connection) -> dict[str, AgentTotals]:
    """Agent -> what is stored of it."""
    found: dict[str, AgentTotals] = {}
    for agent, gone, error, path, read_at, tally in connection.execute(
        "SELECT agent, gone, error, path, read_at, tally FROM sources ORDER BY path"
    ):
        one = found.setdefault(agent, AgentTotals())
        one.sources += 1
        one.gone_sources += gone
        if error:
            one.failed_sources[path] = error
        one.last_read = max(one.last_read or 0, read_at or 0) or None
        _count(one, json.loads(tally))
    _count_sessions(connection, found)
    return found


def _count(one: AgentTotals, tally: dict[str, int]) -> None:
    for name, count in tally.items():
        kind, version, what = name.split("|", 2)
        if kind == "skipped":
            one.skipped[what] = one.skipped.get(what, 0) + count
        else:
            one.unknown[what] = one.unknown.get(what, 0) + count
            by_version = one.unknown_by_version.setdefault(version or "?", {})
            by_version[what] = by_version.get(what, 0) + count


def _count_sessions(connection: sqlite3.Connection, found: dict[str, AgentTotals]) -> None:
    newest: Counter[str] = Counter()
    chunks = dict(connection.execute("SELECT session_id, count(*) FROM chunks GROUP BY session_id").fetchall())
    for agent, session, project, last, turns, first, newest_turn in connection.execute(
        """SELECT s.agent, s.id, s.project, s.last, count(t.id), min(t.time), max(t.time)
           FROM sessions s JOIN turns t ON t.session_id = s.id AND t.status = 0 GROUP BY s.id"""
    ):
        one = found.setdefault(agent, AgentTotals())
        one.sessions += 1
        one.turns += turns
        one.chunks += chunks.get(session, 0)
        if first is not None:
            one.first_turn = first if one.first_turn is None else min(first, one.first_turn)
            one.last_turn = max(newest_turn, one.last_turn or 0)
        if (last or 0) >= newest[agent]:
            newest[agent] = last or 0
            one.last_project = project


def turn_count(connection: sqlite3.Connection) -> int:
    """How many turns there are, of any status: counted in an index."""
    return int(connection.execute("SELECT count(*) FROM turns").fetchone()[0])


def cursors(connection: sqlite3.Connection, agent: str) -> list[tuple[str, str, int, int | None]]:
    """(path, part, byte offset, read at) of an agent's sources."""
    rows = connection.execute(
        """SELECT o.path, c.part, c.position, o.read_at FROM sources o JOIN cursors c ON c.source_id = o.id
           WHERE o.agent = ? ORDER BY o.path, c.part""",
        (agent,),
    )
    return [tuple(row) for row in rows]


def ahead_of(connection: sqlite3.Connection, now: Millis) -> tuple[int, Millis | None, Millis | None]:
    """(live turns said after ``now``, time of the last of them, time of the last reading)."""
    turns, last = connection.execute(
        "SELECT count(*), max(time) FROM turns WHERE time > ? AND status = 0", (now,)
    ).fetchone()
    read = connection.execute("SELECT max(read_at) FROM sources").fetchone()[0]
    return int(turns), last, read


def unknown_types(connection: sqlite3.Connection) -> UnknownTypes:
    """Agent -> (version, type) of records of unknown types -> how many were passed over."""
    found: UnknownTypes = {}
    for agent, tally in connection.execute("SELECT agent, tally FROM sources WHERE tally <> '{}'"):
        for name, count in json.loads(tally).items():
            kind, version, what = name.split("|", 2)
            if kind == "unknown":
                counts = found.setdefault(agent, {})
                counts[version, what] = counts.get((version, what), 0) + count
    return found
