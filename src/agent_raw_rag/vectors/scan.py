"""Search over a file of blocks: one pass over the 8-bit codes, then the best candidates by their half-precision vectors.

Reads instead of mapping: pages that a search maps count as this process's memory until they are given back, and mapping them
again costs more than copying them does. Numbers: docs/explanation/decisions/004-vector-cache.md.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.errors import StoreError
from agent_raw_rag.models import Millis
from agent_raw_rag.vectors.layout import BLOCK_ROWS, GONE, Columns, block_place, block_type

STEP_FLOATS = 400_000
"""A product is small enough that OpenBLAS makes it in the calling thread (its bound is 460,800): on a busy machine, waiting for
its other threads costs ten times what they give."""
SPARE = 128
"""Candidates beyond the limit that are scored exactly. Codes are off by about 0.0005: the deepest place that one of the true best
128 of 100,000 had by its code was 142 for random vectors, and 185 in clusters of hundreds that all but coincide."""
NOISE = 1e-6
"""Equal codes may score this much apart, by their place in the file."""
Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Places = NDArray[np.intp]


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
    """A fixed number of rows of an open file."""

    def __init__(self, descriptor: int | None, rows: int, dim: int) -> None:
        """``descriptor`` is duplicated: the view keeps its file, whatever takes the file's place. None: there are no rows."""
        self.rows = rows
        self._dim = dim
        self._step = max(1, STEP_FLOATS // dim)
        self._kind = block_type(dim)
        self._offsets = {name: int(field[1]) for name, field in (self._kind.fields or {}).items()}
        self._descriptor = -1 if descriptor is None else os.dup(descriptor)
        if descriptor is not None:
            weakref.finalize(self, os.close, self._descriptor)
        self.chunk: Ids = self.fact("chunk")
        self.live = int(np.count_nonzero(self.chunk != GONE))
        self._scale: Floats = self.fact("scale")

    def fact(self, name: str) -> NDArray[Any]:
        """One fact of every row."""
        found = np.empty(self.rows, self._kind[name].base)
        for first in range(0, self.rows, BLOCK_ROWS):
            self._read(found[first : first + BLOCK_ROWS], first, name)
        return found

    def blocks(self) -> Iterator[Columns]:
        """All columns, block by block."""
        block = np.empty(1, self._kind)
        for first in range(0, self.rows, BLOCK_ROWS):
            self._fill(block.view(np.uint8).data, block_place(first, self._dim))
            yield {name: block[name][0, : self.rows - first] for name in self._offsets}

    def search(self, query: Floats, limit: int, where: VectorFilter | None) -> tuple[Ids, Floats]:
        """Chunk ids and cosines of the nearest rows, best first, equal ones by id."""
        keep = self._mask(where)
        count = min(limit, int(np.count_nonzero(keep)))
        if count < 1:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        near = self._candidates(query, keep, count + SPARE)
        scores = np.round(self._exact(query, near), 6)
        best = np.lexsort((self.chunk[near], -scores))[:count]
        return self.chunk[near[best]], scores[best].astype(np.float32)

    def _mask(self, where: VectorFilter | None) -> NDArray[np.bool_]:
        """Which rows may be found."""
        keep: NDArray[np.bool_] = self.chunk != GONE
        if where is None:
            return keep
        if where.sessions is not None:
            keep &= np.isin(self.fact("session"), np.fromiter(where.sessions, np.int64, len(where.sessions)))
        if where.after is not None:
            keep &= self.fact("end") >= where.after
        if where.before is not None:
            keep &= self.fact("start") < where.before
        if where.roles:
            keep &= (self.fact("roles") & np.uint32(where.roles)) != 0
        return keep

    def _candidates(self, query: Floats, keep: NDArray[np.bool_], wanted: int) -> Places:
        """Places of the best rows by their codes, ascending, with all that equal the last of them."""
        kept = np.flatnonzero(keep)
        if wanted >= len(kept):
            return kept
        scores = self._coarse(query, keep)[kept]
        bound = np.partition(scores, len(kept) - wanted)[len(kept) - wanted]
        near: Places = kept[scores >= bound - NOISE]
        return near

    def _coarse(self, query: Floats, keep: NDArray[np.bool_]) -> Floats:
        """Cosines by codes. Blocks without a row that may be found are passed over."""
        scores = np.zeros(self.rows, np.float32)
        codes = np.empty((BLOCK_ROWS, self._dim), np.int8)
        wide = np.empty((min(self._step, BLOCK_ROWS), self._dim), np.float32)
        for first in range(0, self.rows, BLOCK_ROWS):
            count = min(BLOCK_ROWS, self.rows - first)
            if not keep[first : first + count].any():
                continue
            self._read(codes[:count], first, "code")
            for low in range(0, count, self._step):
                part = wide[: min(self._step, count - low)]
                np.copyto(part, codes[low : low + len(part)])
                np.matmul(part, query, out=scores[first + low : first + low + len(part)])
        scores *= self._scale
        return scores

    def _exact(self, query: Floats, places: Places) -> NDArray[np.float64]:
        """Cosines by half-precision vectors, summed in double precision."""
        vectors = np.empty((len(places), self._dim), np.float16)
        for vector, place in zip(vectors, places.tolist(), strict=True):
            self._read(vector, place, "vector")
        scores: NDArray[np.float64] = vectors.astype(np.float64) @ query.astype(np.float64)
        return scores

    def _read(self, column: NDArray[Any], first: int, name: str) -> None:
        """A column's entries from row ``first`` on, within its block."""
        width = self._kind[name].itemsize // BLOCK_ROWS
        place = block_place(first, self._dim) + self._offsets[name] + first % BLOCK_ROWS * width
        self._fill(column.view(np.uint8).data, place)

    def _fill(self, buffer: memoryview, place: int) -> None:
        if os.preadv(self._descriptor, [buffer], place) != buffer.nbytes:
            raise StoreError("The vector cache was cut short while in use.", hint="Delete its file; it is built anew.")
