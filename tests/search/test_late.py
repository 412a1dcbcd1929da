"""Late interaction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.search.late import TELLING, UNSEEN, max_similarity, token_weights

TOY = HashingEncoder(1024)
TEXTS = st.text(st.sampled_from("abc é漢?"), max_size=30)


def similarity(query: str, passage: str, idf: dict[str, float] | None = None) -> float:
    states = TOY.query_states(query)
    weights = token_weights(query, states.spans, lambda term: (idf or {}).get(term, 1.0), 100)
    return max_similarity(states, weights, TOY.token_states(passage))


def test_a_passage_with_all_words_of_the_question_is_as_near_as_can_be() -> None:
    assert similarity("retry the upload", "the upload, then one more retry") == pytest.approx(1)


def test_a_telling_word_counts_more_than_a_common_one() -> None:
    idf = {"zebra": 5.0, "file": 0.1}
    assert similarity("zebra file", "zebra", idf) > similarity("zebra file", "file", idf)


def test_stopwords_count_one_and_the_rarest_word_one_and_the_most_that_is_added() -> None:
    spans = np.array([(0, 3), (4, 9)], dtype=np.int32)
    weights = token_weights("the zebra", spans, lambda _: math.log(1 + 100.5 / 0.5), 100)
    np.testing.assert_allclose(weights, np.array([1, 1 + TELLING]) / (2 + TELLING))


def test_a_text_without_tokens_is_farther_off_than_any_other() -> None:
    assert similarity("zebra", "") == UNSEEN
    assert similarity("", "zebra") == UNSEEN


@given(TEXTS, TEXTS, TEXTS)
def test_more_text_never_takes_away(query: str, passage: str, more: str) -> None:
    assert similarity(query, f"{passage} {more}") >= similarity(query, passage) - 1e-6


@given(TEXTS)
def test_weights_are_a_share_each(query: str) -> None:
    spans = TOY.query_states(query).spans
    weights = token_weights(query, spans, lambda term: len(term), 100)
    assert weights.shape == (len(spans),)
    assert (weights >= 0).all()
    assert not len(spans) or weights.sum() == pytest.approx(1)
