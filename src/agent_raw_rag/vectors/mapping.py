"""A file of blocks in memory: codes and facts are mapped, half-precision vectors are read.

Mapped pages belong to the page cache: all processes that search share them. A search passes over all codes, so those are mapped;
of the vectors it needs a few hundred, each in a page of its own, which would pile up in the process if they were mapped as well.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.errors import StoreError
from agent_raw_rag.vectors.descriptor import fill_from
from agent_raw_rag.vectors.layout import BLOCK_ROWS, DATA_START, Columns, block_place, block_type, file_bytes

SEGMENT_BLOCKS = 64
"""Mapped at a time, and searched at a time: what a search computes for so many rows stays in the processor's cache. When a
file has grown, the segments before its last one stay mapped: mapping a million rows again costs as much as a search."""
SEGMENT_ROWS = SEGMENT_BLOCKS * BLOCK_ROWS

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Segment:
    """Some blocks. Rows behind ``rows`` do not exist yet."""

    first: int
    """Its first row."""
    rows: int
    blocks: NDArray[Any]
    """[blocks] of ``block_type``: a view of the file, which changes when rows are dropped."""


class Mapping:
    """A fixed number of rows of an open file. It keeps its file, whatever takes the file's place."""

    def __init__(self, descriptor: int | None, rows: int, dim: int, earlier: Mapping | None = None) -> None:
        """``descriptor`` is duplicated; None: there are no rows. What ``earlier`` has of the same file is used again."""
        self.rows = rows
        self.dim = dim
        self._kind = block_type(dim)
        self._vectors_at = int((self._kind.fields or {"vector": (None, 0)})["vector"][1])
        self._descriptor = -1 if descriptor is None else os.dup(descriptor)
        self._inode = 0
        if descriptor is not None:
            weakref.finalize(self, os.close, self._descriptor)
            self._inode = os.fstat(descriptor).st_ino
        known = earlier.segments if earlier is not None and earlier._inode == self._inode else []
        self.segments: list[Segment] = [self._segment(first, known) for first in range(0, rows, SEGMENT_ROWS)]

    def _segment(self, first: int, known: list[Segment]) -> Segment:
        rows = min(SEGMENT_ROWS, self.rows - first)
        count = -(-rows // BLOCK_ROWS)
        place = first // SEGMENT_ROWS
        if place < len(known) and len(known[place].blocks) == count:
            return Segment(first, rows, known[place].blocks)
        start = block_place(first, self.dim)
        ahead = start % mmap.ALLOCATIONGRANULARITY
        size = count * self._kind.itemsize + ahead
        mapped = mmap.mmap(self._descriptor, size, access=mmap.ACCESS_READ, offset=start - ahead)
        return Segment(first, rows, np.frombuffer(mapped, self._kind, count, ahead))

    def check(self) -> None:
        """Touching a mapped page that the file no longer has would end the process: better to ask first.

        Raises:
            StoreError: the file was cut short.
        """
        if self.rows and os.fstat(self._descriptor).st_size < file_bytes(self.rows, self.dim):
            raise _cut_short()

    def fact(self, name: str) -> NDArray[Any]:
        """One fact of every row."""
        parts = [segment.blocks[name].reshape(-1)[: segment.rows] for segment in self.segments]
        return np.concatenate(parts) if parts else np.empty(0, self._kind[name].base)

    def vectors(self, places: Places) -> NDArray[np.float16]:
        """Half-precision vectors of rows, [n, dim]."""
        found = np.empty((len(places), self.dim), np.float16)
        width = 2 * self.dim
        blocks, rows = divmod(places, BLOCK_ROWS)
        starts = DATA_START + blocks * self._kind.itemsize + self._vectors_at + rows * width
        buffer = found.reshape(-1).view(np.uint8).data
        for number, start in enumerate(starts.tolist()):
            self._fill(buffer[number * width : (number + 1) * width], start)
        return found

    def by_segment(self, places: Places) -> Iterator[tuple[Segment, Places]]:
        """Segments, each with where its rows stand in ``places``."""
        owners = places // SEGMENT_ROWS
        for owner in np.flatnonzero(np.bincount(owners)).tolist():  # np.unique would import numpy.ma, 50 ms
            yield self.segments[owner], np.flatnonzero(owners == owner)

    def chunks(self, places: Places) -> NDArray[np.int64]:
        """Chunk ids of rows."""
        found = np.empty(len(places), np.int64)
        for segment, mine in self.by_segment(places):
            found[mine] = segment.blocks["chunk"][divmod(places[mine] - segment.first, BLOCK_ROWS)]
        return found

    def blocks(self) -> Iterator[Columns]:
        """All columns, block by block, read."""
        block = np.empty(1, self._kind)
        for first in range(0, self.rows, BLOCK_ROWS):
            self._fill(block.view(np.uint8).data, block_place(first, self.dim))
            yield {name: block[name][0, : self.rows - first] for name in self._kind.fields or {}}

    def _fill(self, buffer: memoryview, place: int) -> None:
        if fill_from(self._descriptor, buffer, place) != buffer.nbytes:
            raise _cut_short()


def _cut_short() -> StoreError:
    return StoreError("The vector cache was cut short while in use.", hint="Delete its file; it is built anew.")
