"""The vector cache of one space: a file derived from the store that one process appends to and many map.

Missing, damaged, of another space or another store: it opens empty and is filled anew, never guessed at.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.errors import StoreError
from agent_raw_rag.vectors.layout import (
    DATA_START,
    GONE,
    Header,
    VectorRow,
    binding,
    pack,
    read_header,
    record_type,
    records,
)
from agent_raw_rag.vectors.scan import Floats, Ids, VectorFilter, View


class VectorCache:
    """Made by ``open``. Searching is safe from several threads; writing belongs to one thread of one process."""

    def __init__(self, path: Path, empty: Header, *, writable: bool) -> None:
        self._path = path
        self._empty = empty
        self._writable = writable
        self._inode = 0
        self._header = empty
        self._view = View(None, 0, empty.dim)
        self._descriptor: int | None = None
        self._appended = 0
        self._gone: list[int] = []

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], space: str, dim: int, generation: str, *, writable: bool = False
    ) -> VectorCache:
        """The cache in a file. What cannot be used is empty, with ``high_water`` 0; a writer replaces it, a reader touches
        nothing and looks again at ``refresh``.

        Raises:
            OSError: the file cannot be made or opened for writing.
        """
        cache = cls(Path(path), Header(binding(space, generation), dim, space=space), writable=writable)
        if writable:
            cache._start_writing()
        cache.refresh()
        return cache

    @property
    def high_water(self) -> int:
        """The chunk id that ``commit`` was told last: vectors of later chunks must be appended."""
        return self._header.high_water

    @property
    def dropped(self) -> int:
        """The removal stamp that ``commit`` was told last."""
        return self._header.dropped

    def __len__(self) -> int:
        return int(np.count_nonzero(self._view.chunk != GONE))

    @property
    def dead(self) -> int:
        """Rows of dropped chunks that still take space: see ``compact``."""
        return self._view.rows - len(self)

    def chunk_ids(self) -> Ids:
        """The ids in the cache, ascending."""
        return np.sort(self._view.chunk[self._view.chunk != GONE])

    # ------------------------------------------------------------ reading

    def refresh(self) -> bool:
        """See what the writer has committed since; whether there was anything. Cheap if there was not."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY)
        except OSError:
            return self._show(self._empty, 0, None)
        try:
            header = read_header(descriptor, self._empty.binding, self._empty.dim)
            inode = os.fstat(descriptor).st_ino if header else 0
            return self._show(header or self._empty, inode, descriptor)
        finally:
            os.close(descriptor)

    def _show(self, header: Header, inode: int, descriptor: int | None) -> bool:
        if (header, inode) == (self._header, self._inode):
            return False
        mapped = None
        if descriptor is not None and header.rows:
            length = DATA_START + header.rows * record_type(header.dim).itemsize
            mapped = mmap.mmap(descriptor, length, access=mmap.ACCESS_READ)
        same = inode == self._inode and header.rows >= self._view.rows
        edited = header.edits != self._header.edits
        self._view = View(mapped, header.rows, header.dim, self._view if same else None, edited=edited)
        self._header, self._inode = header, inode
        return True

    def search(self, query: NDArray[Any], limit: int, where: VectorFilter | None = None) -> tuple[Ids, Floats]:
        """(chunk ids [k], cosines [k]) of the nearest chunks, best first, equal ones by id; k <= ``limit``. Exact.

        ``query``: [dim], of length 1.
        """
        return self._view.search(np.ascontiguousarray(query, np.float32), limit, where)

    # ------------------------------------------------------------ writing

    def append(self, rows: Sequence[VectorRow], vectors: NDArray[Any]) -> None:
        """Put chunks and their vectors [n, dim], of any float type, at the end; an id that is there already is replaced.
        Nothing is seen before ``commit``.

        Raises:
            StoreError: opened for reading.
            OSError: no space on the disk, say.
        """
        descriptor = self._open_for_writing()
        made = records(rows, np.asarray(vectors).reshape(len(rows), self._empty.dim))
        place = DATA_START + (self._header.rows + self._appended) * made.itemsize
        _write_all(descriptor, made.tobytes(), place)
        self._appended += len(rows)
        self._gone += np.flatnonzero(np.isin(self._view.chunk, made["chunk"])).tolist()

    def drop(self, chunk_ids: Iterable[int]) -> None:
        """Take chunks out; unknown ids are passed over. Their rows stay, marked, until ``compact``. Raises as ``append``."""
        self._open_for_writing()
        wanted = np.fromiter(chunk_ids, np.int64)
        self._gone += np.flatnonzero(np.isin(self._view.chunk, wanted)).tolist()

    def commit(self, high_water: int, dropped: int = 0) -> None:
        """Make all changes durable and seen, and remember how far the caller has fed it. Raises as ``append``.

        Killed before the end: the old header stands, and the caller feeds the difference again.
        """
        descriptor = self._open_for_writing()
        size = record_type(self._empty.dim).itemsize
        for row in self._gone:
            _write_all(descriptor, GONE.to_bytes(8, "little", signed=True), DATA_START + row * size)
        os.fsync(descriptor)
        header = replace(
            self._header,
            rows=self._header.rows + self._appended,
            edits=self._header.edits + len(self._gone),
            high_water=high_water,
            dropped=dropped,
        )
        _write_all(descriptor, pack(header), 0)
        self._appended, self._gone = 0, []
        self.refresh()

    def compact(self) -> None:
        """Write the file anew without dropped rows. Readers go on with the old one until they look again. Raises as
        ``append``."""
        self._open_for_writing()
        view = self._view
        live = np.flatnonzero(view.chunk != GONE)
        header = replace(self._header, rows=len(live), edits=0)
        self._replace_file(header, (view.records[live[n : n + 4096]].tobytes() for n in range(0, len(live), 4096)))
        self.refresh()

    def close(self) -> None:
        """Give the writer's file back. What was not committed is dropped."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open_for_writing(self) -> int:
        if self._descriptor is None:
            raise StoreError("This vector cache was opened for reading.")
        return self._descriptor

    def _start_writing(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            self._descriptor = os.open(self._path, os.O_RDWR)
        descriptor = self._descriptor
        if descriptor is None or read_header(descriptor, self._empty.binding, self._empty.dim) is None:
            self._replace_file(self._empty, [])

    def _replace_file(self, header: Header, blocks: Iterable[bytes]) -> None:
        """A new file in the old one's place: whoever has mapped the old one keeps it whole."""
        draft = self._path.with_name(self._path.name + ".new")
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        place = DATA_START
        for block in blocks:
            place += _write_all(descriptor, block, place)
        _write_all(descriptor, pack(header).ljust(DATA_START, b"\0"), 0)
        os.fsync(descriptor)
        os.replace(draft, self._path)
        self.close()
        self._descriptor, self._appended, self._gone = descriptor, 0, []


def _write_all(descriptor: int, block: bytes, place: int) -> int:
    left = memoryview(block)
    while left:
        written = os.pwrite(descriptor, left, place)
        left, place = left[written:], place + written
    return len(block)
