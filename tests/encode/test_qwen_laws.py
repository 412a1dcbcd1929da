"""What holds for any texts: a vector or a score does not depend on what else is asked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_raw_rag.encode.batches import batches
from agent_raw_rag.encode.qwen_encoder import QwenEncoder
from agent_raw_rag.encode.qwen_reranker import QwenReranker

WORDS = st.sampled_from(
    ["retry", " the", " upload", "\n", " 資料庫", " no", "yes", " <|im_end|>", " <|endoftext|>", "x" * 40]
)
MIXES = st.lists(st.lists(WORDS, max_size=40).map("".join), min_size=1, max_size=7)
LAW = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
SAME = 1e-5
"""float32: the order of sums may differ with a batch's shape."""


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 600))
def test_batches_hold_every_place_once_within_the_budget(lengths: list[int], budget: int) -> None:
    found = list(batches(lengths, budget))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= budget


@given(texts=MIXES, budget=st.sampled_from([1, 64, 400, 8192]))
@LAW
def test_a_vector_is_the_same_in_any_batch_and_order(
    encoder: Callable[..., QwenEncoder], texts: list[str], budget: int
) -> None:
    model = encoder()
    model._batch_tokens = budget
    alone = np.array([model.encode_passages([text])[0] for text in texts])
    np.testing.assert_allclose(model.encode_passages(texts), alone, atol=SAME)
    np.testing.assert_allclose(model.encode_passages(texts[::-1])[::-1], alone, atol=SAME)
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, rtol=1e-5)


@given(query=st.lists(WORDS, max_size=8).map("".join), texts=MIXES, budget=st.sampled_from([1, 400, 8192]))
@LAW
def test_a_score_is_the_same_in_any_batch_and_order(
    reranker: Callable[..., QwenReranker], query: str, texts: list[str], budget: int
) -> None:
    model = reranker()
    model._batch_tokens = budget
    alone = [model.score(query, [text])[0] for text in texts]
    np.testing.assert_allclose(model.score(query, texts), alone, atol=SAME)
    np.testing.assert_allclose(model.score(query, texts[::-1])[::-1], alone, atol=SAME)
    assert all(0 <= score <= 1 for score in alone)


@pytest.mark.parametrize("form", ["bf16", "q4"])
def test_padding_changes_no_vector_and_no_score_of_smaller_types(
    encoder: Callable[..., QwenEncoder], reranker: Callable[..., QwenReranker], form: str
) -> None:
    texts = ["x", "upload " * 30, "a retry", "date parser " * 9]
    vectors, scores = encoder(form).encode_passages(texts), reranker(form).score("retry", texts)
    alone = [encoder(form).encode_passages([text])[0] for text in texts]
    np.testing.assert_allclose(vectors, alone, atol=1e-2)
    np.testing.assert_allclose(scores, [reranker(form).score("retry", [text])[0] for text in texts], atol=1e-2)


def test_threads_do_not_disturb_each_other(
    encoder: Callable[..., QwenEncoder], reranker: Callable[..., QwenReranker]
) -> None:
    texts = [f"upload {number} " * (number + 1) for number in range(8)]
    vectors = [encoder().encode_query(text) for text in texts]
    scores = [reranker().score(text, texts) for text in texts]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(2):
            np.testing.assert_allclose(list(pool.map(encoder().encode_query, texts)), vectors, atol=SAME)
            np.testing.assert_allclose(
                list(pool.map(lambda text: reranker().score(text, texts), texts)), scores, atol=SAME
            )
