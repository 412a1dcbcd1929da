"""Exact search over mapped records: filters on columns in memory, one pass of BLAS over the vectors in blocks.

Pages are given back block by block. They stay in the system's page cache, where the next pass finds them, but do not count as
this process's memory: 100,000 vectors of 384 dimensions are 160 MB that a search does not hold (docs: decisions/004).
"""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.models import Millis
from agent_raw_rag.vectors.layout import DATA_START, GONE, record_type

BLOCK_FLOATS = 400_000
"""A block is small enough that OpenBLAS multiplies it in the calling thread (its bound is 460,800): on a busy machine, waiting
for its other threads costs ten times what they give."""
GATHER_ROWS = 64
"""Rows that are picked out between two returns of pages: the system maps up to 256 kB around each."""
GATHER_SHARE = 0.2
"""Below this share of rows, picking them out is cheaper than passing over all (measured break-even)."""
SPARE = 32
"""Candidates beyond the limit: single precision may swap neighbours, the exact pass puts them right."""

FACTS = ("chunk", "session", "start", "end", "roles")
_DONTNEED: int | None = getattr(mmap, "MADV_DONTNEED", None)

Floats = NDArray[np.float32]
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


class View:
    """A fixed number of records of a mapped file, and their facts as columns in memory."""

    def __init__(
        self, mapped: mmap.mmap | None, rows: int, dim: int, known: View | None = None, *, edited: bool = False
    ) -> None:
        """``known``: an older view of the same file, to read only what is new; ``edited``: rows were dropped since."""
        self.mapped = mapped
        self.rows = rows
        buffer = mapped if mapped is not None else bytearray(DATA_START)
        self.records: NDArray[Any] = np.ndarray(rows, record_type(dim), buffer, offset=DATA_START)
        self.vectors: Floats = self.records["vector"]
        self._step = max(1, BLOCK_FLOATS // dim)
        self.facts = self._read(known.rows if known else 0, FACTS)
        if known:
            self.facts = {name: np.concatenate([known.facts[name], fresh]) for name, fresh in self.facts.items()}
        if known and edited:
            self.facts |= self._read(0, ("chunk",))
        self.chunk: Ids = self.facts["chunk"]

    def mask(self, where: VectorFilter | None) -> Mask:
        """Which rows may be found."""
        keep: Mask = self.chunk != GONE
        if where is None:
            return keep
        if where.sessions is not None:
            keep &= np.isin(self.facts["session"], np.fromiter(where.sessions, np.int64, len(where.sessions)))
        if where.after is not None:
            keep &= self.facts["end"] >= where.after
        if where.before is not None:
            keep &= self.facts["start"] < where.before
        if where.roles:
            keep &= (self.facts["roles"] & np.uint32(where.roles)) != 0
        return keep

    def search(self, query: Floats, limit: int, where: VectorFilter | None) -> tuple[Ids, Floats]:
        """Chunk ids and cosines of the nearest rows, best first, equal ones by id."""
        kept = np.flatnonzero(self.mask(where))
        count = min(limit, len(kept))
        if count < 1:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        scores = self._gathered(query, kept) if len(kept) < GATHER_SHARE * self.rows else self._scanned(query)[kept]
        wide = min(count + SPARE, len(kept))
        near = np.sort(kept[np.argpartition(scores, len(kept) - wide)[len(kept) - wide :]])
        exact = np.round(self._gathered(query.astype(np.float64), near), 6)
        best = np.lexsort((self.chunk[near], -exact))[:count]
        return self.chunk[near[best]], exact[best].astype(np.float32)

    def _scanned(self, query: Floats) -> Floats:
        """Cosines of all rows."""
        scores = np.empty(self.rows, np.float32)
        for first, last in _blocks(0, self.rows, self._step):
            np.matmul(self.vectors[first:last], query, out=scores[first:last])
            self._give_back()
        return scores

    def _gathered(self, query: NDArray[Any], kept: NDArray[np.intp]) -> NDArray[Any]:
        """Cosines of some rows, given in order, in the precision of the query."""
        scores = np.empty(len(kept), query.dtype)
        for first, last in _blocks(0, len(kept), GATHER_ROWS):
            np.matmul(self.vectors[kept[first:last]].astype(query.dtype, copy=False), query, out=scores[first:last])
            self._give_back()
        return scores

    def _read(self, start: int, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Columns of facts from a row on."""
        made = {name: np.empty(self.rows - start, self.records[name].dtype) for name in names}
        for first, last in _blocks(start, self.rows, self._step):
            for name, column in made.items():
                column[first - start : last - start] = self.records[name][first:last]
            self._give_back()
        return made

    def _give_back(self) -> None:
        """Let the mapped pages go, where the system can be told to."""
        if self.mapped is not None and _DONTNEED is not None:
            self.mapped.madvise(_DONTNEED)


def _blocks(start: int, end: int, step: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + step, end)) for first in range(start, end, step))
