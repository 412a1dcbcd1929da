"""The last turns of a project, for a hook that has a tenth of a second: no schema check, no other module of ours, and an
end at the deadline. Whatever goes wrong is an ``sqlite3.Error``; the caller then says nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

SESSIONS = 6
TURNS = 60
"""Looked at in each session; far more than any hook's budget holds."""
STEPS = 2000
"""SQLite's virtual machine runs so many instructions between two looks at the clock: under a millisecond."""


class Glimpse(NamedTuple):
    """A session with its last live turns, oldest first."""

    agent: str
    native: str
    title: str | None
    last: int
    turns: list[Told]


class Told(NamedTuple):
    """A turn."""

    ordinal: int
    role: str
    time: int | None
    text: str
    tokens: int


def glance(path: str, folders: tuple[str, ...], remaining: Callable[[], float]) -> Iterator[Glimpse]:
    """The sessions of a project, the one last spoken in first; sub-agents' are left out.

    Args:
        path: The store.
        folders: What the project is called: the sessions' project, or the folder they were started in.
        remaining: Seconds until the deadline.

    Raises:
        sqlite3.Error: there is no store, it is locked, or the time is over.
    """
    if not os.path.exists(path):
        return
    connection = sqlite3.connect(path, timeout=max(remaining(), 0.0), isolation_level=None)
    with closing(connection):
        connection.set_progress_handler(lambda: remaining() <= 0, STEPS)
        connection.execute("PRAGMA query_only = ON")
        marks = ", ".join("?" * len(folders))
        rows = connection.execute(
            f"""SELECT id, agent, native, title, last FROM sessions
                WHERE (project IN ({marks}) OR cwd IN ({marks})) AND last IS NOT NULL AND forgotten = 0 AND passing = 0
                  AND parent_kind IS NOT 'subagent' ORDER BY last DESC LIMIT ?""",
            (*folders, *folders, SESSIONS),
        ).fetchall()
        for number, agent, native, title, last in rows:
            turns = connection.execute(
                """SELECT ordinal, role, time, text, tokens FROM turns
                   WHERE session_id = ? AND status = 0 AND abandoned = 0 ORDER BY ordinal DESC LIMIT ?""",
                (number, TURNS),
            ).fetchall()
            yield Glimpse(agent, native, title, last, [Told(*turn) for turn in reversed(turns)])
