"""The file of a vector cache: one page of header, then blocks of 1,024 rows. Little-endian; only this module knows the bytes.

A block holds its rows column by column: facts, then the vectors twice, as 8-bit codes with a scale a row (what a search passes
over) and in half precision (what it scores the best candidates with). So a search reads a third of the file, and a filter a
thirtieth of that. Beside the codes stands how far they are off, so that a search can prove which rows it need not look at.
The header is written last: rows behind its count do not exist.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.errors import StoreError
from agent_raw_rag.models import Millis
from agent_raw_rag.vectors.descriptor import read_at

MAGIC = b"RAWRAGVC"
FORMAT = 3
BLOCK_ROWS = 1024
DATA_START = 4096
WIDENED = 100_000
"""Numbers in double precision at a time: they stay in the processor's cache."""
GONE = -1
"""The chunk id of a row that was dropped."""
_LEAST = 1e-30
"""The least size that a scale is made for: smaller is 0 in half precision."""
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


@cache
def block_type(dim: int) -> np.dtype[Any]:
    """A block as numpy sees it."""
    kinds = [("chunk", "<i8"), ("session", "<i8"), ("start", "<i8"), ("end", "<i8"), ("roles", "<u4")]
    kinds += [("scale", "<f4"), ("length", "<f4"), ("slack", "<f4")]
    facts = [(name, kind, (BLOCK_ROWS,)) for name, kind in kinds]
    return np.dtype([*facts, ("code", "<i1", (BLOCK_ROWS, dim)), ("vector", "<f2", (BLOCK_ROWS, dim))])


def columns(rows: Sequence[VectorRow], vectors: NDArray[Any]) -> Columns:
    """Rows as a block holds them. A missing start lies after every range's end, a missing end before every start.

    Raises:
        StoreError: a vector is not finite in half precision.
    """
    return {
        "chunk": np.array([row.chunk_id for row in rows], "<i8"),
        "session": np.array([row.session for row in rows], "<i8"),
        "start": np.array([_LAST if row.start is None else row.start for row in rows], "<i8"),
        "end": np.array([_FIRST if row.end is None else row.end for row in rows], "<i8"),
        "roles": np.array([row.roles for row in rows], "<u4"),
        **_vector_columns(vectors.astype("<f2")),
    }


def _vector_columns(half: NDArray[Any]) -> Columns:
    """Vectors [n, dim], their codes, and of each row the length of ``scale`` x code and of what that leaves of the vector."""
    coded = quantised(half)
    if not np.isfinite(coded.length).all():
        raise StoreError("A vector holds a number that half precision cannot.", hint="Embed the text again.")
    return {"scale": coded.scale, "length": coded.length, "slack": coded.slack, "code": coded.code, "vector": half}


@dataclass(frozen=True, slots=True)
class Quantised:
    """Vectors [n, dim] as 8-bit codes with a scale a row. Lengths are Euclidean and rounded up: bounds, not estimates."""

    code: NDArray[np.int8]
    scale: NDArray[np.float32]
    length: NDArray[np.float32]
    """Of scale x code."""
    slack: NDArray[np.float32]
    """Of the vector less scale x code."""


def quantised(vectors: NDArray[Any]) -> Quantised:
    """Vectors of any float type in codes from -127 to 127; a row's largest number has the largest code."""
    count, dim = vectors.shape
    made = Quantised(np.empty((count, dim), "<i1"), *(np.empty(count, "<f4") for _ in range(3)))
    step = max(1, WIDENED // dim)
    with np.errstate(invalid="ignore", over="ignore"):
        for low in range(0, count, step):
            _quantise(vectors[low : low + step].astype(np.float64), made, slice(low, low + step))
    return made


def _quantise(vectors: NDArray[np.float64], made: Quantised, rows: slice) -> None:
    scale = (np.maximum(np.abs(vectors).max(axis=1, initial=0.0), _LEAST) / 127).astype("<f4")
    wide = scale.astype(np.float64)[:, None]
    code = np.rint(vectors / wide)
    near = code * wide
    made.code[rows], made.scale[rows], made.length[rows] = code, scale, _length(near)
    made.slack[rows] = _length(vectors - near)


def _length(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    """Lengths of rows, rounded up."""
    exact = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    raised: NDArray[np.float32] = np.nextafter(exact.astype("<f4"), np.float32(np.inf))
    return raised


def pieces(made: Columns, first: int, dim: int) -> list[tuple[int, bytes]]:
    """(place in the file, bytes) of columns whose rows begin at row ``first``."""
    fields: Mapping[str, Any] = block_type(dim).fields or {}
    count = len(made["chunk"])
    found: list[tuple[int, bytes]] = []
    if not count:
        return found
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
    page = read_at(descriptor, _CHECKED_BYTES, 0)
    if len(page) < _CHECKED_BYTES or zlib.crc32(page[:-4]) != struct.unpack("<I", page[-4:])[0]:
        return None
    magic, version, found, rows, edits, high_water, dropped, tie, space = _HEADER.unpack(page[:-4])
    if (magic, version, found, tie) != (MAGIC, FORMAT, dim, bound):
        return None
    if os.fstat(descriptor).st_size < file_bytes(rows, dim):
        return None
    return Header(tie, dim, rows, edits, high_water, dropped, space.rstrip(b"\0").decode("utf-8", "replace"))
