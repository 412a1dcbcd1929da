"""The vector cache of one space: a file derived from the store that one process appends to and many read.

Missing, damaged, of another space or another store: it opens empty and is filled anew, never guessed at.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.errors import StoreError
from agent_raw_rag.vectors.agreement import Agreement, Expected, compare
from agent_raw_rag.vectors.descriptor import FLAGS, write_at
from agent_raw_rag.vectors.layout import (
    DATA_START,
    GONE,
    Columns,
    Header,
    VectorRow,
    binding,
    columns,
    file_bytes,
    pack,
    pieces,
    read_header,
)  # fmt: skip
from agent_raw_rag.vectors.mapping import Mapping
from agent_raw_rag.vectors.scan import Floats, Ids, Query, VectorFilter, search


class VectorCache:
    """Made by ``open``. Searching is safe from several threads; writing belongs to one thread of one process."""

    def __init__(self, path: Path, empty: Header, *, writable: bool) -> None:
        self._path = path
        self._empty = empty
        self._writable = writable
        self._inode = 0
        self._header = empty
        self._show_rows(Mapping(None, 0, empty.dim))
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
        return self._live

    @property
    def dead(self) -> int:
        """Rows of dropped chunks that still take space: see ``compact``."""
        return self._rows.rows - self._live

    def chunk_ids(self) -> Ids:
        """The ids in the cache, ascending."""
        chunks = self._rows.fact("chunk")
        return np.sort(chunks[chunks != GONE])

    # ------------------------------------------------------------ reading

    def refresh(self) -> bool:
        """See what the writer has committed since; whether there was anything. Cheap if there was not."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | FLAGS)
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
        self._show_rows(Mapping(descriptor if header.rows else None, header.rows, header.dim, self._rows))
        self._header, self._inode = header, inode
        return True

    def _show_rows(self, rows: Mapping) -> None:
        self._rows = rows
        chunks = rows.fact("chunk")
        self._live = int(np.count_nonzero(chunks != GONE))
        self._highest = int(chunks.max(initial=GONE))

    def search(self, query: NDArray[Any], limit: int, where: VectorFilter | None = None) -> tuple[Ids, Floats]:
        """(chunk ids [k], cosines [k]) of the nearest chunks, best first, equal ones by id; k <= ``limit``. Exact.

        ``query``: [dim], of length 1.

        Raises:
            StoreError: the file was cut short.
        """
        return search(self._rows, Query.of(query), limit, where)

    def compare(self, expected: Expected) -> Agreement:
        """All live rows against (facts, vectors [n, dim]) in ascending order of chunk id.

        Raises:
            StoreError: the file was cut short.
        """
        return compare(self._rows, expected)

    # ------------------------------------------------------------ writing

    def append(self, rows: Sequence[VectorRow], vectors: NDArray[Any]) -> None:
        """Put chunks and their vectors [n, dim], of any float type, at the end; an id that is there already is replaced.
        Nothing is seen before ``commit``.

        Raises:
            StoreError: opened for reading.
            OSError: no space on the disk, say.
        """
        self._open_for_writing()
        made = columns(rows, np.asarray(vectors).reshape(len(rows), self._empty.dim))
        self._gone += self._places(made["chunk"])
        self._put(made)

    def drop(self, chunk_ids: Iterable[int]) -> None:
        """Take chunks out; unknown ids are passed over. Their rows stay, marked, until ``compact``. Raises as ``append``."""
        self._open_for_writing()
        self._gone += self._places(np.fromiter(chunk_ids, np.int64))

    def commit(self, high_water: int, dropped: int = 0) -> None:
        """Make all changes durable and seen, and remember how far the caller has fed it. Raises as ``append``.

        Killed before the end: the old header stands, and the caller feeds the difference again.
        """
        descriptor = self._open_for_writing()
        for row in self._gone:
            self._write(pieces({"chunk": np.array([GONE], "<i8")}, row, self._empty.dim))
        os.fsync(descriptor)
        rows, edits = self._header.rows + self._appended, self._header.edits + len(self._gone)
        header = replace(self._header, rows=rows, edits=edits, high_water=high_water, dropped=dropped)
        self._write([(0, pack(header))])
        self._appended, self._gone = 0, []
        self.refresh()

    def compact(self) -> None:
        """Write the file anew without dropped rows; drops what was not committed. Readers go on with the old file until they
        look again. Raises as ``append``."""
        self._open_for_writing()
        blocks = self._rows.blocks()
        live = ({name: column[made["chunk"] != GONE] for name, column in made.items()} for made in blocks)
        self._replace_file(live, self._header)
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
            self._descriptor = os.open(self._path, os.O_RDWR | FLAGS)
        if self._descriptor is None or read_header(self._descriptor, self._empty.binding, self._empty.dim) is None:
            self._replace_file([], self._empty)

    def _replace_file(self, parts: Iterable[Columns], stamps: Header) -> None:
        """A new file in the old one's place: whoever has the old one open keeps it whole."""
        self.close()
        draft = self._path.with_name(self._path.name + ".new")
        self._descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | FLAGS, 0o600)
        os.ftruncate(self._descriptor, DATA_START)
        self._header, self._appended, self._gone = self._empty, 0, []
        try:
            for part in parts:
                self._put(part)
            self._write([(0, pack(replace(stamps, rows=self._appended, edits=0)))])
            os.fsync(self._descriptor)
            os.close(self._descriptor)  # Windows moves no file that is open
            self._descriptor = None
            os.replace(draft, self._path)
            self._descriptor = os.open(self._path, os.O_RDWR | FLAGS)
        except BaseException:
            self.close()  # it is the draft that is open: nothing may be written any more
            raise
        self._appended = 0

    def _put(self, made: Columns) -> None:
        """Write rows behind the last one; the header does not count them yet."""
        first, count = self._header.rows + self._appended, len(made["chunk"])
        size = file_bytes(first + count, self._empty.dim)
        if os.fstat(self._open_for_writing()).st_size < size:
            os.ftruncate(self._open_for_writing(), size)
        self._write(pieces(made, first, self._empty.dim))
        self._appended += count

    def _write(self, parts: Iterable[tuple[int, bytes]]) -> None:
        for place, part in parts:
            left = memoryview(part)
            while left:
                written = write_at(self._open_for_writing(), left, place)
                left, place = left[written:], place + written

    def _places(self, chunk_ids: Ids) -> list[int]:
        """Rows of chunks that are in the cache."""
        if not len(chunk_ids) or chunk_ids.min() > self._highest:
            return []  # new ones, as almost always
        found: list[int] = np.flatnonzero(np.isin(self._rows.fact("chunk"), chunk_ids)).tolist()
        return found
