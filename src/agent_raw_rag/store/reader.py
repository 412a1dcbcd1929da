"""Reading turns, sessions and chunks: what searches, people and status need. Never waits for a writer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from agent_raw_rag.errors import NotFoundError, UsageError
from agent_raw_rag.models import Millis, Role
from agent_raw_rag.store.rows import ROLE_BITS, SEARCHED, ChunkRow, SessionRow, ShownTurn

_SESSION = ", ".join(f"s.{field.name}" for field in fields(SessionRow))
_CHUNK = """c.id, c.session_id, c.place, c.text, c.hash, c.start_token, c.end_token, c.first_turn, c.last_turn,
            c.started, c.ended, c.roles"""
_SHOWN = """t.session_id, t.ordinal, t.exchange, t.role, t.time, t.text, t.start_token, t.tokens, t.abandoned,
            o.path, o.gone, t.start, t.end, t.record_ids"""
_SLICE = 500


@dataclass(frozen=True, slots=True)
class Scope:
    """Which part of the store is asked for. Empty tuples and None leave that side open."""

    projects: tuple[str, ...] = ()
    """Absolute folders: sessions of these, and of folders below them."""
    agents: tuple[str, ...] = ()
    sessions: tuple[int, ...] = ()
    branch: str | None = None
    roles: tuple[Role, ...] = ()
    after: Millis | None = None
    """Inclusive."""
    before: Millis | None = None
    """Exclusive."""
    passing: bool = False
    """With the passing sessions: for showing one by its id, and for forgetting."""

    @property
    def role_mask(self) -> int:
        """The roles as bits; 0: any."""
        return sum(ROLE_BITS[role] for role in self.roles)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session as it is listed."""

    row: SessionRow
    live_turns: int
    source_path: str | None
    source_gone: bool


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """A chunk with what an index needs to know of its session."""

    chunk: ChunkRow
    agent: str
    project: str | None
    cwd: str | None
    branch: str | None


