"""A session's family: what it was started from, and all that was started from it, sub-agents and forks."""

from __future__ import annotations

from dataclasses import dataclass

from agent_raw_rag.store.overview import Overview
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import SessionRow

MOST = 500
"""Sessions of one family that are shown."""
DEEPEST = 64
SUBAGENT, FORK, CONTINUED = "subagent", "fork", "continued"


@dataclass(frozen=True)
class Member:
    """One session of a family."""

    row: SessionRow
    parent: SessionRow | None
    kind: str | None
    """``subagent``, ``fork`` or ``continued``; None: it was started by itself."""


@dataclass(frozen=True)
class Family:
    """The members, each after its parent."""

    members: list[Member]
    complete: bool
    """Whether these are all."""


def family(reader: Reader, session: SessionRow) -> Family:
    """The whole family of a session, but for passing sessions and what is behind them."""
    overview = Overview(reader)
    root = _root(reader, overview, session)
    members, seen = [Member(root, None, None)], {root.id}
    for member in members:  # it grows meanwhile
        for child in overview.children(member.row):
            if child.id in seen or child.passing:
                continue
            if len(members) == MOST:
                return Family(members, False)
            seen.add(child.id)
            members.append(Member(child, member.row, _kind(child)))
    return Family(members, True)


def _root(reader: Reader, overview: Overview, session: SessionRow) -> SessionRow:
    seen = {session.id}
    for _ in range(DEEPEST):
        native = session.parent or reader.fork_owner(session.id)
        above = overview.named(session.agent, native) if native else None
        if above is None or above.id in seen or above.passing:
            break
        seen.add(above.id)
        session = above
    return session


def _kind(row: SessionRow) -> str:
    if row.parent is None:
        return FORK
    return row.parent_kind or CONTINUED
