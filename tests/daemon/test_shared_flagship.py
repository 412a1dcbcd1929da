"""MLX models behind the daemon: a tiny encoder and a tiny reranker, loaded in the serving process only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent_raw_rag.encode.daemon_address import find
from agent_raw_rag.encode.daemon_encoder import DaemonEncoder
from agent_raw_rag.encode.daemon_link import Link
from agent_raw_rag.encode.daemon_reranker import DaemonReranker
from agent_raw_rag.encode.mlx_backend import mlx_available
from agent_raw_rag.encode.overlap import OverlapReranker
from agent_raw_rag.runtime import Runtime
from tests.daemon.running import client, environment, health, serving
from tests.encode.tiny_qwen import write_model

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not mlx_available(), reason="MLX is not installed here"),
]
QUERY = "Which size of a window did we settle on?"
PASSAGES = ["Gravity is a force.", "The answer must hold whole turns.", "", "lone \ud800", "A retry makes duplicates."]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A runtime whose models another process serves."""
    folder = tmp_path_factory.mktemp("flagship")
    model = write_model(folder / "tiny")
    made = environment(
        folder, "".join(f'[{what}]\nname = "mlx"\nmodel = "{model}"\n' for what in ("encoder", "reranker"))
    )
    with serving(made):
        yield Runtime.load(None, made)


def test_the_runtimes_reranker_is_the_served_one_with_the_same_scores(served: Runtime) -> None:
    reranker = served.models.reranker(None)
    assert isinstance(reranker, DaemonReranker) and reranker.is_probability
    before = health(served.home)["made"]["scores"]
    scores = reranker.score(QUERY, PASSAGES)
    assert health(served.home)["made"]["scores"] == before + len(PASSAGES)
    assert scores == reranker.local.score(QUERY, PASSAGES)


def test_the_runtimes_encoder_is_the_served_one_with_the_same_vectors(served: Runtime) -> None:
    choice = served.models.encoder_choice(None)
    assert choice is not None
    encoder = served.models.encoder(choice)
    assert isinstance(encoder, DaemonEncoder)
    assert encoder.space.name in health(served.home)["spaces"]
    found = encoder.encode_passages(PASSAGES), encoder.encode_query(QUERY)
    assert health(served.home)["made"]["vectors"] == len(PASSAGES) + 1
    assert found[0].tobytes() == encoder.local.encode_passages(PASSAGES).tobytes()
    assert found[1].tobytes() == encoder.local.encode_query(QUERY).tobytes()


def test_a_reranker_of_another_name_is_not_asked(served: Runtime) -> None:
    reranker = DaemonReranker(OverlapReranker(), "mlx-000000000000", Link(served.home), seconds=30)
    before = health(served.home)["made"]["scores"]
    assert reranker.score("whole turns", PASSAGES) == OverlapReranker().score("whole turns", PASSAGES)
    assert health(served.home)["made"]["scores"] == before


def test_the_rerank_form_is_that_of_other_servers(served: Runtime) -> None:
    with client(find(served.home)) as asked:
        body = {"query": QUERY, "documents": ["a", "b", "c"], "top_n": 2, "return_documents": True}
        answer = asked.post("/v1/rerank", json=body).json()
        assert asked.post("/v1/rerank", json={"query": QUERY, "documents": []}).json()["results"] == []
    results = answer["results"]
    assert len(results) == 2 and results[0]["relevance_score"] >= results[1]["relevance_score"]
    assert all(one["document"]["text"] == "abc"[one["index"]] for one in results)
