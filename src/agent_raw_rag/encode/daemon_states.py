"""Token states as they travel over the daemon's socket: bytes, since a window's are 400 kB and its numbers are to stay the same.

Little-endian: the number of tokens (uint32), their spans ([n, 2] int32), their vectors ([n, dim] float32).
"""

from __future__ import annotations

import numpy as np

from agent_raw_rag.encode.late import TokenStates

STATES_PATH = "/v1/token_states"
_HEAD_BYTES = 4
_SPAN_BYTES = 8


def packed(states: TokenStates) -> bytes:
    """The bytes of one text's states."""
    head = np.array([len(states.vectors)], "<u4").tobytes()
    return head + states.spans.astype("<i4").tobytes() + states.vectors.astype("<f4").tobytes()


def unpacked(content: bytes, dim: int) -> TokenStates | None:
    """The states in such bytes; None: they are not of this dimension, or not whole."""
    if len(content) < _HEAD_BYTES:
        return None
    count = int.from_bytes(content[:_HEAD_BYTES], "little")
    if len(content) != _HEAD_BYTES + count * (_SPAN_BYTES + 4 * dim):
        return None
    spans = np.frombuffer(content, "<i4", count * 2, _HEAD_BYTES).reshape(count, 2)
    vectors = np.frombuffer(content, "<f4", count * dim, _HEAD_BYTES + count * _SPAN_BYTES).reshape(count, dim)
    return TokenStates(vectors, spans)
