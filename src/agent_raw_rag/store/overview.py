"""Reading page by page, and at a glance: sessions, turns, families of sessions, days. Never waits for a writer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent_raw_rag.models import Millis
from agent_raw_rag.store.captured import event_id
from agent_raw_rag.store.reader import Reader, Scope, SessionFacts, session_conditions, time_conditions
from agent_raw_rag.store.rows import SEARCHED, SessionRow

QUARTER_MS = 900_000
"""No zone's day begins anywhere but at a quarter of an hour."""
_LIVE = "(SELECT count(*) FROM turns t WHERE t.session_id = s.id AND t.status = 0)"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list of sessions, the one last spoken in first, was left."""

    last: Millis | None
    session: int


@dataclass(frozen=True, slots=True)
class PagedTurn:
    """A live turn of one session."""

    event: str
    ordinal: int
    exchange: int
    role: str
    time: Millis | None
    text: str
    abandoned: bool
    branch_from: int | None
    partial: bool
    record_ids: list[str]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns of one session that follow each other on one branch."""

    branch_from: int | None
    """The turn that the first one follows, where that is not the one before it."""
    first_turn: int
    last_turn: int
    abandoned: bool


@dataclass(frozen=True, slots=True)
class Span:
    """What was said in one session from an instant to another."""

    session: int
    first: Millis
    last: Millis
    turns: int
    tokens: int


