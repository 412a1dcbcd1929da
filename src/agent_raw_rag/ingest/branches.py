"""Which turns are no longer part of the conversation: abandoned branches of tree logs, and rollbacks. They are kept, marked."""

from __future__ import annotations

from agent_raw_rag.ingest.reading import Mark
from agent_raw_rag.models import Role
from agent_raw_rag.store.rows import SessionRow, TurnRow
from agent_raw_rag.store.writer import Writer

BRANCH = 1
"""The mark of an abandoned branch. Rollbacks mark with their place in the log + 2, so that one read again marks the same."""


def mark_branches(writer: Writer, session: SessionRow) -> None:
    """The live path leads from the last turn to the root; all other turns are abandoned."""
    turns = writer.turns_of(session.id)
    path = live_path([turn.branch_from for turn in turns])
    writer.set_abandoned(session.id, (turn.ordinal for turn in turns if turn.ordinal not in path), BRANCH)
    writer.set_abandoned(session.id, path, 0)


def live_path(branch_from: list[int | None]) -> set[int]:
    """Numbers of the turns on the way from the last one to the first. ``branch_from[i]`` is the parent of turn i + 1 where
    that is not turn i."""
    path: set[int] = set()
    ordinal = len(branch_from)
    while ordinal > 0 and ordinal not in path:
        path.add(ordinal)
        parent = branch_from[ordinal - 1]
        ordinal = ordinal - 1 if parent is None else parent
    return path


def roll_back(writer: Writer, session: SessionRow, mark: Mark, key_of_last: bytes | None) -> None:
    """Mark what a rollback took back: the last exchanges before it, or all from a record on."""
    turns = _until(writer.turns_of(session.id), key_of_last)
    value = mark.position + 2
    if mark.rollback.from_record is not None:
        first = writer.find_record(session.id, mark.rollback.from_record)
        taken = [turn.ordinal for turn in turns if first is not None and turn.ordinal >= first]
    else:
        taken = _last_exchanges(turns, mark.rollback.exchanges, value)
    writer.set_abandoned(session.id, taken, value)


def _until(turns: list[TurnRow], key: bytes | None) -> list[TurnRow]:
    """The turns up to the one that stands right before the mark."""
    last = next((turn.ordinal for turn in turns if turn.key == key), None)
    return turns if last is None else turns[:last]


def _last_exchanges(turns: list[TurnRow], exchanges: int, value: int) -> list[int]:
    taken: list[int] = []
    for turn in reversed(turns):
        if exchanges <= 0:
            break
        if turn.abandoned and turn.abandoned != value:
            continue
        taken.append(turn.ordinal)
        exchanges -= turn.role in (Role.USER, Role.TASK)
    return taken
