"""Answers of an embedding server, good and bad, without a server."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.http_vectors import read_vectors
from agent_raw_rag.errors import ModelError

NUMBERS = st.floats(-1e6, 1e6).filter(lambda number: abs(number) > 1e-6)
ROWS = st.integers(1, 8).flatmap(
    lambda dim: st.lists(st.lists(NUMBERS, min_size=dim, max_size=dim), min_size=1, max_size=6)
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["index", "embedding", "data"]), inner),
    max_leaves=20,
)


def answer(rows: list[Any]) -> dict[str, Any]:
    return {"data": [{"index": place, "embedding": row} for place, row in enumerate(rows)]}


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_the_items_is_that_of_their_index(rows: list[list[float]], random: Any) -> None:
    shuffled = answer(rows)
    random.shuffle(shuffled["data"])
    found = read_vectors(shuffled, len(rows), "http://x")
    expected = [np.array(row) / np.linalg.norm(row) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@given(ROWS)
def test_base64_gives_the_same_vectors(rows: list[list[float]]) -> None:
    packed = [base64.b64encode(np.array(row, "<f4").tobytes()).decode() for row in rows]
    plain = read_vectors(answer(rows), len(rows), "http://x")
    np.testing.assert_allclose(read_vectors(answer(packed), len(rows), "http://x"), plain, rtol=1e-5, atol=1e-7)


@given(JSON, st.integers(0, 3))
def test_any_other_json_is_a_model_error(value: Any, count: int) -> None:
    try:
        found = read_vectors(value, count, "http://x")
    except ModelError:
        return
    assert len(found) == count
    np.testing.assert_allclose([np.linalg.norm(row) for row in found], np.ones(count), rtol=1e-5)
