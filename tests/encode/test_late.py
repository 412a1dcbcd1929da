"""Token states of the model in the package and of the toy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.encode.late import TokenEncoder

TEXT = "The file is sent three times, then it gives up."


@pytest.fixture(scope="module", params=["embedded", "hashing"])
def encoder(request: pytest.FixtureRequest) -> TokenEncoder:
    return EmbeddedEncoder() if request.param == "embedded" else HashingEncoder()


def test_each_token_has_a_state_of_length_one_and_its_place_in_the_text(encoder: TokenEncoder) -> None:
    found = encoder.token_states(TEXT)
    assert found.vectors.dtype == np.float32
    assert len(found.vectors) == len(found.spans)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-5)
    assert [TEXT[start:end] for start, end in found.spans][:3] == ["The", "file", "is"]


def test_a_query_has_its_own_tokens_only(encoder: TokenEncoder) -> None:
    spans = encoder.query_states("who sent it?").spans
    assert ["who sent it?"[start:end] for start, end in spans][:3] == ["who", "sent", "it"]


@pytest.mark.parametrize("text", ["", " ", "\n", "\x00"])
def test_a_text_without_words_has_no_states(encoder: TokenEncoder, text: str) -> None:
    assert len(encoder.token_states(text).vectors) == len(encoder.query_states(text).vectors) == 0


def test_any_text_is_taken(encoder: TokenEncoder) -> None:
    for text in ("a\ud800b", "資料庫", "x" * 100_000, "🎉 done"):
        found = encoder.token_states(text)
        assert np.isfinite(found.vectors).all()
        assert (found.spans >= 0).all() and (found.spans <= len(text)).all()


def test_a_text_has_the_same_states_whatever_ran_before_or_beside_it(encoder: TokenEncoder) -> None:
    texts = [TEXT, "x", TEXT * 20, "why?"]
    expected = [encoder.token_states(text).vectors for text in texts]
    with ThreadPoolExecutor(4) as pool:
        again = [found.vectors for found in pool.map(encoder.token_states, texts[::-1])][::-1]
    for one, other in zip(expected, again, strict=True):
        np.testing.assert_array_equal(one, other)
