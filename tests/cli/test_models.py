"""raw-rag models: fetched when asked from a hub, which is here a real server on loopback; listed, checked, removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.encode.tiny_qwen import write_model, write_safetensors

ROOT = Path(__file__).parents[2]
MODEL = "me/tiny-Qwen3-Embedding"
SHARDS = [f"model-{number:05d}-of-00002.safetensors" for number in (1, 2)]
PIECE = 10 << 20
"""Bytes that the hub's client writes at a time."""
RAW_RAG = "from agent_raw_rag.cli.app import main; main()"


@dataclass
class Hub:
    """A running hub."""

    url: str
    process: subprocess.Popen[str]

    def until(self, word: str) -> None:
        """Read its log up to a word."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if word in line:
                return
        raise AssertionError(f"the hub never said {word}")

    def log(self) -> list[str]:
        """Everything that it said from where reading stopped, once it is ended."""
        self.process.kill()
        assert self.process.stdout is not None
        return self.process.stdout.read().splitlines()


@contextmanager
def hub(folder: Path, *faults: str) -> Iterator[Hub]:
    command = [sys.executable, "-m", "tests.encode.hub_server", str(folder), *faults]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Hub(process.stdout.readline().strip(), process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the hub holds: one model in two shards, one of another architecture, one without weights."""
    folder = tmp_path_factory.mktemp("served")
    write_model(folder / MODEL, shards=2)
    (folder / MODEL / "README.md").write_text("# Tiny\n", encoding="utf-8")
    (folder / MODEL / "pytorch_model.bin").write_bytes(b"\0" * 20_000)
    write_model(folder / "me/bert", config={"model_type": "bert", "architectures": ["BertModel"]})
    (folder / "me/empty").mkdir()
    (folder / "me/empty/README.md").write_text("# Nothing\n", encoding="utf-8")
    return folder


