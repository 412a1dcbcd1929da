"""Vectors from an inference server: made, searched, and missed when the server is gone. The store never takes a wrong one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.encode.http_encoder import HttpEncoder
from agent_raw_rag.ingest.embed import embed_backlog
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.search.result import SearchResult
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.reader import Scope
from agent_raw_rag.store.vectors import Vectors
from tests.samples import sample_runtime
from tests.servers.running import Visit, dead_url, inference_server

pytestmark = pytest.mark.process
QUERY = "why did the upload retry forever?"
MODEL, DIM = "served-model", 64


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with inference_server() as root:
        yield root


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """The sample logs, ingested without vectors."""
    return sample_runtime(tmp_path)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """The same for tests after which it must be as it was."""
    return sample_runtime(tmp_path_factory.mktemp("unchanged"))


def encoder(url: str, **settings: Any) -> HttpEncoder:
    return HttpEncoder(url, **{"model": MODEL, "dim": DIM, "environment": {}, "query_seconds": 2, **settings})


def embed(runtime: Runtime, encoder: HttpEncoder) -> tuple[int, int, str | None]:
    connection = connect(runtime.settings.store_path(), write=True)
    return embed_backlog(connection, runtime.home, lambda: encoder)


def search(runtime: Runtime, encoder: HttpEncoder) -> SearchResult:
    funnel = Funnel(runtime.home, lambda: runtime.reader, lambda: encoder, runtime.settings.search)
    return funnel.search(QUERY, Scope(), top_k=5, max_tokens=2000, zone=UTC, resume=runtime.resume)


def stored(runtime: Runtime, space: str) -> tuple[int, int]:
    """Vectors of a space, and chunks without one."""
    return Vectors(connect(runtime.settings.store_path(), write=False), space).count()


def test_a_dead_server_leaves_the_ranking_to_words_and_says_so(runtime: Runtime) -> None:
    with inference_server() as root:
        alive = encoder(Visit(root, "ok").url)
        encoded, missing, why = embed(runtime, alive)
        assert encoded > 0 and (missing, why) == (0, None)
        both = search(runtime, alive)
        assert any(stage.startswith("dense: ") and "skipped" not in stage for stage in both.stages)
    gone = search(runtime, alive)
    assert gone.passages
    (dense,) = [stage for stage in gone.stages if stage.startswith("dense: ")]
    assert dense.startswith(f"dense: skipped, The inference server {root}/ok/") and "cannot be reached" in dense
    (again,) = [stage for stage in search(runtime, alive).stages if stage.startswith("dense: ")]
    assert "It is asked again in" in again


def test_the_same_model_elsewhere_is_the_same_space(runtime: Runtime, server: str) -> None:
    embed(runtime, encoder(Visit(server, "ok").url))
    moved = encoder(Visit(server, "base64").url, model="", dim=0)
    assert embed(runtime, moved) == (0, 0, None)
    assert any("skipped" not in stage for stage in search(runtime, moved).stages if stage.startswith("dense: "))


@pytest.mark.parametrize("mode", ["nan", "fewer", "zero", "html", "tomorrow", "nomodel"])
def test_a_server_that_answers_wrongly_leaves_the_store_as_it_was(unchanged: Runtime, server: str, mode: str) -> None:
    bad = encoder(Visit(server, mode).url, batch_texts=4)
    before = stored(unchanged, bad.space.name)
    assert before[0] == 0 < before[1]
    encoded, missing, why = embed(unchanged, bad)
    assert (encoded, missing) == (0, before[1]) and why
    assert stored(unchanged, bad.space.name) == before


def test_the_backlog_waits_for_a_dead_server(runtime: Runtime, server: str) -> None:
    encoded, missing, why = embed(runtime, encoder(dead_url(), retries=0))
    assert encoded == 0 < missing
    assert why is not None and "cannot be reached" in why
    embed(runtime, encoder(Visit(server, "ok").url))
    assert stored(runtime, encoder(dead_url()).space.name)[1] == 0
