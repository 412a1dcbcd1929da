"""Vectors as the store keeps them: half precision bytes, 2 bytes a number. Cosines change by less than 0.001."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent_raw_rag.encode.base import Vectors


def to_half(vectors: Vectors) -> list[bytes]:
    """[n, dim] -> n rows of bytes."""
    return [row.tobytes() for row in vectors.astype(np.float16)]


def no_vector(dim: int) -> bytes:
    """A row of zeros: nothing is near it."""
    return bytes(2 * dim)


def from_half(rows: Sequence[bytes]) -> Vectors:
    """n rows of bytes -> [n, dim], of length 1 again."""
    wide = np.frombuffer(b"".join(rows), np.float16).reshape(len(rows), -1).astype(np.float32)
    lengths = np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)
    unit: Vectors = np.divide(wide, lengths, dtype=np.float32)
    return unit
