"""Bringing the vector cache of a space in line with the store, in chunk order, as far as vectors reach without a gap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from agent_raw_rag.derived import cache_file
from agent_raw_rag.encode.half import from_half
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.vectors import Placed, Vectors
from agent_raw_rag.vectors.cache import VectorCache
from agent_raw_rag.vectors.layout import VectorRow

SLICE = 4096
"""Rows that are appended between two commits."""
DEAD_SHARE = 0.25
"""Of the rows, dropped: more, and the file is written anew."""


def feed_cache(connection: Connection, home: str, space: str, dim: int) -> int:
    """Append the vectors that the cache lacks and drop the chunks that are gone. Returns the number appended."""
    reader, vectors = Reader(connection), Vectors(connection, space)
    cache = VectorCache.open(cache_file(home, space), space, dim, reader.generation, writable=True)
    try:
        added = _append(cache, vectors)
        _drop(cache, reader)
        if cache.dead > DEAD_SHARE * (len(cache) + cache.dead):
            cache.compact()
        return added
    finally:
        cache.close()


def cached_up_to(connection: Connection, home: str, space: str, dim: int) -> int:
    """The last chunk that the cache holds: up to it every chunk has a vector, so nobody need look there again."""
    return VectorCache.open(cache_file(home, space), space, dim, Reader(connection).generation).high_water


def _append(cache: VectorCache, vectors: Vectors) -> int:
    added = 0
    for batch in _slices(vectors.placed(cache.high_water, vectors.first_missing(cache.high_water))):
        rows = [VectorRow(one.chunk_id, one.session_id, one.started, one.ended, one.roles) for one in batch]
        cache.append(rows, from_half([one.vector for one in batch]))
        cache.commit(batch[-1].chunk_id, cache.dropped)
        added += len(batch)
    return added


def _drop(cache: VectorCache, reader: Reader) -> None:
    dropped = reader.dropped_after(cache.dropped)
    if dropped:
        cache.drop(chunk_id for _, chunk_id in dropped)
        cache.commit(cache.high_water, dropped[-1][0])


def _slices(rows: Iterator[Placed]) -> Iterator[list[Placed]]:
    while batch := list(islice(rows, SLICE)):
        yield batch
