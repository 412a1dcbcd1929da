"""Search over a file of blocks: one pass over the 8-bit codes, then the rows that may be among the best by their vectors. Exact.

A row x has a code c and a scale s, the query q a code d and a scale t. What a row scores is bounded by what is known of it:

    q.x = (t d).(s c) + (q - t d).(s c) + q.(x - s c) <= st (d.c) + |q - t d| |s c| + |q| |x - s c|

``d.c`` is a whole number; the lengths stand in the file. This ceiling is computed for every row that passes the filter. Rows are
then scored by their half-precision vectors, the highest ceilings first, until no ceiling reaches the last score that counts.
Numbers: docs/explanation/decisions/004-vector-cache.md.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.models import Millis
from agent_raw_rag.vectors.kernel import Codes, Dots, kernel
from agent_raw_rag.vectors.layout import BLOCK_ROWS, GONE, quantised
from agent_raw_rag.vectors.mapping import Mapping, Places, Segment

SPARSE = BLOCK_ROWS // 8
"""Of a block with fewer rows that pass, those rows are gathered: that costs four times as much a row as passing over all."""
GATHERED = 4096
"""Rows gathered at a time."""
SCORED = 4096
"""Rows scored at a time, after the first ones."""
WIDENED = 100_000
"""Numbers in double precision at a time: they stay in the processor's cache."""
GROUP = 128
"""Rows of which the highest ceiling is taken, to find the highest of all without sorting all."""
MOST_TABLED = 1 << 24
"""Session ids below this are looked up in a table of bytes."""
ROUNDING = 1e-6
"""Single precision adds less than this share of a ceiling's parts; and scores, which have six digits, half of it."""

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


@dataclass(frozen=True, slots=True)
class Query:
    """A query's vector, its code, and by how much ceilings must be raised."""

    vector: NDArray[np.float64]
    code: Codes
    scale: np.float32
    per_slack: np.float32
    """For each unit of a row's ``slack``,"""
    per_length: np.float32
    """and of its ``length``."""

    @classmethod
    def of(cls, vector: NDArray[Any]) -> Query:
        """Of any vector [dim]."""
        wide = np.asarray(vector, np.float32).astype(np.float64)
        coded = quantised(wide[None])
        length = float(np.sqrt(wide @ wide)) * (1 + ROUNDING)
        off = float(coded.slack[0]) + ROUNDING * (float(coded.length[0]) + float(coded.slack[0]))
        up = np.float32(np.inf)
        return cls(
            wide, coded.code[0], coded.scale[0], np.nextafter(np.float32(length), up), np.nextafter(np.float32(off), up)
        )


def search(rows: Mapping, query: Query, limit: int, where: VectorFilter | None) -> tuple[Ids, Floats]:
    """Chunk ids and cosines of the nearest rows, best first, equal ones by id.

    Raises:
        StoreError: the file was cut short.
    """
    rows.check()
    ceilings = _ceilings(rows, query, where)
    near, scores = _nearest(rows, query, ceilings, limit) if limit > 0 else _nothing()
    chunks = rows.chunks(near)
    best = np.lexsort((chunks, -scores))
    best = best[chunks[best] != GONE][:limit]  # dropped while this search went on
    return chunks[best], scores[best].astype(np.float32)


def _nothing() -> tuple[Places, NDArray[np.float64]]:
    return np.empty(0, np.intp), np.empty(0, np.float64)


# ---------------------------------------------------------------- ceilings


def _ceilings(rows: Mapping, query: Query, where: VectorFilter | None) -> Floats:
    """What each row scores at most; -inf: it may not be found."""
    found = np.full(rows.rows, -np.inf, np.float32)
    allowed = None if where is None or where.sessions is None else _Sessions(where.sessions)
    for segment in rows.segments:
        keep = _passing(segment, where, allowed)
        if keep.any():
            part = np.where(
                keep, _raised(segment.blocks, _dots(segment.blocks["code"], keep, query.code), query), -np.inf
            )
            found[segment.first : segment.first + segment.rows] = part.reshape(-1)[: segment.rows]
    return found


def _raised(blocks: NDArray[Any], dots: Dots, query: Query) -> Floats:
    """Ceilings of blocks, [blocks, rows]."""
    raised = dots.astype(np.float32)
    raised *= blocks["scale"] * query.scale
    raised += blocks["slack"] * query.per_slack
    raised += blocks["length"] * query.per_length
    return raised


def _dots(codes: Codes, keep: Mask, query: Codes) -> Dots:
    """Products of codes [blocks, rows, dim] with the query's, where ``keep``; elsewhere anything."""
    dots = kernel()
    counts = np.count_nonzero(keep, axis=1)
    found = np.zeros(keep.shape, np.int32)
    for block in np.flatnonzero(counts >= SPARSE).tolist():
        found[block] = dots(codes[block], query)
    blocks, places = np.nonzero(keep & (counts < SPARSE)[:, None])
    for low in range(0, len(blocks), GATHERED):
        some = blocks[low : low + GATHERED], places[low : low + GATHERED]
        found[some] = dots(codes[some], query)
    return found


class _Sessions:
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


def _passing(segment: Segment, where: VectorFilter | None, allowed: _Sessions | None) -> Mask:
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


# ---------------------------------------------------------------- the best by their vectors


def _nearest(rows: Mapping, query: Query, ceilings: Floats, limit: int) -> tuple[Places, NDArray[np.float64]]:
    """Places and scores, in no order, of the best ``limit`` rows and some more, all that equal the last of them included.
    ``ceilings`` is used up."""
    near = _highest(ceilings, limit)
    scores = _scores(rows, query, near)
    ceilings[near] = -np.inf
    left = np.flatnonzero(ceilings >= _reach(scores, limit))
    while len(left):
        part = left[_highest(ceilings[left], SCORED)]
        ceilings[part] = -np.inf
        near, scores = np.concatenate([near, part]), np.concatenate([scores, _scores(rows, query, part)])
        good = scores >= _last(scores, limit)
        near, scores = near[good], scores[good]
        left = left[ceilings[left] >= _reach(scores, limit)]
    return near, scores


def _highest(ceilings: Floats, limit: int) -> Places:
    """Places of the ``limit`` highest that are not -inf; some more where several equal the last one."""
    whole = len(ceilings) // GROUP * GROUP
    tops = np.append(ceilings[:whole].reshape(-1, GROUP).max(axis=1), ceilings[whole:])
    bound = _last(tops, limit)  # so many are at least as high
    some = np.flatnonzero((ceilings >= bound) & (ceilings > -np.inf))
    return some[ceilings[some] >= _last(ceilings[some], limit)]


def _last(scores: NDArray[Any], limit: int) -> float:
    """The ``limit``-th highest; -inf: there are not so many."""
    if len(scores) < limit:
        return -np.inf
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _reach(scores: NDArray[np.float64], limit: int) -> np.float32:
    """The ceiling that a row must have to come among the best ``limit``, given what some score. Just above -inf at least."""
    least = np.float32(_last(scores, limit) - ROUNDING)
    return max(np.nextafter(least, np.float32(-np.inf)), np.finfo(np.float32).min)


def _scores(rows: Mapping, query: Query, places: Places) -> NDArray[np.float64]:
    """Cosines by half-precision vectors, summed in double precision, a row like any other, to six digits."""
    found = np.empty(len(places))
    step = max(1, WIDENED // rows.dim)
    for low in range(0, len(places), step):
        wide = rows.vectors(places[low : low + step]).astype(np.float64)
        np.einsum("nd,d->n", wide, query.vector, out=found[low : low + step])
    return np.round(found, 6)
