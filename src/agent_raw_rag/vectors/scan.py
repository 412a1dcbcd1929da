"""Search over a file of blocks: ceilings by 8-bit codes, then the rows that may be among the best by their vectors. Exact.

Rows are scored by their half-precision vectors, the highest ceilings first, until no ceiling reaches the last score that counts.
Numbers: docs/explanation/decisions/004-vector-cache.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.vectors.ceilings import Floats, Query, ceilings, lowered
from agent_raw_rag.vectors.filters import Ids, VectorFilter
from agent_raw_rag.vectors.layout import GONE, WIDENED
from agent_raw_rag.vectors.mapping import Mapping, Places

__all__ = ["Floats", "Ids", "Query", "VectorFilter", "search"]

FEW = 256
"""Rows that are scored without asking whether their ceilings can be lowered."""
SCORED = 4096
"""Rows scored at a time, after the first ones."""
GROUP = 128
"""Rows of which the highest ceiling is taken, to find the highest of all without sorting all."""
SIX_DIGITS = 1e-6
"""Scores have six digits: a row may score half of this more than its vector says."""


def search(rows: Mapping, query: Query, limit: int, where: VectorFilter | None) -> tuple[Ids, Floats]:
    """Chunk ids and cosines of the nearest rows, best first, equal ones by id.

    Raises:
        StoreError: the file was cut short.
    """
    rows.check()
    if limit < 1:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    near, scores = _nearest(rows, query, ceilings(rows, query, where), limit)
    chunks = rows.chunks(near)
    best = np.lexsort((chunks, -scores))
    best = best[chunks[best] != GONE][:limit]  # dropped while this search went on
    return chunks[best], scores[best].astype(np.float32)


def _nearest(rows: Mapping, query: Query, high: Floats, limit: int) -> tuple[Places, NDArray[np.float64]]:
    """Places and scores, in no order, of the best ``limit`` rows and some more, all that equal the last of them included.
    ``high`` is used up."""
    near = _highest(high, limit)
    scores = _scores(rows, query, near)
    high[near] = -np.inf
    left = np.flatnonzero(high >= _reach(scores, limit))
    if len(left) > FEW:
        high[left] = lowered(rows, query, high[left], left)
        left = left[high[left] >= _reach(scores, limit)]
    while len(left):
        part = left[_highest(high[left], SCORED)]
        high[part] = -np.inf
        near, scores = np.concatenate([near, part]), np.concatenate([scores, _scores(rows, query, part)])
        good = scores >= _last(scores, limit)
        near, scores = near[good], scores[good]
        left = left[high[left] >= _reach(scores, limit)]
    return near, scores


def _highest(high: Floats, limit: int) -> Places:
    """Places of the ``limit`` highest that are not -inf; some more where several equal the last one."""
    whole = len(high) // GROUP * GROUP
    tops = np.append(high[:whole].reshape(-1, GROUP).max(axis=1), high[whole:])
    bound = _last(tops, limit)  # so many are at least as high
    some = np.flatnonzero((high >= bound) & (high > -np.inf))
    return some[high[some] >= _last(high[some], limit)]


def _last(scores: NDArray[Any], limit: int) -> float:
    """The ``limit``-th highest; -inf: there are not so many."""
    if len(scores) < limit:
        return -np.inf
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _reach(scores: NDArray[np.float64], limit: int) -> np.float32:
    """The ceiling that a row must have to come among the best ``limit``, given what some score. Just above -inf at least."""
    least = np.float32(_last(scores, limit) - SIX_DIGITS)
    return max(np.nextafter(least, np.float32(-np.inf)), np.finfo(np.float32).min)


def _scores(rows: Mapping, query: Query, places: Places) -> NDArray[np.float64]:
    """Cosines by half-precision vectors, summed in double precision, a row like any other, to six digits."""
    found = np.empty(len(places))
    step = max(1, WIDENED // rows.dim)
    for low in range(0, len(places), step):
        wide = rows.vectors(places[low : low + step]).astype(np.float64)
        np.einsum("nd,d->n", wide, query.vector, out=found[low : low + step])
    return np.round(found, 6)
