"""Forgetting on demand: a session, a project, a stretch of time. Text, chunks and vectors go; tombstones stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_raw_rag.errors import ProtectedError
from agent_raw_rag.ingest.commit import Committer
from agent_raw_rag.ingest.recut import recut
from agent_raw_rag.store import forget as tombs
from agent_raw_rag.store.connection import Connection, transaction
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.vectors import forget_unused


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten."""

    sessions: int
    turns: int
    shielded: int = 0
    """Kept sessions that the filters meant too, and that were left as they are."""


Also = Callable[[Connection, Forgotten], None]
"""What else is to be done in the transaction that forgets."""


def nothing_else(connection: Connection, forgotten: Forgotten) -> None:
    """Only forget."""


def forget(
    committer: Committer, scope: Scope, *, dry_run: bool = False, kept: bool = False, also: Also = nothing_else
) -> Forgotten:
    """Forget everything in a scope. Whole sessions of logs (a scope without a time range) stay closed: what their logs add later
    is forgotten on arrival. What somebody captures later is told anew, and on purpose. The caller holds the writer lock, and
    removes the traces afterwards: see ``store.forget``.

    Kept sessions are passed over, with their sub-agents and with what others only copied from them; with ``kept`` they are not.

    Raises:
        ProtectedError: the scope names a session that is kept, or one of its family.
    """
    connection = committer.writer.connection
    scope = replace(scope, passing=True)
    shield = frozenset() if kept else shielded(Reader(connection))
    if shield & set(scope.sessions):
        raise _protected(Reader(connection), shield & set(scope.sessions))
    turns = tombs.turns_in(connection, scope)
    meant = {session for _, session, _ in turns}
    turns = tombs.outside(connection, turns, shield)
    sessions = {session for _, session, _ in turns}
    forgotten = Forgotten(len(sessions), len(turns), len(meant & shield))
    if dry_run:
        return forgotten
    with transaction(connection):
        touched = tombs.blank(connection, (turn for turn, _, _ in turns))
        if scope.after is None and scope.before is None:
            whole = set(Reader(connection).session_ids(scope) or sessions)
            tombs.close_sessions(connection, sorted(whole - shield))
        for session_id in touched:
            session = committer.writer.session_by_id(session_id)
            recut(committer.writer, session, 1, committer.tokenizer, committer.windows)
            committer.writer.save_session(session)
        forget_unused(connection)
        tombs.set_traces(connection)
        also(connection, forgotten)
    return forgotten


def shielded(reader: Reader) -> frozenset[int]:
    """The sessions that no filter may take: those that are kept, and their sub-agents."""
    kept = tombs.kept_sessions(reader.connection)
    return frozenset(number for session in kept for number in with_sub_agents(reader, session))


def _protected(reader: Reader, kept: frozenset[int]) -> ProtectedError:
    names = ", ".join(row.public_id for row in reader.session_rows(sorted(kept)[:3]).values())
    return ProtectedError(
        f"Kept, and protected: {names}.",
        hint="`raw-rag keep --off` lets it go; `raw-rag forget --kept` forgets it at once.",
    )


def with_sub_agents(reader: Reader, session_id: int) -> tuple[int, ...]:
    """A session and all sub-agent sessions below it."""
    found = [session_id]
    for number in found:
        found += [child for child in reader.children(number) if child not in found]
    return tuple(found)