class Reader:
    """The reading side of one open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    # ------------------------------------------------------------ sessions

    def sessions(self, scope: Scope, limit: int = -1) -> list[SessionFacts]:
        """Sessions that hold a live turn, newest last turn first."""
        where, values = session_conditions(scope)
        rows = self.connection.execute(
            f"""SELECT {_SESSION}, o.path, o.gone,
                  (SELECT count(*) FROM turns t WHERE t.session_id = s.id AND t.status = 0) AS live
                FROM sessions s LEFT JOIN sources o ON o.id = s.source_id
                WHERE {where} AND live > 0 ORDER BY s.last IS NULL, s.last DESC, s.id LIMIT ?""",
            (*values, limit),
        )
        return [SessionFacts(_session(row), row["live"], row["path"], bool(row["gone"])) for row in rows]

    def session(self, name: str) -> SessionRow:
        """The session of a public id (``agent:native``), a native id, or an unambiguous beginning of either.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
        """
        agent, _, native = name.partition(":")  # a native id may hold a colon, an agent's name never does
        exact = self._sessions_like("s.native = ? OR (s.agent = ? AND s.native = ?)", (name, agent, native))
        found = exact or self._sessions_like(
            f"""{SEARCHED} AND (substr(s.native, 1, length(?)) = ?
               OR (s.agent = ? AND ? <> '' AND substr(s.native, 1, length(?)) = ?))""",
            (name, name, agent, native, native, native),
        )
        if not found or not name:
            raise NotFoundError(f"There is no session {name!r}.", hint="`raw-rag sessions` lists them.")
        if len(found) > 1:
            names = ", ".join(row.public_id for row in found[:5])
            raise UsageError(f"{name!r} may be any of {len(found)} sessions: {names}.", hint="Give more of its id.")
        return found[0]

    def _sessions_like(self, where: str, values: tuple[object, ...]) -> list[SessionRow]:
        rows = self.connection.execute(f"SELECT {_SESSION} FROM sessions s WHERE {where} LIMIT 6", values)
        return [_session(row) for row in rows]

    def session_rows(self, session_ids: Iterable[int]) -> dict[int, SessionRow]:
        """Sessions by row number."""
        rows = self._by_ids(f"SELECT {_SESSION} FROM sessions s WHERE s.id IN ({{}})", session_ids)
        return {row["id"]: _session(row) for row in rows}

    def source_path(self, source_id: int | None) -> str | None:
        """Where a source lies, or lay."""
        row = self.connection.execute("SELECT path FROM sources WHERE id = ?", (source_id,)).fetchone()
        return row[0] if row else None

    def fork_owner(self, session_id: int) -> str | None:
        """Native id of the session that owns the first turn this one only copies: what it was forked from."""
        row = self.connection.execute(
            """SELECT s.native FROM turns mine JOIN turns theirs ON theirs.key = mine.key AND theirs.status = 0
               JOIN sessions s ON s.id = theirs.session_id
               WHERE mine.session_id = ? AND mine.status = 1 AND theirs.session_id <> mine.session_id
               ORDER BY mine.ordinal LIMIT 1""",
            (session_id,),
        ).fetchone()
        return row[0] if row else None

    def children(self, session_id: int) -> list[int]:
        """Row numbers of a session's sub-agent sessions."""
        rows = self.connection.execute(
            """SELECT child.id FROM sessions child JOIN sessions s ON s.id = ? AND s.agent = child.agent
               WHERE child.parent = s.native AND child.parent_kind = 'subagent'""",
            (session_id,),
        )
        return [row[0] for row in rows]

    def session_ids(self, scope: Scope) -> list[int] | None:
        """Row numbers of the sessions a scope's session-wide sides allow; None: all."""
        where, values = session_conditions(scope)
        if where == SEARCHED or where == "1":  # a passing session has no chunks, so that it need not be kept out
            return None
        return [row[0] for row in self.connection.execute(f"SELECT s.id FROM sessions s WHERE {where}", values)]

    def was_active(self, scope: Scope) -> bool:
        """Whether a session of the scope had begun and had not ended in the scope's stretch of time. Roles are not looked at."""
        where, values = session_conditions(scope)
        when, times = time_conditions(scope, "s.started", "s.last")
        sql = f"SELECT 1 FROM sessions s WHERE {where} AND {when} LIMIT 1"
        return self.connection.execute(sql, (*values, *times)).fetchone() is not None

    def projects(self) -> list[tuple[str, int, Millis | None]]:
        """(project, sessions with a live turn, time of the last turn), newest first."""
        rows = self.connection.execute(
            f"""SELECT s.project, count(*), max(s.last) FROM sessions s
               WHERE s.project IS NOT NULL AND {SEARCHED}
                 AND EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.status = 0)
               GROUP BY s.project ORDER BY max(s.last) DESC, s.project"""
        )
        return [tuple(row) for row in rows]

    def project_names(self, limit: int) -> list[str]:
        """The projects of sessions with a live turn, newest first: what ``projects`` counts, without counting."""
        rows = self.connection.execute(
            f"""SELECT p.project FROM (SELECT project, max(last) AS last FROM sessions s
                                       WHERE project IS NOT NULL AND {SEARCHED} GROUP BY project) p
               WHERE EXISTS (SELECT 1 FROM sessions s JOIN turns t ON t.session_id = s.id AND t.status = 0
                             WHERE s.project = p.project AND {SEARCHED})
               ORDER BY p.last DESC, p.project LIMIT ?""",
            (limit,),
        )
        return [row[0] for row in rows]

    def session_names(self) -> list[str]:
        """Public ids of the sessions with a live turn, newest first: what ``sessions`` lists, without counting."""
        rows = self.connection.execute(
            f"""SELECT s.agent || ':' || s.native FROM sessions s
               WHERE {SEARCHED} AND EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.status = 0)
               ORDER BY s.last IS NULL, s.last DESC, s.id"""
        )
        return [row[0] for row in rows]

    # ------------------------------------------------------------ turns

    def turns(self, session_id: int, first: int = 1, last: int = 1 << 62) -> list[ShownTurn]:
        """Live turns of a session from number ``first`` to ``last``."""
        rows = self.connection.execute(
            f"""SELECT {_SHOWN} FROM turns t LEFT JOIN sources o ON o.id = t.source_id
                WHERE t.session_id = ? AND t.ordinal BETWEEN ? AND ? AND t.status = 0 ORDER BY t.ordinal""",
            (session_id, first, last),
        )
        return [_shown(row) for row in rows]

    def line_heads(self, session_id: int, first: int, last: int, chars: int) -> list[tuple[int, Role, str]]:
        """(number, speaker, beginning of the text) of live turns. A turn may be megabytes long, and only its head is wanted."""
        rows = self.connection.execute(
            """SELECT ordinal, role, substr(text, 1, ?) FROM turns
               WHERE session_id = ? AND ordinal BETWEEN ? AND ? AND status = 0 ORDER BY ordinal""",
            (chars, session_id, first, last),
        )
        return [(ordinal, Role(role), text) for ordinal, role, text in rows]

    def recent(self, scope: Scope, limit: int) -> list[ShownTurn]:
        """The last live turns of a scope by their own time, oldest first. Turns without a time count by their neighbours'."""
        where, values = session_conditions(scope)
        when, times = time_conditions(scope, "t.time", "t.time")
        roles = f"t.role IN ({', '.join('?' * len(scope.roles))})" if scope.roles else "1"
        rows = self.connection.execute(
            f"""SELECT {_SHOWN} FROM turns t JOIN sessions s ON s.id = t.session_id
                LEFT JOIN sources o ON o.id = t.source_id
                WHERE {where} AND {when} AND {roles} AND t.status = 0 AND t.time IS NOT NULL
                ORDER BY t.time DESC, t.session_id DESC, t.ordinal DESC LIMIT ?""",
            (*values, *times, *(role.value for role in scope.roles), limit),
        )
        return [_shown(row) for row in rows][::-1]

    # ------------------------------------------------------------ chunks

    def chunks(self, chunk_ids: Iterable[int]) -> dict[int, ChunkRow]:
        """Chunks by row number; the ones that no longer exist are missing."""
        rows = self._by_ids(f"SELECT {_CHUNK} FROM chunks c WHERE c.id IN ({{}})", chunk_ids)
        return {row["id"]: ChunkRow(*row) for row in rows}

    def chunks_after(self, chunk_id: int, limit: int = -1) -> Iterator[ChunkFacts]:
        """Chunks with a higher row number, in order: what an index that stands at ``chunk_id`` lacks."""
        rows = self.connection.execute(
            f"""SELECT {_CHUNK}, s.agent, s.project, s.cwd, s.branch FROM chunks c JOIN sessions s ON s.id = c.session_id
                WHERE c.id > ? ORDER BY c.id LIMIT ?""",
            (chunk_id, limit),
        )
        return (ChunkFacts(ChunkRow(*tuple(row)[:12]), *tuple(row)[12:]) for row in rows)

    def last_chunk(self) -> int:
        """Row number of the chunk that was made last, be it there or dropped by now; 0: none was ever made."""
        row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
        return int(row[0]) if row else 0

    def count_after(self, chunk_id: int, sequence: int, limit: int) -> int:
        """How many chunks, or deletions (whichever is more), came after the two, counted up to ``limit``."""
        chunks = "SELECT count(*) FROM (SELECT 1 FROM chunks WHERE id > ? LIMIT ?)"
        drops = "SELECT count(*) FROM (SELECT 1 FROM dropped_chunks WHERE sequence > ? LIMIT ?)"
        counts = ((chunks, chunk_id), (drops, sequence))
        return max(int(self.connection.execute(sql, (after, limit)).fetchone()[0]) for sql, after in counts)

    def chunk_numbers(self, last: int) -> list[int]:
        """Row numbers of all chunks up to ``last``, in order."""
        return [row[0] for row in self.connection.execute("SELECT id FROM chunks WHERE id <= ? ORDER BY id", (last,))]

    def dropped_after(self, sequence: int) -> list[tuple[int, int]]:
        """(sequence, chunk id) of the chunks deleted after ``sequence``."""
        rows = self.connection.execute(
            "SELECT sequence, chunk_id FROM dropped_chunks WHERE sequence > ? ORDER BY sequence", (sequence,)
        )
        return [(row[0], row[1]) for row in rows]

    # ------------------------------------------------------------ meta

    @property
    def generation(self) -> str:
        """The store's own name, given when it was made: derived files carry it, and are worthless beside another store."""
        return str(self.connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0])

    def _by_ids(self, sql: str, ids: Iterable[int]) -> Iterator[sqlite3.Row]:
        wanted = list(ids)
        for start in range(0, len(wanted), _SLICE):
            part = wanted[start : start + _SLICE]
            yield from self.connection.execute(sql.format(", ".join("?" * len(part))), part)


