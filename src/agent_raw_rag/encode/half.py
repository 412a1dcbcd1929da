"""Vectors as the store keeps them: half precision bytes, 2 bytes a number. Cosines change by less than 0.001."""

from __future__ import annotations

import numpy as np

from agent_raw_rag.encode.base import Vectors


def to_half(vectors: Vectors) -> list[bytes]:
    """[n, dim] -> n rows of bytes."""
    return [row.tobytes() for row in vectors.astype(np.float16)]
