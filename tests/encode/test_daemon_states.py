from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.daemon_states import packed, unpacked
from agent_raw_rag.encode.hashing import HashingEncoder

DIM = 16
encoder = HashingEncoder(DIM)


@given(st.text(max_size=60))
def test_states_arrive_as_they_were_sent(text: str) -> None:
    sent = encoder.token_states(text)
    found = unpacked(packed(sent), DIM)
    assert found is not None
    assert found.vectors.tobytes() == sent.vectors.tobytes() and found.vectors.shape == sent.vectors.shape
    assert found.spans.tolist() == sent.spans.tolist() and found.spans.shape == (len(sent.vectors), 2)


@given(st.binary(max_size=300), st.integers(1, 40))
def test_any_bytes_are_states_or_none(content: bytes, dim: int) -> None:
    found = unpacked(content, dim)
    assert found is None or found.vectors.shape[1] == dim


@given(st.text(min_size=1, max_size=20), st.integers(0, 400))
def test_states_that_are_not_whole_are_none(text: str, cut: int) -> None:
    content = packed(encoder.token_states(text))
    assert unpacked(content[: min(cut, len(content) - 1)], DIM) is None
    assert unpacked(content + b"\0", DIM) is None
    assert np.frombuffer(content[:4], "<u4")[0] == len(encoder.token_states(text).vectors)