def environment(home: Path, url: str = "http://127.0.0.1:9", **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    own = {"HOME": str(home), "RAW_RAG_HOME": str(home / "store"), "HF_HOME": str(home / "hf"), "HF_ENDPOINT": url}
    return {**kept, "PYTHONUTF8": "1", "NO_PROXY": "*", **own, **more}


def start(env: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RAW_RAG, "models", *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(env: dict[str, str], *words: str, expect: int = 0) -> Any:
    """What ``raw-rag models`` prints as JSON; an error's text if one is expected."""
    with start(env, *words, "--json") as process:
        out, errors = process.communicate(timeout=100)
    assert process.returncode == expect, (process.returncode, out, errors)
    assert "Traceback" not in errors
    return json.loads(out) if out else json.loads(errors.splitlines()[-1])["error"]


def state(env: dict[str, str]) -> str:
    return next((row["state"] for row in run(env, "list") if row["model"] == MODEL), "absent")


def snapshot(home: Path) -> Path:
    (folder,) = (home / "hf/hub" / f"models--{MODEL.replace('/', '--')}" / "snapshots").iterdir()
    return folder


def test_a_model_is_fetched_listed_verified_and_removed(tmp_path: Path, served: Path) -> None:
    with hub(served) as one:
        env = environment(tmp_path, one.url)
        (pulled,) = run(env, "pull", MODEL)
        log = one.log()
    offline = environment(tmp_path)
    assert pulled["folder"] == str(snapshot(tmp_path)) and pulled["fetched_bytes"] == pulled["bytes"]
    names = {file.name for file in snapshot(tmp_path).iterdir()}
    assert {"config.json", "tokenizer.json", "README.md", *SHARDS} <= names and "pytorch_model.bin" not in names
    assert all((snapshot(tmp_path) / name).read_bytes() == (served / MODEL / name).read_bytes() for name in names)
    assert not [line for line in log if "/api/" in line and "/api/models/" not in line], "no telemetry"
    assert state(offline) == "present"
    checked = run(offline, "verify", MODEL)
    assert checked["sound"] and {one["verdict"] for one in checked["files"]} == {"ok"}
    assert run(offline, "remove", MODEL, "--yes")["bytes"] >= pulled["bytes"]
    assert state(offline) == "absent"
    assert list((tmp_path / "hf/hub").rglob("*tiny*")) == []


def test_a_second_pull_fetches_nothing(tmp_path: Path, served: Path) -> None:
    with hub(served) as one:
        env = environment(tmp_path, one.url)
        run(env, "pull", MODEL)
        assert run(env, "pull", MODEL)[0]["fetched_bytes"] == 0


@pytest.mark.parametrize("ignores", [(), ("norange",)], ids=["continues", "the server sends all again"])
def test_a_pull_that_was_killed_goes_on_where_it_was(tmp_path: Path, ignores: tuple[str, ...]) -> None:
    held = write_model(tmp_path / "served" / MODEL) / "model.safetensors"
    write_safetensors(held, {"model.wide": ("F32", np.arange(6 << 20, dtype="<f4"))})
    with (
        hub(tmp_path / "served", f"stall={held.name}:{15 << 20}") as one,
        start(environment(tmp_path, one.url, HF_HUB_DOWNLOAD_TIMEOUT="100"), "pull", MODEL) as process,
    ):
        one.until("stalled")
        wait_for_bytes(tmp_path / "hf/hub", PIECE)
        process.kill()
    assert state(environment(tmp_path)) == "incomplete"
    with hub(tmp_path / "served", *ignores) as one:
        (pulled,) = run(environment(tmp_path, one.url), "pull", MODEL)
        log = one.log()
    assert f"GET /cdn/{MODEL}/{held.name} bytes={PIECE}-" in log, log
    assert not ignores or pulled["fetched_bytes"] > 0
    assert run(environment(tmp_path), "verify", MODEL)["sound"]


def wait_for_bytes(folder: Path, size: int) -> None:
    """Until the file that is being fetched has them: the hub has sent them, and nothing stands in their way."""
    while not any(file.stat().st_size >= size for file in folder.rglob("*.incomplete")):
        os.sched_yield()


def test_damaged_files_are_found_and_fetched_again(tmp_path: Path, served: Path) -> None:
    with hub(served) as one:
        env = environment(tmp_path, one.url)
        run(env, "pull", MODEL)
        folder = snapshot(tmp_path)
        for name, old, new in ((SHARDS[0], b"mlx", b"xlm"), ("config.json", b"float32", b"float16")):
            blob = (folder / name).resolve()
            blob.write_bytes(blob.read_bytes().replace(old, new))
        (folder / SHARDS[1]).resolve().unlink()
        result = run(env, "verify", MODEL, expect=1)
        verdicts = {one["file"]: one["verdict"] for one in result["files"]}
        assert [verdicts[name] for name in ("config.json", *SHARDS)] == ["damaged", "damaged", "missing"]
        assert "incomplete" in result["problem"]
        run(env, "pull", MODEL)
        assert run(env, "verify", MODEL)["sound"]


def test_bytes_with_another_checksum_are_not_taken(tmp_path: Path, served: Path) -> None:
    with hub(served, f"garble={SHARDS[0]}") as one:
        env = environment(tmp_path, one.url)
        assert "another checksum" in run(env, "pull", MODEL, expect=1)["message"]
        assert state(env) == "incomplete"
    with hub(served) as one:
        run(environment(tmp_path, one.url), "pull", MODEL)


@pytest.mark.parametrize(
    ("faults", "model", "said"),
    [
        ((), "me/nothing", "no model me/nothing"),
        ((), "me/bert", "another architecture: bert"),
        ((), "me/empty", "no safetensors"),
        ((f"gone={SHARDS[0]}",), MODEL, "does not hold all"),
        (("gone=config.json",), MODEL, "does not hold all"),
        ((f"lie={SHARDS[0]}:{10**17}",), MODEL, "are to be fetched"),
        ((), "not a name", "no name of a model"),
    ],
    ids=[
        "no such model",
        "another architecture",
        "no weights",
        "a shard missing",
        "config missing",
        "no room",
        "bad name",
    ],
)
def test_what_cannot_be_fetched_is_explained(
    tmp_path: Path, served: Path, faults: tuple[str, ...], model: str, said: str
) -> None:
    with hub(served, *faults) as one:
        error = run(environment(tmp_path, one.url), "pull", model, expect=1)
    assert said in error["message"] and error["hint"] and error["code"] == "model"


def test_a_dead_hub_and_a_wish_to_stay_offline_are_told_apart(tmp_path: Path) -> None:
    assert "cannot be reached" in run(environment(tmp_path), "pull", MODEL, expect=1)["message"]
    assert "HF_HUB_OFFLINE" in run(environment(tmp_path, HF_HUB_OFFLINE="1"), "pull", MODEL, expect=1)["message"]


def test_a_disk_that_takes_no_more_keeps_what_it_has(tmp_path: Path, served: Path) -> None:
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)); {RAW_RAG}"
    with hub(served) as one:
        env = environment(tmp_path, one.url)
        done = subprocess.run(
            [sys.executable, "-c", limited, "models", "pull", MODEL],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1 and "too large" in done.stderr and "Make room" in done.stderr, done.stderr
        (part,) = (tmp_path / "hf/hub").rglob("*.incomplete")
        assert part.stat().st_size == 50_000
        assert run(env, "pull", MODEL)[0]["fetched_bytes"] < run(env, "pull", MODEL)[0]["bytes"]


def test_a_cache_that_cannot_be_made_is_explained(tmp_path: Path, served: Path) -> None:
    (tmp_path / "hf").write_text("a file", encoding="utf-8")
    with hub(served) as one:
        error = run(environment(tmp_path, one.url), "pull", MODEL, expect=1)
    assert "Not a directory" in error["message"] and "HF_HOME" in error["hint"]


def test_folders_are_verified_but_neither_fetched_nor_removed(tmp_path: Path) -> None:
    env, folder = environment(tmp_path), write_model(tmp_path / "own")
    result = run(env, "verify", str(folder))
    assert result["sound"] and {one["verdict"] for one in result["files"]} == {"unrecorded"}
    assert "is a folder" in run(env, "pull", str(folder), expect=2)["message"]
    assert "folder of yours" in run(env, "remove", str(folder), "--yes", expect=2)["message"]
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-8])
    assert "is damaged" in run(env, "verify", str(folder), expect=1)["problem"]


def test_what_is_not_there_is_neither_verified_nor_removed(tmp_path: Path) -> None:
    for words in (["verify", MODEL], ["remove", MODEL, "--yes"]):
        assert "not on this machine" in run(environment(tmp_path), *words, expect=1)["message"]


def test_nobody_is_asked_where_nobody_is(tmp_path: Path) -> None:
    assert "--yes" in run(environment(tmp_path), "remove", MODEL, expect=2)["hint"]


def test_known_models_are_listed_with_one_default_of_each_kind(tmp_path: Path) -> None:
    rows = run(environment(tmp_path), "list")
    assert {row["state"] for row in rows} == {"absent"}
    assert sorted(row["kind"] for row in rows if row["default"]) == ["embed", "rerank"]
    assert not (tmp_path / "hf").exists()


def test_a_hub_cannot_name_a_file_outside_of_the_cache(tmp_path: Path, served: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("precious", encoding="utf-8")
    with hub(served, f"oid={SHARDS[0]}:{mine}") as one:
        error = run(environment(tmp_path, one.url), "pull", MODEL, expect=1)
    assert "is not sound" in str(error)
    assert mine.read_text(encoding="utf-8") == "precious" and not mine.with_name("mine.txt.incomplete").exists()
