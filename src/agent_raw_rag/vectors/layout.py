"""The file of a vector cache: one page of header, then blocks of 1,024 rows. Little-endian; only this module knows the bytes.

A block holds its rows column by column: facts, then the vectors twice, as 8-bit codes with a scale a row (what a search passes
over) and in half precision (what it scores the best candidates with). So a search reads a third of the file, and a filter a
thirtieth of that. The header is written last: rows behind its count do not exist.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.models import Millis

MAGIC = b"RAWRAGVC"
FORMAT = 2
BLOCK_ROWS = 1024
DATA_START = 4096
GONE = -1
"""The chunk id of a row that was dropped."""
_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
_HEADER = struct.Struct("<8sIIQQQQ32s64s")
_CHECKED_BYTES = _HEADER.size + 4

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Header:
    """What the first page says."""

    binding: bytes
    """Hash of space and generation."""
    dim: int
    rows: int = 0
    edits: int = 0
    """Grows whenever rows change in place."""
    high_water: int = 0
    dropped: int = 0
    space: str = ""
    """Cut to 64 bytes: for people who look into the file."""


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The facts of one chunk that a search may be narrowed by."""

    chunk_id: int
    session: int = 0
    start: Millis | None = None
    end: Millis | None = None
    roles: int = 0
    """Bits, up to 32."""


def binding(space: str, generation: str) -> bytes:
    """What ties a file to its space and its store."""
    return hashlib.blake2b(f"{space}\0{generation}".encode(), digest_size=32).digest()


def block_type(dim: int) -> np.dtype[Any]:
    """A block as numpy sees it."""
    kinds = [("chunk", "<i8"), ("session", "<i8"), ("start", "<i8"), ("end", "<i8"), ("roles", "<u4"), ("scale", "<f4")]
    facts = [(name, kind, (BLOCK_ROWS,)) for name, kind in kinds]
    return np.dtype([*facts, ("code", "<i1", (BLOCK_ROWS, dim)), ("vector", "<f2", (BLOCK_ROWS, dim))])


def columns(rows: Sequence[VectorRow], vectors: NDArray[Any]) -> Columns:
    """Rows as a block holds them. A missing start lies after every range's end, a missing end before every start."""
    single = vectors.astype(np.float32)
    scale = np.maximum(np.abs(single).max(axis=1, initial=0.0), np.float32(1e-30)) / np.float32(127)
    return {
        "chunk": np.array([row.chunk_id for row in rows], "<i8"),
        "session": np.array([row.session for row in rows], "<i8"),
        "start": np.array([_LAST if row.start is None else row.start for row in rows], "<i8"),
        "end": np.array([_FIRST if row.end is None else row.end for row in rows], "<i8"),
        "roles": np.array([row.roles for row in rows], "<u4"),
        "scale": scale.astype("<f4"),
        "code": np.rint(single / scale[:, None]).astype("<i1"),
        "vector": single.astype("<f2"),
    }


def pieces(made: Columns, first: int, dim: int) -> list[tuple[int, bytes]]:
    """(place in the file, bytes) of columns whose rows begin at row ``first``."""
    fields: Mapping[str, Any] = block_type(dim).fields or {}
    count = len(made["chunk"])
    found = []
    for start in range(first - first % BLOCK_ROWS, first + count, BLOCK_ROWS):
        low, high = max(start, first), min(start + BLOCK_ROWS, first + count)
        for name, column in made.items():
            part = column[low - first : high - first]
            place = block_place(start, dim) + fields[name][1] + (low - start) * (part.nbytes // len(part))
            found.append((place, part.tobytes()))
    return found


def block_place(row: int, dim: int) -> int:
    """Where the block of a row begins; of a row count that is a multiple of ``BLOCK_ROWS``: where the file ends."""
    return DATA_START + row // BLOCK_ROWS * block_type(dim).itemsize


def file_bytes(rows: int, dim: int) -> int:
    """Size of a file with this many rows: whole blocks."""
    return block_place(rows + BLOCK_ROWS - 1, dim)


def pack(header: Header) -> bytes:
    """The header's bytes: far less than a disk sector, so that a crash leaves the old ones or the new ones."""
    plain = _HEADER.pack(
        MAGIC, FORMAT, header.dim, header.rows, header.edits, header.high_water, header.dropped, header.binding,
        header.space.encode("utf-8", "replace")[:64],
    )  # fmt: skip
    return plain + struct.pack("<I", zlib.crc32(plain))


def read_header(descriptor: int, bound: bytes, dim: int) -> Header | None:
    """The header of an open file; None: damaged, shorter than it says, of another format, space or store."""
    page = os.pread(descriptor, _CHECKED_BYTES, 0)
    if len(page) < _CHECKED_BYTES or zlib.crc32(page[:-4]) != struct.unpack("<I", page[-4:])[0]:
        return None
    magic, version, found, rows, edits, high_water, dropped, tie, space = _HEADER.unpack(page[:-4])
    if (magic, version, found, tie) != (MAGIC, FORMAT, dim, bound):
        return None
    if os.fstat(descriptor).st_size < file_bytes(rows, dim):
        return None
    return Header(tie, dim, rows, edits, high_water, dropped, space.rstrip(b"\0").decode("utf-8", "replace"))
