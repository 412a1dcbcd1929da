"""Which rows may be found: a filter against the facts of a segment, before anything is multiplied."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.models import Millis
from agent_raw_rag.vectors.layout import GONE
from agent_raw_rag.vectors.mapping import Segment

MOST_TABLED = 1 << 24
"""Session ids below this are looked up in a table of bytes."""

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """What a chunk must be to be found. None: anything; an empty collection: nothing."""

    sessions: Collection[int] | None = None
    after: Millis | None = None
    before: Millis | None = None
    """The chunk overlaps [after, before). A chunk without a time is outside every range."""
    roles: int = 0
    """Any of these bits; 0: any role."""


class Sessions:
    """Session ids to look rows up in."""

    def __init__(self, sessions: Collection[int]) -> None:
        self._ids = np.fromiter(sessions, np.int64, len(sessions))
        self._end = int(self._ids.max(initial=-1)) + 1
        self._table: Mask | None = None
        if self._end <= MOST_TABLED and self._ids.min(initial=0) >= 0:
            self._table = np.zeros(self._end + 1, np.bool_)
            self._table[self._ids] = True

    def hold(self, sessions: Ids) -> Mask:
        """Which of these are among them."""
        if self._table is None:
            return np.isin(sessions, self._ids)
        return self._table[
            np.minimum(sessions.view(np.uint64), np.uint64(self._end))
        ]  # negative ones are beyond the end


def passing(segment: Segment, where: VectorFilter | None, allowed: Sessions | None) -> Mask:
    """Which rows of a segment may be found, [blocks, rows]."""
    blocks = segment.blocks
    keep: Mask = blocks["chunk"] != GONE
    keep.reshape(-1)[segment.rows :] = False
    if where is None:
        return keep
    if allowed is not None:
        keep &= allowed.hold(blocks["session"])
    if where.after is not None:
        keep &= blocks["end"] >= where.after
    if where.before is not None:
        keep &= blocks["start"] < where.before
    if where.roles:
        keep &= (blocks["roles"] & np.uint32(where.roles)) != 0
    return keep
