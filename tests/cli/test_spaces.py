"""Changing the model through the commands: fill, switch, list, drop; and a server that follows in the middle of its life."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.lock import EMBEDDER, lock
from tests.process.processes import INGEST, RAW_RAG, run
from tests.samples import sample_environment


def config(dim: int) -> str:
    return f'[encoder]\nname = "hashing"\ndim = {dim}\nrefill_share = 1.0\n'


def configure(environment: dict[str, str], text: str) -> None:
    (Path(environment["RAW_RAG_HOME"]) / "config.toml").write_text(text, encoding="utf-8")


def spaces(environment: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(RAW_RAG, environment, "spaces", "list", "--json").stdout)
    return found


@pytest.fixture
def ingested(tmp_path: Path) -> dict[str, str]:
    environment = sample_environment(tmp_path, config=config(32))
    assert run(INGEST, environment, "-q").returncode == 0
    return environment


def test_a_changed_model_fills_a_space_and_takes_over(ingested: dict[str, str]) -> None:
    (old,) = spaces(ingested)
    configure(ingested, config(64))
    shown = run(INGEST, ingested, "-q")
    assert f"`raw-rag spaces drop {old['space']}` frees the old one" in shown.stdout
    new, kept = spaces(ingested)
    assert (new["dim"], new["active"], new["backlog"]) == (64, True, 0)
    assert (kept["space"], kept["active"]) == (old["space"], False)
    status = json.loads(run(RAW_RAG, ingested, "status", "--json").stdout)
    assert status["encoder"] == new["space"]
    assert [one["space"] for one in status["filling"]] == [old["space"]]


def test_a_dropped_space_is_gone_with_its_cache_and_the_searched_one_stays(ingested: dict[str, str]) -> None:
    configure(ingested, config(64))
    run(INGEST, ingested, "-q")
    new, kept = spaces(ingested)
    cache = Path(ingested["RAW_RAG_HOME"]) / "vectors" / f"{kept['space']}.cache"
    assert cache.exists()
    assert run(RAW_RAG, ingested, "spaces", "drop", kept["space"]).returncode == 0
    assert not cache.exists() and spaces(ingested) == [new]
    refused = run(RAW_RAG, ingested, "spaces", "drop", new["space"])
    assert refused.returncode == 2 and "is the space that is searched" in refused.stderr


def test_until_the_new_space_is_made_the_old_one_ranks(ingested: dict[str, str]) -> None:
    configure(ingested, config(64))
    runtime = Runtime.load(None, ingested)
    stages = runtime.search("retry the upload", Ask()).stages
    assert any(stage.startswith("dense: ") and "skipped" not in stage for stage in stages)


def test_a_running_process_follows_a_switch_that_another_makes(ingested: dict[str, str]) -> None:
    runtime = Runtime.load(None, ingested)
    before = runtime.status().encoder
    runtime.search("retry the upload", Ask())
    configure(ingested, config(64))
    assert run(INGEST, ingested, "-q").returncode == 0
    stages = runtime.search("retry the upload", Ask()).stages
    assert runtime.status().encoder != before
    assert any(stage.startswith("dense: ") for stage in stages) and not any("skipped" in one for one in stages[:2])


def test_while_another_process_makes_vectors_text_is_read_all_the_same(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path, config=config(32))
    with lock(environment["RAW_RAG_HOME"], EMBEDDER, wait_seconds=0, purpose="a test"):
        report = json.loads(run(INGEST, environment, "--json", "-q").stdout)
    assert sum(one["turns"] for one in report["agents"].values()) > 0
    assert report["embedded"] == 0 and report["backlog"] > 0
    assert "Another process is making vectors" in report["notes"][0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[encoder]\nname = "embedded"\nurl = "http://x"\n', "url means nothing with name = 'embedded'"),
        ('[encoder]\nname = "http"\n', "name = 'http' needs url"),
        ('[encoder]\nname = "mlx"\ndim = -1\n', "encoder.dim"),
        ('[reranker]\nname = "none"\nmodel = "x"\n', "model means nothing with name = 'none'"),
        ('[encoder]\nname = "gpt"\n', "encoder.name"),
    ],
)
def test_a_setting_that_nothing_obeys_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    shown = run(RAW_RAG, sample_environment(tmp_path, config=text), "status")
    assert shown.returncode == 2 and said in shown.stderr and "Traceback" not in shown.stderr
