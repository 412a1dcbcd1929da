"""The toy encoder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.hashing import HashingEncoder

TEXTS = st.lists(st.text(st.one_of(st.characters(), st.just("\ud800")), max_size=40), max_size=8)


@given(TEXTS, st.sampled_from((64, 256)))
def test_rows_have_length_one_and_do_not_depend_on_their_neighbours(texts: list[str], dim: int) -> None:
    encoder = HashingEncoder(dim)
    rows = encoder.encode_passages(texts)
    assert (rows.shape, rows.dtype) == ((len(texts), dim), np.float32)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(rows, encoder.encode_passages(texts[::-1])[::-1])
    for text, row in zip(texts, rows, strict=True):
        np.testing.assert_array_equal(encoder.encode_query(text), row)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [("retry upload", "The upload: RETRY it", "quite another matter"), ("逾時設定", "設定逾時", "修好了")],
)
def test_texts_that_share_words_are_near(query: str, near: str, far: str) -> None:
    encoder = HashingEncoder()
    scores = encoder.encode_passages([near, far]) @ encoder.encode_query(query)
    assert scores[0] > scores[1] + 0.2


def test_vectors_are_the_same_on_every_machine() -> None:
    assert np.flatnonzero(HashingEncoder(64).encode_query("retry upload")).tolist() == [13, 25]
