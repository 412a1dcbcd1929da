"""What each row scores at most, by its code: one pass over the codes of the rows that may be found.

A row x has a code c and a scale s, the query q a code d and a scale t. What a row scores is bounded by what is known of it:

    q.x = (t d).(s c) + (q - t d).(s c) + q.(x - s c) <= st (d.c) + |q - t d| |s c| + |q| |x - s c|

``d.c`` is a whole number; the lengths stand in the file. For rows that come near, what the first code leaves of the query is
coded once more, u e, and its product takes the place of its bound: (q - t d).(s c) <= su (e.c) + |q - t d - u e| |s c|.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.vectors.filters import Mask, Sessions, VectorFilter, passing
from agent_raw_rag.vectors.kernel import Codes, Dots, kernel
from agent_raw_rag.vectors.layout import BLOCK_ROWS, Quantised, quantised
from agent_raw_rag.vectors.mapping import Mapping, Places

SPARSE = BLOCK_ROWS // 8
"""Of a block with fewer rows that pass, those rows are gathered: that costs four times as much a row as passing over all."""
GATHERED = 4096
"""Rows gathered at a time."""
ROUNDING = 1e-6
"""Single precision adds less than this share of a ceiling's parts."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Query:
    """A query's vector, its codes, and by how much ceilings must be raised."""

    vector: NDArray[np.float64]
    first: Coded
    second: Coded
    """With the code of what the first one leaves."""
    per_slack: np.float32
    """A ceiling is raised by this for each unit of its row's ``slack``."""

    @classmethod
    def of(cls, vector: NDArray[Any]) -> Query:
        """Of any vector [dim]."""
        wide = np.asarray(vector, np.float32).astype(np.float64)
        length = float(np.sqrt(wide @ wide))
        first = quantised(wide[None])
        second = quantised(wide[None] - first.code * first.scale.astype(np.float64))
        return cls(wide, Coded.of(first, length), Coded.of(second, length), _up(length * (1 + ROUNDING)))


@dataclass(frozen=True, slots=True)
class Coded:
    """One code of a query."""

    code: Codes
    scale: np.float32
    per_length: np.float32
    """A ceiling by this code is raised by so much for each unit of its row's ``length``."""

    @classmethod
    def of(cls, coded: Quantised, length: float) -> Coded:
        """``length``: of the query's vector."""
        return cls(coded.code[0], coded.scale[0], _up(float(coded.slack[0]) + 2 * ROUNDING * length))


def _up(bound: float) -> np.float32:
    raised: np.float32 = np.nextafter(np.float32(bound), np.float32(np.inf))
    return raised


def ceilings(rows: Mapping, query: Query, where: VectorFilter | None) -> Floats:
    """What each row scores at most; -inf: it may not be found."""
    found = np.full(rows.rows, -np.inf, np.float32)
    allowed = None if where is None or where.sessions is None else Sessions(where.sessions)
    for segment in rows.segments:
        keep = passing(segment, where, allowed)
        if keep.any():
            raised = _raised(segment.blocks, _dots(segment.blocks["code"], keep, query.first.code), query)
            part = np.where(keep, raised, -np.inf)
            found[segment.first : segment.first + segment.rows] = part.reshape(-1)[: segment.rows]
    return found


def _raised(blocks: NDArray[Any], dots: Dots, query: Query) -> Floats:
    """Ceilings of blocks, [blocks, rows]."""
    raised = dots.astype(np.float32)
    raised *= blocks["scale"] * query.first.scale
    raised += blocks["slack"] * query.per_slack
    raised += blocks["length"] * query.first.per_length
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


def lowered(rows: Mapping, query: Query, found: Floats, places: Places) -> Floats:
    """Lower ceilings for rows [n] whose ceilings are ``found`` [n]."""
    made = np.empty(len(places), np.float32)
    for low in range(0, len(places), GATHERED):
        for segment, mine in rows.by_segment(places[low : low + GATHERED]):
            part = low + mine
            at = divmod(places[part] - segment.first, BLOCK_ROWS)
            dots = kernel()(segment.blocks["code"][at], query.second.code).astype(np.float32)
            made[part] = found[part] + dots * (segment.blocks["scale"][at] * query.second.scale)
            made[part] -= segment.blocks["length"][at] * (query.first.per_length - query.second.per_length)
    return made
