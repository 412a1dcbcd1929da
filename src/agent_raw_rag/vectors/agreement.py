"""Whether a vector cache holds what it should: its rows, column by column, against the rows that would be written today.

The header's checksum covers the header. A block that was garbled under it looks sound to a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.vectors.layout import BLOCK_ROWS, GONE, Columns, VectorRow, columns
from agent_raw_rag.vectors.mapping import Mapping, Places

EXACT = ("chunk", "session", "start", "end", "roles")
NEAR = {"scale": (2e-3, 1e-5), "length": (2e-2, 1e-3), "slack": (5e-2, 2e-3), "vector": (2e-3, 1e-4)}
"""By what share of the value, and what number beside it, a row may differ: another machine sums in another order, and rounds the
last bit otherwise. What was garbled differs by far more."""
CODE_STEPS = 1

Expected = Iterable[tuple[Sequence[VectorRow], NDArray[Any]]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What comparing found."""

    compared: int
    missing: int
    """Rows that should be there."""
    garbled: int
    """Rows that hold something else."""
    others: tuple[int, ...]
    """Chunk ids of live rows that nobody expects, ascending."""


def compare(rows: Mapping, expected: Expected) -> Agreement:
    """Rows of a cache against (facts, vectors [n, dim]) in ascending order of chunk id.

    Raises:
        StoreError: the file was cut short.
    """
    rows.check()
    chunks = rows.fact("chunk")
    places = np.flatnonzero(chunks != GONE)
    places = places[np.argsort(chunks[places], kind="stable")]
    ids = chunks[places]
    known = np.zeros(len(ids), bool)
    compared = missing = garbled = 0
    for facts, vectors in expected:
        made = columns(facts, vectors)
        at = np.searchsorted(ids, made["chunk"])
        there = at < len(ids)
        there[there] = ids[at[there]] == made["chunk"][there]
        known[at[there]] = True
        wanted = {name: column[there] for name, column in made.items()}
        compared += len(facts)
        missing += int(np.count_nonzero(~there))
        garbled += int(np.count_nonzero(~_same(_taken(rows, places[at[there]]), wanted)))
    return Agreement(compared, missing, garbled, tuple(ids[~known].tolist()))


def _taken(rows: Mapping, places: Places) -> Columns:
    """The columns of rows in the file."""
    names = list(rows.segments[0].blocks.dtype.names or ()) if rows.segments else []
    found: Columns = {}
    for segment, mine in rows.by_segment(places):
        at = divmod(places[mine] - segment.first, BLOCK_ROWS)
        for name in names:
            part = segment.blocks[name][at]
            whole = found.setdefault(name, np.empty((len(places), *part.shape[1:]), part.dtype))
            whole[mine] = part
    return found


def _same(found: Columns, wanted: Columns) -> NDArray[np.bool_]:
    """Which rows agree."""
    same = np.ones(len(wanted["chunk"]), bool)
    if not len(same):
        return same
    for name in EXACT:
        same &= found[name] == wanted[name]
    for name, (share, least) in NEAR.items():
        same &= _near(found[name], wanted[name], share, least)
    steps = np.abs(found["code"].astype(np.int16) - wanted["code"])
    same &= steps.max(axis=1, initial=0) <= CODE_STEPS
    return same


def _near(found: NDArray[Any], wanted: NDArray[Any], share: float, least: float) -> NDArray[np.bool_]:
    if found.tobytes() == wanted.tobytes():
        return np.ones(len(wanted), bool)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.asarray(np.isclose(found.astype(np.float64), wanted.astype(np.float64), rtol=share, atol=least))
    same: NDArray[np.bool_] = np.all(near.reshape(len(wanted), -1), axis=1)
    return same
