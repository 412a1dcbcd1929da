"""The reranker over HTTP against a real server process, in every form, conforming and hostile."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.base import Reranker
from agent_raw_rag.encode.http_patience import Timing
from agent_raw_rag.encode.http_reranker import HttpReranker
from agent_raw_rag.encode.rerank_forms import FORMS, read_scores
from agent_raw_rag.errors import ConfigError, ModelError
from tests.servers.running import Visit, dead_url

QUERY = "why is the upload slow?"
PASSAGES = ["a cookie", "the upload is slow", "the slow bear", "", "half \ud800 a pair", "why is the upload slow"]
BEST = [5, 1, 2]


def reranker(visit: Visit | str, **settings: Any) -> HttpReranker:
    url = visit if isinstance(visit, str) else visit.url
    return HttpReranker(url, environment={}, **{"timeout_seconds": 0.5, **settings})


def best(scores: list[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: -scores[place])[:3]


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("batch_texts", [2, 64])
def test_every_form_gives_one_score_a_passage_in_their_order(server: str, form: str, batch_texts: int) -> None:
    asked: Reranker = reranker(Visit(server, form), form=form, batch_texts=batch_texts)
    scores = asked.score(QUERY, PASSAGES)
    assert (len(scores), best(scores)) == (len(PASSAGES), BEST)


@pytest.mark.parametrize(
    ("mode", "form", "paths", "is_probability", "name"),
    [
        ("vllm", "vllm", ["v1/models", "v1/rerank", "v1/rerank"], True, "served-model over http (vllm)"),
        ("llamacpp", "llamacpp", ["v1/models", "v1/rerank", "v1/rerank"], False, "served-model over http (llamacpp)"),
        ("jina", "jina", ["v1/models", "v1/rerank", "v1/rerank"], False, "served-model over http (jina)"),
        ("tei", "tei", ["v1/models", "info", "rerank", "rerank"], True, "BAAI/bge-reranker-base over http (tei)"),
    ],
)
def test_the_form_is_found_out_once_and_says_what_its_scores_are(
    server: str, mode: str, form: str, paths: list[str], is_probability: bool, name: str
) -> None:
    visit = Visit(server, mode)
    asked = reranker(visit)
    assert not asked.is_probability and "not known yet" in asked.name
    for _ in range(2):
        assert best(asked.score(QUERY, PASSAGES[:3])) == [1, 2, 0]
    assert [one["path"] for one in visit.seen()] == paths
    assert (asked.is_probability, asked.name) == (is_probability, name)


def test_a_request_is_what_its_server_documents(server: str) -> None:
    bodies = {}
    for mode in FORMS:
        visit = Visit(server, mode)
        reranker(visit, form=mode, model="m").score("why?", ["because"])
        bodies[mode] = visit.seen()[0]["body"]
    common = {"model": "m", "query": "why?", "documents": ["because"]}
    assert bodies == {
        "vllm": common, "llamacpp": common, "cohere": common, "jina": {**common, "return_documents": False},
        "tei": {"query": "why?", "texts": ["because"], "raw_scores": False, "truncate": True},
    }  # fmt: skip


def test_no_passages_are_no_request(server: str) -> None:
    visit = Visit(server, "vllm")
    assert reranker(visit).score(QUERY, []) == []
    assert visit.seen() == []


def test_an_instruction_stands_on_the_query(server: str) -> None:
    visit = Visit(server, "vllm")
    reranker(visit, form="vllm", instruction="<Query>: {query}").score("why?", ["because"])
    assert visit.seen()[0]["body"]["query"] == "<Query>: why?"


def test_a_batch_that_is_too_large_is_asked_in_halves(server: str) -> None:
    visit = Visit(server, "tei")
    assert best(reranker(visit, form="tei").score(QUERY, PASSAGES)) == BEST
    assert [len(one["body"]["texts"]) for one in visit.seen()] == [6, 3, 3]


@pytest.mark.parametrize("probability", [None, True])
def test_scores_that_are_no_probabilities_are_not_passed_off_as_such(server: str, probability: bool | None) -> None:
    asked = reranker(Visit(server, "unbounded"), probability=probability)
    with pytest.raises(ModelError, match=r"no probabilities\. Set reranker\.probability = false"):
        asked.score(QUERY, PASSAGES)
    configured = reranker(Visit(server, "unbounded"), probability=False)
    assert best(configured.score(QUERY, PASSAGES)) == BEST and not configured.is_probability


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("missing", "2 scores for 3 passages"),
        ("added", "4 scores for 3 passages"),
        ("twice", "index 1, which is none or stands there twice"),
        ("beyond", "index 3, which is none"),
        ("negative", "index -1, which is none"),
        ("nan", "relevance_score nan, which is no finite number"),
        ("null", "relevance_score None, which is no finite number"),
        ("renamed", "relevance_score None, which is no finite number"),
        ("numbers", "something without a list of results"),
        ("nothing", "something without a list of results"),
    ],
)
def test_anything_but_one_good_score_a_passage_is_refused_and_said(server: str, mode: str, said: str) -> None:
    visit = Visit(server, mode)
    with pytest.raises(ModelError, match=said) as caught:
        reranker(visit).score(QUERY, PASSAGES[:3])
    assert visit.url in str(caught.value)


def test_a_key_that_may_not_list_models_may_still_rerank(server: str) -> None:
    assert best(reranker(Visit(server, "narrow"), model="m").score(QUERY, PASSAGES)) == BEST


def test_a_server_without_a_reranker_is_said(server: str) -> None:
    with pytest.raises(ModelError, match=r"has no rerank endpoint\. Start it with a reranker"):
        reranker(Visit(server, "ok")).score(QUERY, PASSAGES)


def test_a_dead_server_is_said_and_then_left_alone() -> None:
    asked = reranker(dead_url())
    for said in ("cannot be reached", "asked again in"):
        with pytest.raises(ModelError, match=said):
            asked.score(QUERY, PASSAGES)


def test_all_passages_of_a_query_share_one_deadline(server: str) -> None:
    ticks = count(step=0.5)
    visit = Visit(server, "vllm")
    asked = reranker(visit, form="vllm", batch_texts=1, timeout_seconds=5, timing=Timing(clock=lambda: next(ticks)))
    with pytest.raises(ModelError, match="did not answer in time"):
        asked.score(QUERY, PASSAGES * 10)
    assert 0 < len(visit.seen()) < 10


def test_an_unknown_form_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no rerank form 'openai'\. Known: auto, cohere, jina, llamacpp, tei, vllm"):
        reranker("http://127.0.0.1:1", form="openai")


RESULTS = st.recursive(
    st.none() | st.integers(-1, 3) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["results", "index", "score", "relevance_score"]), inner)
    ),
    max_leaves=20,
)


@given(RESULTS, st.integers(0, 3), st.sampled_from(sorted(FORMS)))
def test_any_other_json_is_a_model_error(answer: Any, count: int, form: str) -> None:
    try:
        assert len(read_scores(FORMS[form], answer, count, "http://x")) == count
    except ModelError:
        return
