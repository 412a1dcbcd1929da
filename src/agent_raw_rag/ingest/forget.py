"""Forgetting on demand: a session, a project, a stretch of time. Text, chunks and vectors go; tombstones stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


Also = Callable[[Connection, Forgotten], None]
"""What else is to be done in the transaction that forgets."""


def nothing_else(connection: Connection, forgotten: Forgotten) -> None:
    """Only forget."""


def forget(committer: Committer, scope: Scope, *, dry_run: bool = False, also: Also = nothing_else) -> Forgotten:
    """Forget everything in a scope. Whole sessions of logs (a scope without a time range) stay closed: what their logs add later
    is forgotten on arrival. What somebody captures later is told anew, and on purpose. The caller holds the writer lock, and
    removes the traces afterwards: see ``store.forget``."""
    connection = committer.writer.connection
    turns = tombs.turns_in(connection, scope)
    sessions = {session for _, session, _ in turns}
    forgotten = Forgotten(len(sessions), len(turns))
    if dry_run:
        return forgotten
    with transaction(connection):
        touched = tombs.blank(connection, (turn for turn, _, _ in turns))
        if scope.after is None and scope.before is None:
            tombs.close_sessions(connection, Reader(connection).session_ids(scope) or sessions)
        for session_id in touched:
            session = committer.writer.session_by_id(session_id)
            recut(committer.writer, session, 1, committer.tokenizer, committer.windows)
            committer.writer.save_session(session)
        forget_unused(connection)
        tombs.set_traces(connection)
        also(connection, forgotten)
    return forgotten


def with_sub_agents(reader: Reader, session_id: int) -> tuple[int, ...]:
    """A session and all sub-agent sessions below it."""
    found = [session_id]
    for number in found:
        found += [child for child in reader.children(number) if child not in found]
    return tuple(found)
