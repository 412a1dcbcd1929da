"""The order of a session whose source is read whole, or again: the source's order, and in it what the source no longer holds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from agent_raw_rag.ingest.changes import Changes
from agent_raw_rag.models import Role
from agent_raw_rag.store.rows import SessionRow, TurnRow
from agent_raw_rag.store.writer import Writer

Key = TypeVar("Key", bound=Hashable)


def merge_order(stored: Sequence[Key], read: Sequence[Key]) -> list[Key]:
    """``read`` in its order; each key that only ``stored`` has follows the key it followed there."""
    in_source = set(read)
    after: dict[Key | None, list[Key]] = {}
    anchor: Key | None = None
    for key in stored:
        if key in in_source:
            anchor = key
        else:
            after.setdefault(anchor, []).append(key)
    merged = list(after.get(None, []))
    for key in dict.fromkeys(read):
        merged.append(key)
        merged.extend(after.get(key, []))
    return merged


def merge_whole(changes: Changes, session: SessionRow, read: list[bytes]) -> None:
    """Renumber a session's turns after all of its source's turns were placed, if their order asks for it."""
    rows = changes.writer.turns_of(session.id)
    by_key = {row.key: row for row in rows}
    order = merge_order([row.key for row in rows], [key for key in read if key in by_key])
    session.exchange, changed = renumber(changes.writer, [by_key[key] for key in order])
    if changed is not None:
        changes.touch(session.id, changed)


def reorder(writer: Writer, session: SessionRow, source_id: int, *, by_place: bool) -> int | None:
    """Renumber a session whose source was read again, without gaps. Saves the session; returns the first number that changed.

    ``by_place``: the source's order is that of its bytes. A document's or a database's is not: it is merged already.
    """
    rows = writer.turns_of(session.id)
    placed = [row for row in rows if row.source_id == source_id and row.start is not None]
    if by_place:
        placed.sort(key=_place)
    by_key = {row.key: row for row in rows}
    order = [by_key[key] for key in merge_order([row.key for row in rows], [row.key for row in placed])]
    numbers = {row.ordinal: number for number, row in enumerate(order, start=1)}
    exchange, changed = renumber(writer, order)
    for row in order:
        parent = row.branch_from and numbers.get(row.branch_from)
        if parent != row.branch_from:
            writer.set_branch(row.id, parent)
    if changed is None and len(order) != session.turns:
        changed = len(order) + 1
    session.turns, session.exchange = len(order), exchange
    writer.save_session(session)
    return changed


def renumber(writer: Writer, order: Sequence[TurnRow]) -> tuple[int, int | None]:
    """Give turns their numbers and exchanges in this order. Returns the last exchange and the first number that changed."""
    exchange, changed = 0, None
    for number, row in enumerate(order, start=1):
        exchange += row.role in (Role.USER, Role.TASK)
        if (row.ordinal, row.exchange) != (number, exchange):
            writer.renumber(row.id, number, exchange)
            changed = min(changed or number, number, row.ordinal)
    return exchange, changed


def _place(row: TurnRow) -> tuple[int, int]:
    return (row.start or 0, row.ordinal)
