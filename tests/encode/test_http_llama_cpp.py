"""The encoder and the reranker against a real llama.cpp server over a tiny model with random weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from agent_raw_rag.encode.http_encoder import HttpEncoder
from agent_raw_rag.encode.http_reranker import HttpReranker
from agent_raw_rag.errors import ModelError
from tests.servers.llama_cpp import DIM, llama_server, tiny_bert

pytestmark = pytest.mark.process
TEXTS = ["retry the upload", "", "why does the login form drop the session cookie", "half \ud800 a pair", "逾時設定"]


@pytest.fixture(scope="module")
def embeddings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    model = tiny_bert(tmp_path_factory.mktemp("model") / "tiny-embed.gguf", rank=False)
    with llama_server(model, "--embeddings") as url:
        yield url


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    model = tiny_bert(tmp_path_factory.mktemp("model") / "tiny-rank.gguf", rank=True)
    with llama_server(model, "--rerank") as url:
        yield url


def test_the_server_says_its_model_and_its_dimension(embeddings: str) -> None:
    space = HttpEncoder(embeddings, environment={}).space
    assert (space.model, space.revision, space.dim, space.instruction) == ("tiny-embed.gguf", "http", DIM, "")


def test_a_text_has_one_vector_whatever_is_encoded_beside_it(embeddings: str) -> None:
    encoder = HttpEncoder(f"{embeddings}/v1/", environment={})
    rows = encoder.encode_passages(TEXTS)
    assert rows.shape == (len(TEXTS), DIM)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(encoder.encode_passages(TEXTS[::-1])[::-1], rows, atol=1e-4)
    np.testing.assert_allclose([encoder.encode_query(text) for text in TEXTS], rows, atol=1e-4)
    assert np.abs(rows[0] - rows[2]).max() > 0.01


def test_a_text_beyond_the_servers_batch_is_named_and_the_others_would_do(embeddings: str) -> None:
    encoder = HttpEncoder(embeddings, environment={})
    with pytest.raises(ModelError, match=r"too large.*The text has 1,200 characters"):
        encoder.encode_passages(["the upload", "a " * 600, "the cookie"])
    assert encoder.encode_passages(["the upload", "the cookie"]).shape == (2, DIM)


def test_the_reranker_is_found_out_and_its_scores_are_no_probabilities(ranks: str) -> None:
    reranker = HttpReranker(ranks, environment={})
    scores = reranker.score("why does the login form drop", TEXTS)
    assert len(scores) == len(TEXTS) and len(set(scores)) > 2
    assert (reranker.name, reranker.is_probability) == ("tiny-rank.gguf over http (llamacpp)", False)


def test_the_servers_two_forms_give_the_same_scores(ranks: str) -> None:
    asked = [HttpReranker(ranks, form=form, probability=False, environment={}) for form in ("llamacpp", "tei")]
    first, second = (one.score("the upload", TEXTS) for one in asked)
    np.testing.assert_allclose(first, second, atol=1e-4)


def test_an_embedding_server_that_does_not_rerank_says_how_to_start_it(embeddings: str) -> None:
    with pytest.raises(ModelError, match=r"no rerank endpoint.*--rerank"):
        HttpReranker(embeddings, environment={}).score("why", TEXTS)
