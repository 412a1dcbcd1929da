"""Rows, vectors and caches for the tests of the vector cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.vectors.cache import VectorCache
from agent_raw_rag.vectors.layout import VectorRow
from agent_raw_rag.vectors.scan import VectorFilter

DIM = 8


def vectors_of(count: int, seed: int = 0, dim: int = DIM) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def rows_of(count: int, first: int = 1) -> list[VectorRow]:
    return [
        VectorRow(
            first + n,
            session=n % 5,
            start=None if n % 7 == 0 else n,
            end=None if n % 7 == 0 else n + 3,
            roles=1 << n % 3,
        )
        for n in range(count)
    ]


def writer(path: Path, generation: str = "g", space: str = "space", dim: int = DIM) -> VectorCache:
    return VectorCache.open(path, space, dim, generation, writable=True)


def reader(path: Path, generation: str = "g", space: str = "space", dim: int = DIM) -> VectorCache:
    return VectorCache.open(path, space, dim, generation)


def filled(path: Path, count: int) -> VectorCache:
    """A writer with some chunks, 1 to ``count``, that were committed."""
    cache = writer(path)
    cache.append(rows_of(count), vectors_of(count))
    cache.commit(count)
    return cache


def passes(row: VectorRow, where: VectorFilter | None) -> bool:
    """The filter once more, one row at a time."""
    if where is None:
        return True
    return (
        (where.sessions is None or row.session in where.sessions)
        and (where.after is None or (row.end is not None and row.end >= where.after))
        and (where.before is None or (row.start is not None and row.start < where.before))
        and (not where.roles or bool(row.roles & where.roles))
    )


def brute_force(
    rows: Sequence[VectorRow],
    vectors: NDArray[np.float32],
    query: NDArray[np.float32],
    limit: int,
    where: VectorFilter | None,
) -> list[tuple[int, float]]:
    half = vectors.astype(np.float16)  # what the cache keeps
    scores = np.round(half.astype(np.float64) @ query.astype(np.float64), 6)
    kept = [(row.chunk_id, float(score)) for row, score in zip(rows, scores, strict=True) if passes(row, where)]
    return sorted(kept, key=lambda hit: (-hit[1], hit[0]))[:limit]
