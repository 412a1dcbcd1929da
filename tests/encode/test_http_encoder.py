"""The encoder over HTTP against a real server process, conforming and hostile."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from agent_raw_rag.encode.base import Encoder, Space
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.encode.http_encoder import HttpEncoder
from agent_raw_rag.encode.http_patience import Timing
from agent_raw_rag.errors import ModelError
from tests.servers.running import Visit, dead_url, inference_server

DIM = 64
TEXTS = ["retry the upload", "the login cookie", "", "half \ud800 a pair", "逾時設定"]
PATH = "v1/embeddings"


def encoder(visit: Visit | str, **settings: Any) -> HttpEncoder:
    url = visit if isinstance(visit, str) else visit.url
    timing = Timing(wait=lambda seconds: None)
    return HttpEncoder(url, environment={}, timing=timing, **{"timeout_seconds": 20, "retries": 2, **settings})


@pytest.mark.parametrize("mode", ["ok", "base64", "reversed", "away", "busy"])
def test_vectors_have_length_one_and_the_order_of_the_texts(server: str, mode: str) -> None:
    asked: Encoder = encoder(Visit(server, mode), batch_texts=2)
    rows = asked.encode_passages(TEXTS)
    sent = ["retry the upload", "the login cookie", "(empty)", "half ? a pair", "逾時設定"]
    np.testing.assert_allclose(rows, HashingEncoder(DIM).encode_passages(sent), atol=1e-6)
    assert (rows.dtype, asked.space.dim) == (np.float32, DIM)


def test_no_texts_are_no_vectors(server: str) -> None:
    visit = Visit(server, "ok")
    assert encoder(visit, model="m", dim=DIM).encode_passages([]).shape == (0, DIM)
    assert visit.seen() == []


def test_a_configured_space_is_known_without_a_server() -> None:
    asked = encoder(dead_url(), model="Qwen/Qwen3-Embedding-4B", dim=2560)
    space = asked.space
    assert (space.model, space.revision, space.dim) == ("Qwen/Qwen3-Embedding-4B", "http", 2560)
    assert space.instruction.startswith("Instruct: ")


def test_what_is_not_configured_is_found_out_once(server: str) -> None:
    visit = Visit(server, "several")
    asked = encoder(visit)
    assert asked.space == asked.space
    assert (asked.space.model, asked.space.dim) == ("qwen3-embedding:0.6b", DIM)
    asked.encode_query("why?")
    asked.encode_passages(["because"])
    assert [one["path"] for one in visit.seen()] == ["v1/models", PATH, PATH, PATH]
    assert [one["body"].get("model") for one in visit.seen(PATH)] == ["qwen3-embedding:0.6b"] * 3


def test_a_server_that_only_tells_its_info_is_asked_for_that(server: str) -> None:
    assert encoder(Visit(server, "tei")).space.model == "BAAI/bge-reranker-base"


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("unclear", r"offers another-embed, one-embed: it is not clear.*Set encoder\.model"),
        ("chat", r"offers llama3, qwen3:8b: it is not clear"),
        ("unknown", r"offers none by name"),
    ],
)
def test_a_model_is_never_guessed(server: str, mode: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        encoder(Visit(server, mode)).space  # noqa: B018 - asks the server


@pytest.mark.parametrize(
    ("instruction", "sent"),
    [
        (None, "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:why?"),
        ("", "why?"),
        ("query: ", "query: why?"),
        ("Find code for: {query}.", "Find code for: why?."),
    ],
)
def test_the_instruction_stands_on_queries_only_and_in_the_space(
    server: str, instruction: str | None, sent: str
) -> None:
    visit = Visit(server, "ok")
    asked = encoder(visit, model="qwen3-embedding", dim=DIM, instruction=instruction)
    asked.encode_query("why?")
    asked.encode_passages(["because"])
    assert [one["body"]["input"] for one in visit.seen()] == [[sent], ["because"]]
    assert instruction is None or asked.space.instruction == instruction


def test_the_space_says_what_the_model_is_and_not_where(server: str) -> None:
    here, there = encoder(Visit(server, "ok")).space, encoder(Visit(server, "base64")).space
    assert here == there == Space("served-model", "http", DIM)
    assert encoder(Visit(server, "ok"), revision="q4").space.name != here.name


def test_dimensions_are_asked_for_only_when_configured(server: str) -> None:
    visit = Visit(server, "ok")
    encoder(visit, model="m", dim=DIM).encode_passages(["a"])
    shortened = encoder(visit, model="m", dim=32, ask_dim=True)
    assert shortened.encode_passages(["a"]).shape == (1, 32)
    assert [one["body"].get("dimensions") for one in visit.seen()] == [None, 32]


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("list", "something without a list of vectors"),
        ("error200", "something without a list of vectors"),
        ("fewer", "1 vectors for 2 texts"),
        ("more", "3 vectors for 2 texts"),
        ("twice", "not numbered from 0, each once"),
        ("fromone", "not numbered from 0, each once"),
        ("unnumbered", "not numbered from 0, each once"),
        ("ragged", "vectors of 63 to 64 numbers"),
        ("nan", "a vector 1 whose length is not finite"),
        ("infinite", "a vector 1 whose length is not finite"),
        ("enormous", "a vector 1 whose length is not finite"),
        ("null", "a vector 1 that is no list of numbers"),
        ("words", "a vector 1 that is no list of numbers"),
        ("true", "a vector 1 that is no list of numbers"),
        ("nested", "a vector 1 that is no list of numbers"),
        ("zero", "a vector 0 that is empty or zero"),
        ("empty", "a vector 0 that is empty or zero"),
        ("badbase64", "a vector 0 that cannot be read"),
        ("oddbase64", "a vector 0 that cannot be read"),
        ("html", "did not answer in JSON"),
        ("nomodel", r"status 404 \(model 'm' not found, try pulling it first\)"),
    ],
)
def test_anything_but_one_good_vector_a_text_is_refused_and_said(server: str, mode: str, said: str) -> None:
    visit = Visit(server, mode)
    with pytest.raises(ModelError, match=said) as caught:
        encoder(visit, model="m", dim=DIM).encode_passages(["retry the upload", "the login cookie"])
    assert visit.url in str(caught.value)


def test_another_dimension_tomorrow_is_refused(server: str) -> None:
    asked = encoder(Visit(server, "tomorrow"))
    assert asked.encode_passages(["a"]).shape == (1, DIM)
    for encode in (lambda: asked.encode_passages(["a"]), lambda: asked.encode_query("a")):
        with pytest.raises(ModelError, match=r"answered with 32 dimensions, but 64 are expected of served-model"):
            encode()


@pytest.mark.parametrize(("mode", "sizes"), [("most2", [4, 2, 2, 1]), ("fault", [4, 2, 1, 1, 2, 1])])
def test_a_refused_batch_is_asked_in_halves(server: str, mode: str, sizes: list[int]) -> None:
    visit, texts = Visit(server, mode), ["a", "b", "c", "d", "e"]
    rows = encoder(visit, model="m", dim=DIM, batch_texts=4).encode_passages(texts)
    np.testing.assert_allclose(rows, HashingEncoder(DIM).encode_passages(texts), atol=1e-6)
    assert [len(one["body"]["input"]) for one in visit.seen()] == sizes


@pytest.mark.parametrize(("mode", "status"), [("most100", 400), ("llamacpp", 500)])
def test_a_text_that_the_server_does_not_take_is_named_by_its_length(server: str, mode: str, status: int) -> None:
    with pytest.raises(ModelError, match=rf"status {status} \(input is too large\)\. The text has 150 characters"):
        encoder(Visit(server, mode), model="m", dim=DIM).encode_passages(["short", "x" * 150, "short too"])


@pytest.mark.parametrize("where", ["dead", "never", "alwaysbusy"])
def test_a_query_fails_fast_and_once_and_then_at_once(server: str, where: str) -> None:
    visit = Visit(server, where)
    waits: list[float] = []
    asked = HttpEncoder(
        dead_url() if where == "dead" else visit.url, model="m", dim=DIM, environment={}, query_seconds=0.2,
        timing=Timing(wait=waits.append),
    )  # fmt: skip
    for _ in range(3):
        with pytest.raises(ModelError):
            asked.encode_query("why?")
    assert waits == []
    assert len(visit.seen()) == (0 if where == "dead" else 1)


def test_a_server_that_drips_is_given_up_as_well() -> None:
    with inference_server("dripping.py") as url:
        asked = HttpEncoder(url, model="m", dim=DIM, environment={}, query_seconds=0.3)
        with pytest.raises(ModelError, match="did not answer in time"):
            asked.encode_query("why?")


def test_several_threads_may_ask_at_once(server: str) -> None:
    asked = encoder(Visit(server, "ok"))
    queries = [f"question {number}" for number in range(32)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(asked.encode_query, queries))
    np.testing.assert_allclose(rows, HashingEncoder(DIM).encode_passages(queries), atol=1e-6)


def test_a_closed_encoder_opens_its_connections_again(server: str) -> None:
    asked = encoder(Visit(server, "ok"))
    before = asked.encode_query("why?")
    asked.close()
    np.testing.assert_array_equal(asked.encode_query("why?"), before)


def test_a_slow_query_does_not_stop_the_passages(server: str) -> None:
    asked = encoder(Visit(server, "away"), model="m", dim=DIM)
    with pytest.raises(ModelError):
        asked.encode_query("why?")
    assert asked.encode_passages(["because"]).shape == (1, DIM)


def test_a_configured_encoder_and_reranker_load_no_http_library() -> None:
    program = (
        "import sys; from agent_raw_rag.encode.http_encoder import HttpEncoder;"
        "from agent_raw_rag.encode.http_reranker import HttpReranker;"
        "HttpEncoder('http://127.0.0.1:1', model='m', dim=8, environment={}).space;"
        "HttpReranker('http://127.0.0.1:1', environment={}).name;"
        "print(sorted({'httpx2', 'httpcore2', 'anyio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