class Overview:
    """The lists of one open store."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._connection = reader.connection

    # ------------------------------------------------------------ sessions

    def sessions(self, scope: Scope, limit: int, after: Place | None = None) -> list[SessionFacts]:
        """Sessions of a scope, its time and all, that hold a live turn, newest last turn first, from behind a place on."""
        where, values = session_conditions(scope)
        when, times = time_conditions(scope, "s.started", "s.last")
        further, places = _behind(after)
        found = self._connection.execute(
            f"""SELECT s.id, {_LIVE} AS live, o.path, o.gone FROM sessions s LEFT JOIN sources o ON o.id = s.source_id
                WHERE {where} AND {when} AND {further} AND live > 0 ORDER BY s.last DESC, s.id DESC LIMIT ?""",
            (*values, *times, *places, limit),
        ).fetchall()
        rows = self._reader.session_rows(row[0] for row in found)
        return [SessionFacts(rows[number], live, path, bool(gone)) for number, live, path, gone in found]

    def live_turns(self, session: int) -> int:
        """How many there are."""
        sql = "SELECT count(*) FROM turns t WHERE t.session_id = ? AND t.status = 0"
        return int(self._connection.execute(sql, (session,)).fetchone()[0])

    def agents(self) -> list[tuple[str, int]]:
        """(agent, sessions with a live turn), the one with most first."""
        rows = self._connection.execute(
            f"""SELECT s.agent, count(*) FROM sessions s
               WHERE {SEARCHED} AND EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.status = 0)
               GROUP BY s.agent ORDER BY count(*) DESC, s.agent"""
        )
        return [(agent, sessions) for agent, sessions in rows]

    def branches(self, limit: int) -> list[str]:
        """Names of the repositories' branches that were worked on, the one last spoken on first."""
        rows = self._connection.execute(
            f"""SELECT s.branch FROM sessions s WHERE {SEARCHED} AND s.branch IS NOT NULL AND s.branch <> ''
               GROUP BY s.branch ORDER BY max(s.last) DESC, s.branch LIMIT ?""",
            (limit,),
        )
        return [branch for (branch,) in rows]

    # ------------------------------------------------------------ turns

    def turns(self, session: int, first: int, limit: int) -> list[PagedTurn]:
        """Live turns of a session from number ``first`` on."""
        rows = self._connection.execute(
            """SELECT t.key, t.ordinal, t.exchange, t.role, t.time, t.text, t.abandoned, t.branch_from, c.partial, t.record_ids
               FROM turns t LEFT JOIN captured c ON c.turn_id = t.id
               WHERE t.session_id = ? AND t.ordinal >= ? AND t.status = 0 ORDER BY t.ordinal LIMIT ?""",
            (session, first, limit),
        )
        return [_turn(row) for row in rows]

    def first_said(self, sessions: Iterable[str], chars: int) -> dict[str, str]:
        """Public id -> the beginning of what the user said first; sessions in which none did are missing."""
        found: dict[str, str] = {}
        for session in sessions:
            agent, _, native = session.partition(":")
            row = self._connection.execute(
                """SELECT substr(t.text, 1, ?) FROM sessions s JOIN turns t ON t.session_id = s.id
                   WHERE s.agent = ? AND s.native = ? AND t.status = 0 AND t.role = 'user' ORDER BY t.ordinal LIMIT 1""",
                (chars, agent, native),
            ).fetchone()
            if row is not None:
                found[session] = row[0]
        return found

    def stretches(self, session: int) -> list[Stretch]:
        """A session's branches, in the order of its turns."""
        rows = self._connection.execute(
            """SELECT ordinal, branch_from, abandoned FROM turns WHERE session_id = ? AND status = 0 ORDER BY ordinal""",
            (session,),
        )
        found: list[Stretch] = []
        for ordinal, branch_from, mark in rows:
            last = found[-1] if found else None
            if last is None or branch_from is not None or bool(mark) != last.abandoned:
                found.append(Stretch(branch_from, ordinal, ordinal, bool(mark)))
            else:
                found[-1] = Stretch(last.branch_from, last.first_turn, ordinal, last.abandoned)
        return found

    # ------------------------------------------------------------ families

    def named(self, agent: str, native: str) -> SessionRow | None:
        """The session of an agent that has exactly this id."""
        sql = "SELECT id FROM sessions WHERE agent = ? AND native = ?"
        row = self._connection.execute(sql, (agent, native)).fetchone()
        return self._reader.session_rows([row[0]])[row[0]] if row else None

    def children(self, session: SessionRow) -> list[SessionRow]:
        """The sessions that name this one as their parent, or copy turns of it and name none; in the order they began."""
        rows = self._connection.execute(
            """SELECT id FROM sessions WHERE agent = ? AND parent = ?
               UNION SELECT mine.session_id FROM turns theirs
               JOIN turns mine ON mine.key = theirs.key AND mine.status = 1 AND mine.session_id <> theirs.session_id
               JOIN sessions s ON s.id = mine.session_id AND s.parent IS NULL
               WHERE theirs.session_id = ? AND theirs.status = 0""",
            (session.agent, session.native, session.id),
        ).fetchall()
        found = self._reader.session_rows(row[0] for row in rows)
        return sorted(found.values(), key=lambda one: (one.started or 0, one.id))

    # ------------------------------------------------------------ amounts

    def spans(self, scope: Scope) -> Iterator[Span]:
        """How much was said in each session, and from when to when. Turns without a time are left out."""
        where, values = session_conditions(scope)
        when, times = time_conditions(scope, "t.time", "t.time")
        rows = self._connection.execute(
            f"""SELECT t.session_id, min(t.time), max(t.time), count(*), sum(t.tokens) FROM turns t
                WHERE t.status = 0 AND t.time >= 0 AND {when} AND t.session_id IN (SELECT s.id FROM sessions s WHERE {where})
                GROUP BY t.session_id""",
            (*times, *values),
        )
        return (Span(*row) for row in rows)

    def quarters(self, span: Span) -> Iterator[Span]:
        """The same of one session, by quarters of an hour."""
        rows = self._connection.execute(
            f"""SELECT t.session_id, min(t.time), max(t.time), count(*), sum(t.tokens) FROM turns t
                WHERE t.session_id = ? AND t.status = 0 AND t.time BETWEEN ? AND ? GROUP BY t.time / {QUARTER_MS}""",
            (span.session, span.first, span.last),
        )
        return (Span(*row) for row in rows)

    def owners(self) -> dict[int, tuple[str, str | None]]:
        """Session -> its agent and project."""
        rows = self._connection.execute("SELECT id, agent, project FROM sessions")
        return {number: (agent, project) for number, agent, project in rows}

    def chunks(self, scope: Scope) -> int:
        """How many windows there are in a scope."""
        where, values = session_conditions(scope)
        when, times = time_conditions(scope, "c.started", "c.ended")
        sql = f"SELECT count(*) FROM chunks c JOIN sessions s ON s.id = c.session_id WHERE {where} AND {when}"
        return int(self._connection.execute(sql, (*values, *times)).fetchone()[0])


def _behind(place: Place | None) -> tuple[str, tuple[int, ...]]:
    if place is None:
        return "1", ()
    if place.last is None:
        return "s.last IS NULL AND s.id < ?", (place.session,)
    return "(s.last < ? OR s.last IS NULL OR (s.last = ? AND s.id < ?))", (place.last, place.last, place.session)


def _turn(row: sqlite3.Row) -> PagedTurn:
    key, ordinal, exchange, role, time, text, abandoned, branch_from, partial, record_ids = row
    return PagedTurn(
        event_id(key), ordinal, exchange, role, time, text, bool(abandoned), branch_from, bool(partial),
        json.loads(record_ids),
    )  # fmt: skip
