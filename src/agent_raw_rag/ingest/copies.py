"""Who owns a turn that stands in several sessions (forks, resumes, copied logs), in whatever order they are read.

The session that began first owns it, by (start, declared fork, native id). The others keep a row without text. When an
owner turns up after a copy was stored, the copy gives its text up and its session is cut again.

Some resumes write the history anew with new ids for what the human said, but the same ids for what the model said.
Then the human's turn is recognised by its place: equal words right before a turn that is known to be a copy.
"""

from __future__ import annotations

from agent_raw_rag.ingest.changes import Changes
from agent_raw_rag.models import Role
from agent_raw_rag.store.rows import SessionRow, Status, TurnRow

_LATE = 1 << 62


def resolve_copy(changes: Changes, row: TurnRow, holders: list[TurnRow]) -> None:
    """Decide between a new live turn and the rows that other sessions have of it."""
    owner = next((other for other in holders if other.status is Status.LIVE), None)
    if owner is None:
        return
    _, loser = _ranked(changes, row, owner)
    _give_up(changes, loser)
    for other in holders:
        _align_before(changes, row, other)
    if loser is row:
        row.status = Status.COPY


def rank(session: SessionRow) -> tuple[int, bool, str]:
    """Sessions in the order in which they own turns. Depends on what they are, not on when they were read."""
    started = session.started if session.started is not None else _LATE
    return (started, session.parent_kind == "fork", session.native)


def _ranked(changes: Changes, one: TurnRow, two: TurnRow) -> tuple[TurnRow, TurnRow]:
    if rank(changes.session_by_id(one.session_id)) <= rank(changes.session_by_id(two.session_id)):
        return one, two
    return two, one


def _give_up(changes: Changes, row: TurnRow) -> None:
    changes.writer.set_status(row.id, Status.COPY)
    changes.given_up += 1
    changes.touch(row.session_id, row.ordinal)


def _align_before(changes: Changes, one: TurnRow, two: TurnRow) -> None:
    """The human's words right before two rows of one turn are one turn as well, if they are equal."""
    before_one = changes.writer.turn_at(one.session_id, one.ordinal - 1)
    before_two = changes.writer.turn_at(two.session_id, two.ordinal - 1)
    if before_one is None or before_two is None or before_one.key == before_two.key:
        return
    speakers = {before_one.role, before_two.role}
    live = before_one.status is Status.LIVE and before_two.status is Status.LIVE
    if live and speakers == {Role.USER} and before_one.text_hash == before_two.text_hash:
        _give_up(changes, _ranked(changes, before_one, before_two)[1])
