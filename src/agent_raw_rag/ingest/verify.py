"""Whether what is derived from the store says what the store says, and making it anew where it does not.

Everything is compared: the lexical index by its ids and by the checksums of its files, a vector cache row by row. What merely
lags (text that came since) is no disagreement: the next ingest brings it up.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from agent_raw_rag.derived import cache_file, cache_files, lexical_folder
from agent_raw_rag.encode.half import from_half
from agent_raw_rag.errors import StoreError
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.ingest.feed_vectors import feed_cache
from agent_raw_rag.lexical.index import LexicalIndex
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.spaces import SpaceRow
from agent_raw_rag.store.vectors import Placed, Vectors
from agent_raw_rag.vectors.agreement import Expected
from agent_raw_rag.vectors.cache import VectorCache
from agent_raw_rag.vectors.layout import VectorRow

SLICE = 4096


@dataclass(frozen=True, slots=True)
class Compared:
    """A derived file beside the store."""

    rows: int
    """Chunks that are in it."""
    behind: int
    """Chunks that belong into it and came later than it."""
    fault: str = ""
    """Where it disagrees with the store; "": nowhere."""


def compare_lexical(reader: Reader, home: str) -> Compared:
    """The lexical index against the store."""
    folder = lexical_folder(home)
    index = LexicalIndex.open(folder, reader.generation)
    behind = reader.count_after(index.high_water, 1 << 62, 1 << 62)
    if not index.high_water and os.path.lexists(folder):
        return Compared(0, behind, "it cannot be read" if behind else "")
    if (file := index.damage()) is not None:
        return Compared(len(index), behind, f"its file {file} is damaged")
    wanted, found = set(reader.chunk_numbers(index.high_water)), index.chunk_ids()
    # What was added right before a kill is in the index, and its own count does not reach there yet.
    others = {number for number in found if number <= index.high_water} - wanted
    fault = _difference(len(wanted.difference(found)), others, reader.dropped_after(index.dropped))
    return Compared(len(found), behind, fault)


def compare_cache(connection: Connection, home: str, space: SpaceRow) -> Compared:
    """The vector cache of a space against the vectors in the store.

    Raises:
        StoreError: a vector in the store is damaged, or the cache was cut short meanwhile.
    """
    reader, vectors = Reader(connection), Vectors(connection, space.name)
    file = cache_file(home, space.name)
    cache = VectorCache.open(file, space.name, space.dim, reader.generation)
    behind = vectors.count_placed(cache.high_water, vectors.first_missing(cache.high_water))
    if not cache.high_water and os.path.lexists(file):
        return Compared(0, behind, "it cannot be read" if behind else "")
    found = cache.compare(_expected(vectors.placed(0, cache.high_water + 1), space.dim))
    fault = _difference(found.missing, set(found.others), reader.dropped_after(cache.dropped))
    if found.garbled:
        fault = f"{found.garbled} of its rows hold something else than the store"
    return Compared(len(cache), behind, fault)


def rebuild_lexical(reader: Reader, home: str) -> int:
    """Make the lexical index anew. The caller holds the writer lock. Returns the chunks in it."""
    _remove(lexical_folder(home))
    return feed_lexical(reader, home)


def rebuild_cache(connection: Connection, home: str, space: SpaceRow) -> int:
    """Make the vector cache of a space anew. The caller holds the writer lock. Returns the rows in it."""
    for file in cache_files(home, space.name):
        _remove(file)
    if not os.path.isdir(folder := os.path.dirname(cache_file(home, space.name))):
        _remove(folder)
    return feed_cache(connection, home, space.name, space.dim)


def _difference(missing: int, others: set[int], dropped: list[tuple[int, int]]) -> str:
    """``others``: what is in it beyond what should be; that of it which was deleted since is to be taken out yet."""
    if missing:
        return f"it lacks {missing} chunks that it should hold"
    unknown = len(others.difference(number for _, number in dropped))
    return f"it holds {unknown} chunks that are not in the store" if unknown else ""


def _expected(placed: Iterator[Placed], dim: int) -> Expected:
    while batch := list(islice(placed, SLICE)):
        if any(len(one.vector) != 2 * dim for one in batch):
            raise StoreError(f"A vector in the store has not {dim} numbers.")
        rows = [VectorRow(one.chunk_id, one.session_id, one.started, one.ended, one.roles) for one in batch]
        yield rows, from_half([one.vector for one in batch])


def _remove(path: str) -> None:
    """A file, or a folder with all that is in it; nothing where there is none."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)
