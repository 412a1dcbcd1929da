"""Where a turn goes: a new row, the row it already has, or nowhere because it is stored already.

A turn of the same key in the same session is the same turn. Its row is rewritten only if it says something else and
either stands at the same place of the log (an open turn that grew), was open, or lost its place (its file was
rewritten), or if its source is being read again on demand. A settled turn that is met again elsewhere is a repetition
inside the log.
"""

from __future__ import annotations

from agent_raw_rag.ingest.changes import Changes
from agent_raw_rag.ingest.copies import resolve_copy
from agent_raw_rag.models import CleanTurn
from agent_raw_rag.store.rows import SessionRow, Status, TurnRow, text_hash
from agent_raw_rag.store.writer import MARKED


def place_turn(changes: Changes, turn: CleanTurn) -> TurnRow | None:
    """Store one turn; returns its row if it is new."""
    session = changes.session(turn.session)
    holders = changes.writer.holders(changes.agent, turn.key)
    mine = next((row for row in holders if row.session_id == session.id), None)
    if mine is not None:
        _again(changes, mine, turn)
        return None
    return _new(changes, session, turn, holders)


def _new(changes: Changes, session: SessionRow, turn: CleanTurn, holders: list[TurnRow]) -> TurnRow:
    _note_time(session, turn)
    forgotten = session.forgotten or any(row.status is Status.FORGOTTEN for row in holders)
    row = changes.writer.insert_turn(session, turn, changes.source_id, Status.FORGOTTEN if forgotten else Status.LIVE)
    if not forgotten:
        changes.touch(session.id, row.ordinal)
        resolve_copy(changes, row, holders)
    if turn.branch_from:
        parent = changes.writer.find_record(session.id, turn.branch_from)
        if parent is not None and parent < row.ordinal - 1:
            changes.writer.set_branch(row.id, parent)
            session.branched = True
    return row


def _note_time(session: SessionRow, turn: CleanTurn) -> None:
    if turn.time is not None:
        session.started = turn.time if session.started is None else session.started
        session.last = turn.time if session.last is None else max(session.last, turn.time)


def _again(changes: Changes, mine: TurnRow, turn: CleanTurn) -> None:
    if mine.status is Status.FORGOTTEN:
        return
    ours = mine.source_id == changes.source_id
    marked = ours and mine.end == MARKED
    same_place = (ours and (changes.whole or mine.start == turn.start)) or changes.is_better_than(mine.source_id)
    homeless = (ours and mine.start is None) or mine.source_id in changes.gone
    says_else = (text_hash(turn.text), not turn.settled, turn.role) != (mine.text_hash, mine.open, mine.role)
    if mine.open or marked or (same_place and says_else):
        changes.writer.update_turn(mine, turn, changes.source_id)
        _note_time(changes.session_by_id(mine.session_id), turn)
        if mine.status is Status.LIVE and says_else:
            changes.touch(mine.session_id, mine.ordinal)
    elif (homeless or same_place) and (mine.start, mine.end) != (turn.start, turn.end):
        changes.writer.move_turn(mine.id, changes.source_id, turn.start, turn.end)