def session_conditions(scope: Scope) -> tuple[str, tuple[object, ...]]:
    """SQL over ``sessions s`` for the sides of a scope that a session has, and its values."""
    clauses: list[str] = [] if scope.passing else [SEARCHED]
    values: list[object] = []
    if scope.projects:
        folders = []
        for path in scope.projects:
            above = path.rstrip("/")
            for column in (
                "s.project",
                "s.cwd",
            ):  # what begins with a slash comes before what begins with the next sign, 0
                folders.append(f"{column} = ? OR ({column} >= ? AND {column} < ?)")
                values += [path, above + "/", above + "0"]
        clauses.append(f"({' OR '.join(folders)})")
    _one_of(clauses, values, "s.agent", scope.agents)
    _one_of(clauses, values, "s.id", scope.sessions)
    if scope.branch is not None:
        _one_of(clauses, values, "s.branch", (scope.branch,))
    return " AND ".join(clauses) or "1", tuple(values)


def _one_of(clauses: list[str], values: list[object], column: str, allowed: Sequence[object]) -> None:
    if allowed:
        clauses.append(f"{column} IN ({', '.join('?' * len(allowed))})")
        values += allowed


def time_conditions(scope: Scope, start: str, end: str) -> tuple[str, tuple[Millis, ...]]:
    """SQL for a stretch of time that overlaps the scope's, and its values."""
    clauses, values = [], []
    if scope.after is not None:
        clauses.append(f"{end} >= ?")
        values.append(scope.after)
    if scope.before is not None:
        clauses.append(f"{start} < ?")
        values.append(scope.before)
    return " AND ".join(clauses) or "1", tuple(values)


def _session(row: sqlite3.Row) -> SessionRow:
    session = SessionRow(*tuple(row)[: len(fields(SessionRow))])
    session.branched, session.forgotten = bool(session.branched), bool(session.forgotten)
    session.kept, session.passing = bool(session.kept), bool(session.passing)
    return session


def _shown(row: sqlite3.Row) -> ShownTurn:
    turn = ShownTurn(*row)
    turn.role, turn.abandoned, turn.source_gone = Role(turn.role), bool(turn.abandoned), bool(turn.source_gone)
    turn.record_ids = json.loads(row["record_ids"])
    return turn
