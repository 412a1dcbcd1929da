"""The file of a vector cache: one page of header, then fixed-size records. Little-endian; only this module knows the bytes.

A record is 64 bytes of facts and a float32 vector, so that rows begin on a cache line, and the vectors of all records are
one strided matrix that BLAS takes without a copy. The header is written last: what stands behind its count does not exist.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.models import Millis

MAGIC = b"RAWRAGV1"
FLOAT32 = 1
DATA_START = 4096
GONE = -1
"""The chunk id of a record that was dropped."""
_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
_HEADER = struct.Struct("<8sHHIQQQQ32s64s")
_CHECKED_BYTES = _HEADER.size + 4


@dataclass(frozen=True, slots=True)
class Header:
    """What the first page says."""

    binding: bytes
    """Hash of space and generation."""
    dim: int
    rows: int = 0
    edits: int = 0
    """Grows whenever records change in place."""
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


def record_type(dim: int) -> np.dtype[Any]:
    """The record as numpy sees it."""
    facts = [("chunk", "<i8"), ("session", "<i8"), ("start", "<i8"), ("end", "<i8"), ("roles", "<u4"), ("pad", "V28")]
    return np.dtype([*facts, ("vector", "<f4", (dim,))])


def records(rows: Sequence[VectorRow], vectors: NDArray[Any]) -> NDArray[Any]:
    """Records to write. A missing start lies after every range's end, a missing end before every start."""
    made = np.zeros(len(rows), record_type(vectors.shape[1]))
    made["chunk"] = [row.chunk_id for row in rows]
    made["session"] = [row.session for row in rows]
    made["start"] = [_LAST if row.start is None else row.start for row in rows]
    made["end"] = [_FIRST if row.end is None else row.end for row in rows]
    made["roles"] = [row.roles for row in rows]
    made["vector"] = vectors
    return made


def pack(header: Header) -> bytes:
    """The header's bytes: far less than a disk sector, so that a crash leaves the old ones or the new ones."""
    plain = _HEADER.pack(
        MAGIC, 1, FLOAT32, header.dim, header.rows, header.edits, header.high_water, header.dropped, header.binding,
        header.space.encode("utf-8", "replace")[:64],
    )  # fmt: skip
    return plain + struct.pack("<I", zlib.crc32(plain))


def read_header(descriptor: int, bound: bytes, dim: int) -> Header | None:
    """The header of an open file; None: damaged, shorter than it says, of another format, space or store."""
    block = os.pread(descriptor, _CHECKED_BYTES, 0)
    if len(block) < _CHECKED_BYTES or zlib.crc32(block[:-4]) != struct.unpack("<I", block[-4:])[0]:
        return None
    magic, version, kind, found, rows, edits, high_water, dropped, tie, space = _HEADER.unpack(block[:-4])
    if (magic, version, kind, found, tie) != (MAGIC, 1, FLOAT32, dim, bound):
        return None
    if os.fstat(descriptor).st_size < DATA_START + rows * record_type(dim).itemsize:
        return None
    return Header(tie, dim, rows, edits, high_water, dropped, space.rstrip(b"\0").decode("utf-8", "replace"))
