"""Search over a mapped file: one pass over 8-bit codes, then the best candidates by their half-precision vectors.

Pages are given back on the way. They stay in the system's page cache, where the next pass finds them, but do not count as this
process's memory. Numbers: docs/explanation/decisions/004-vector-cache.md.
"""

from __future__ import annotations

import mmap
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.models import Millis
from agent_raw_rag.vectors.layout import BLOCK_ROWS, DATA_START, GONE, Columns, block_type, file_bytes

STEP_FLOATS = 400_000
"""A product is small enough that OpenBLAS makes it in the calling thread (its bound is 460,800): on a busy machine, waiting for
its other threads costs ten times what they give."""
SPARE = 384
"""Candidates beyond the limit that are scored exactly. Codes are off by about 0.0005, so that the deepest place a true one of
the best 128 of 100,000 had among them was 142."""
NOISE = 1e-6
"""Equal codes may score this much apart, by their place in the file."""
HELD_BLOCKS = 8
"""Blocks that are passed over between two returns of pages."""
EXACT_ROWS = 64
"""Rows that are picked out between two returns: the system maps up to 256 kB around each."""
_DONTNEED: int | None = getattr(mmap, "MADV_DONTNEED", None)

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
    """A fixed number of rows of a mapped file."""

    def __init__(self, mapped: mmap.mmap | None, rows: int, dim: int) -> None:
        self.rows = rows
        self._mapped = mapped
        self._step = max(1, STEP_FLOATS // dim)
        buffer = mapped if mapped is not None else bytearray(DATA_START)
        count = (file_bytes(rows, dim) - DATA_START) // block_type(dim).itemsize
        self._blocks: NDArray[Any] = np.ndarray(count, block_type(dim), buffer, offset=DATA_START)
        self.live = int(np.count_nonzero(self.fact("chunk") != GONE))

    def fact(self, name: str) -> NDArray[Any]:
        """One fact of every row, copied out of the file."""
        return self._blocks[name].reshape(-1)[: self.rows].copy()

    def pick(self, places: Places) -> Columns:
        """All columns of some rows."""
        names = self._blocks.dtype.names or ()
        return {name: self._blocks[name][places // BLOCK_ROWS, places % BLOCK_ROWS] for name in names}

    def search(self, query: Floats, limit: int, where: VectorFilter | None) -> tuple[Ids, Floats]:
        """Chunk ids and cosines of the nearest rows, best first, equal ones by id."""
        chunk = self.fact("chunk")
        keep = self._mask(chunk, where)
        count = min(limit, int(np.count_nonzero(keep)))
        if count < 1:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        near = self._candidates(query, keep, count + SPARE)
        scores = np.round(self._exact(query, near), 6)
        best = np.lexsort((chunk[near], -scores))[:count]
        return chunk[near[best]], scores[best].astype(np.float32)

    def _mask(self, chunk: Ids, where: VectorFilter | None) -> NDArray[np.bool_]:
        """Which rows may be found."""
        keep: NDArray[np.bool_] = chunk != GONE
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
        return kept[scores >= bound - NOISE]

    def _coarse(self, query: Floats, keep: NDArray[np.bool_]) -> Floats:
        """Cosines by codes. Steps without a row that may be found are passed over."""
        scores = np.zeros((len(self._blocks), BLOCK_ROWS), np.float32)
        wide = np.empty((min(self._step, BLOCK_ROWS), len(query)), np.float32)
        for number, codes in enumerate(self._blocks["code"]):
            first = number * BLOCK_ROWS
            for low in range(0, BLOCK_ROWS, self._step):
                high = min(low + self._step, BLOCK_ROWS)
                if keep[first + low : first + high].any():
                    part = wide[: high - low]
                    np.copyto(part, codes[low:high])
                    np.matmul(part, query, out=scores[number, low:high])
            if number % HELD_BLOCKS == 0:
                self._give_back()
        scores *= self._blocks["scale"]
        return scores.reshape(-1)[: self.rows]

    def _exact(self, query: Floats, places: Places) -> NDArray[np.float64]:
        """Cosines by half-precision vectors, summed in double precision."""
        scores = np.empty(len(places))
        for first in range(0, len(places), EXACT_ROWS):
            some = places[first : first + EXACT_ROWS]
            vectors = self._blocks["vector"][some // BLOCK_ROWS, some % BLOCK_ROWS]
            np.matmul(vectors.astype(np.float64), query.astype(np.float64), out=scores[first : first + len(some)])
            self._give_back()
        return scores

    def _give_back(self) -> None:
        """Let the mapped pages go, where the system can be told to."""
        if self._mapped is not None and _DONTNEED is not None:
            self._mapped.madvise(_DONTNEED)
