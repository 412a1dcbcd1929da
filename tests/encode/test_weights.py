"""Where weights are looked for, and under which names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_raw_rag.encode.hub_cache import cache_folder, cached_repo
from agent_raw_rag.encode.known_models import DEFAULT_ENCODER, DEFAULT_RERANKER, KNOWN, full_name
from agent_raw_rag.encode.qwen_encoder import QwenEncoder
from agent_raw_rag.encode.qwen_reranker import QwenReranker
from agent_raw_rag.encode.weights import find, weights_present
from agent_raw_rag.errors import ModelError
from tests.encode.tiny_qwen import write_model

COMMIT, OTHER = "a" * 40, "b" * 40
MOVES = [{}, {"HF_HOME": "/x"}, {"HF_HUB_CACHE": "~/y"}, {"HF_HOME": "/x", "HF_HUB_CACHE": "/y"}, {"XDG_CACHE_HOME": "/z"},
         {"HF_HOME": "$HOME/v"}, {"HUGGINGFACE_HUB_CACHE": "/old"}]  # fmt: skip


@pytest.mark.parametrize("moved", MOVES, ids=str)
def test_the_cache_is_where_the_hubs_own_client_looks(moved: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    for name, value in moved.items():
        monkeypatch.setenv(name, value)
    program = "from huggingface_hub.constants import HF_HUB_CACHE; print(HF_HUB_CACHE)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert str(cache_folder()) == done.stdout.strip()


def test_a_model_in_the_cache_is_found_by_its_name_and_is_the_same_as_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    folder = cached_repo("me/tiny").folder
    write_model(folder / "snapshots" / COMMIT)
    assert find("me/tiny").folder.name == COMMIT, "the only one"
    shutil.copytree(folder / "snapshots" / COMMIT, folder / "snapshots" / OTHER)
    assert not weights_present("me/tiny"), "two, and nothing says which"
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(OTHER, encoding="utf-8")
    assert find("me/tiny").folder.name == OTHER
    own = write_model(tmp_path / "own")
    assert QwenEncoder("me/tiny").space.revision == QwenEncoder(str(own)).space.revision
    assert QwenReranker("me/tiny").name == "tiny"


def test_a_ref_to_a_commit_that_is_gone_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    (cached_repo("me/tiny").folder / "refs").mkdir(parents=True)
    (cached_repo("me/tiny").folder / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    with pytest.raises(ModelError, match="not on this machine"):
        find("me/tiny")


@pytest.mark.parametrize(
    "make", [lambda: QwenEncoder().space, lambda: QwenReranker().name], ids=["encoder", "reranker"]
)
def test_weights_that_are_not_here_are_never_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "none"))
    with pytest.raises(ModelError, match=r"not on this machine.*raw-rag models pull mlx-community/Qwen3-.*GB"):
        make()
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Qwen/Qwen3-Embedding-4B", DEFAULT_ENCODER),
        ("Qwen3-Embedding-4B", DEFAULT_ENCODER),
        ("qwen3-embedding-4b-4bit-dwq", DEFAULT_ENCODER),
        ("Qwen/Qwen3-Reranker-4B", DEFAULT_RERANKER),
        ("other/Qwen3-Embedding-4B", "other/Qwen3-Embedding-4B"),
    ],
)
def test_short_names_mean_the_conversions_for_mlx(name: str, meant: str) -> None:
    assert full_name(name) == meant


def test_names_of_known_models_are_told_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/use-qwen3.md").read_text(encoding="utf-8")
    assert [row.model for row in KNOWN if f"| `{row.short}` | `{row.model}`" not in page] == []


def test_without_mlx_it_is_said_what_to_install(tmp_path: Path) -> None:
    program = """
import json, sys
sys.modules["mlx"] = sys.modules["mlx_lm"] = None
from agent_raw_rag.encode.mlx_backend import mlx_available
from agent_raw_rag.encode.qwen_encoder import QwenEncoder
from agent_raw_rag.errors import ModelError
try:
    QwenEncoder(sys.argv[1]).encode_query("x")
except ModelError as error:
    print(json.dumps([mlx_available(), error.message, error.hint]))
"""
    folder = write_model(tmp_path / "m")
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=False)
    available, message, hint = json.loads(done.stdout)
    assert not available and "MLX is not installed" in message
    assert "install" in hint or "MLX runs on" in hint


def test_asking_whether_models_are_there_imports_neither_mlx_nor_the_hub(tmp_path: Path) -> None:
    program = """
import sys
from agent_raw_rag.encode.mlx_backend import mlx_available
from agent_raw_rag.encode.weights import weights_present
mlx_available(), weights_present("Qwen/Qwen3-Embedding-4B"), weights_present(sys.argv[1])
print(sorted({"mlx.core", "mlx_lm", "transformers", "huggingface_hub", "numpy", "tokenizers"} & set(sys.modules)))
"""
    folder = write_model(tmp_path / "m")
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
