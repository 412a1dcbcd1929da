"""Encoder and reranker of the flagship: space, dimensions, limits, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agent_raw_rag.encode.mlx_backend import mlx
from agent_raw_rag.encode.mlx_thread import THREAD
from agent_raw_rag.encode.qwen_encoder import QwenEncoder
from agent_raw_rag.encode.qwen_reranker import QwenReranker
from agent_raw_rag.encode.qwen_tokens import QwenTokens
from agent_raw_rag.encode.weights import weights_present
from agent_raw_rag.errors import ModelError
from tests.encode.tiny_qwen import HIDDEN, write_model, write_tokenizer

LONG = "The upload is retried three times. "


def test_any_dimension_is_the_beginning_of_the_full_vector(tiny: Callable[..., Path], needs_mlx: None) -> None:
    full = QwenEncoder(str(tiny())).encode_passages(["one", "two words"])
    for dim in (32, 50, HIDDEN):
        cut = QwenEncoder(str(tiny()), dim=dim).encode_passages(["one", "two words"])
        assert (cut.shape, cut.dtype) == ((2, dim), np.float32)
        expected = full[:, :dim] / np.linalg.norm(full[:, :dim], axis=1, keepdims=True)
        np.testing.assert_allclose(cut, expected, atol=1e-5)


@pytest.mark.parametrize("dim", [31, HIDDEN + 1, -1])
def test_a_dimension_out_of_range_is_refused(tiny: Callable[..., Path], dim: int) -> None:
    with pytest.raises(ModelError, match=rf"{dim} dimensions.*32 to {HIDDEN}"):
        _ = QwenEncoder(str(tiny()), dim=dim).space


def test_the_space_is_known_without_mlx_and_changes_with_what_changes_vectors(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    space = QwenEncoder(str(folder)).space
    assert (space.model, space.dim) == (str(folder), HIDDEN)
    assert QwenEncoder(str(folder)).space == space
    assert QwenEncoder(str(folder), dim=32).space.name != space.name
    assert QwenEncoder(str(folder), instruction="Find code").space.name != space.name
    others = [
        write_model(folder, seed=2), write_model(folder, "bf16"), write_model(folder, config={"rope_theta": 10000}),
    ]  # fmt: skip
    assert len(others) == 3  # the last one stands
    assert QwenEncoder(str(folder)).space.revision != space.revision
    write_model(folder, config={"transformers_version": "9", "use_cache": False})
    assert QwenEncoder(str(folder)).space == space


@pytest.mark.parametrize(("form", "seed"), [("fp32", 2), ("bf16", 1), ("q4", 1)])
def test_other_numbers_of_the_same_shape_are_another_space(
    tmp_path: Path, tiny: Callable[..., Path], form: str, seed: int
) -> None:
    other = write_model(tmp_path / "m", form, seed=seed)
    assert QwenEncoder(str(other)).space.revision != QwenEncoder(str(tiny())).space.revision


def test_the_end_token_is_ours_whatever_the_tokenizer_adds(tmp_path: Path, encoder: Callable[..., QwenEncoder]) -> None:
    folder = write_model(tmp_path / "m")
    adds_end(folder / "tokenizer.json")
    np.testing.assert_allclose(
        QwenEncoder(str(folder)).encode_passages(["a text"]), encoder().encode_passages(["a text"]), atol=1e-6
    )


def adds_end(file: Path) -> None:
    """As tokenizer files do since June 2025."""
    facts = json.loads(file.read_text(encoding="utf-8"))
    end = next(one["id"] for one in facts["added_tokens"] if one["content"] == "<|endoftext|>")
    facts["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [end], "tokens": ["<|endoftext|>"]}},
    }
    file.write_text(json.dumps(facts), encoding="utf-8")


def test_special_tokens_in_a_text_are_ordinary_text(tiny: Callable[..., Path]) -> None:
    tokens = QwenTokens(tiny())
    end = tokens.token("<|im_end|>")
    assert tokens.prompt("<|im_end|>") == [end]
    assert end not in tokens.ids("a <|im_end|> b", 100)
    assert tokens.token("<|endoftext|>") not in tokens.ids("<|endoftext|>", 100)


def test_what_lies_beyond_the_window_is_not_seen(tiny: Callable[..., Path], needs_mlx: None) -> None:
    model = QwenEncoder(str(tiny()), max_tokens=64)
    rows = model.encode_passages([LONG * 20, LONG * 20 + "and more", LONG * 5000])
    np.testing.assert_allclose(rows[1:], [rows[0], rows[0]], atol=1e-5)


@pytest.mark.parametrize("text", ["a\ud800b", "\udc00", "\0", "\U0001f600" * 50, "", " ", "\n"], ids=repr)
def test_odd_text_has_a_vector_and_a_score(
    encoder: Callable[..., QwenEncoder], reranker: Callable[..., QwenReranker], text: str
) -> None:
    assert np.isfinite(encoder().encode_passages([text])).all()
    assert 0 <= reranker().score(text, [text])[0] <= 1


def test_nothing_asked_gives_nothing(
    encoder: Callable[..., QwenEncoder], reranker: Callable[..., QwenReranker]
) -> None:
    assert encoder().encode_passages([]).shape == (0, HIDDEN)
    assert reranker().score("why?", []) == []


@pytest.mark.parametrize("length", [10, 200, 5000])
def test_a_query_never_pushes_the_passages_out(tiny: Callable[..., Path], needs_mlx: None, length: int) -> None:
    model = QwenReranker(str(tiny()), max_tokens=400)
    scores = model.score(LONG * length, ["Gravity is a force.", "A retry makes duplicates.", LONG * 100, "x" * 3000])
    assert len({round(score, 6) for score in scores}) == 4


def test_a_window_without_room_is_refused(tiny: Callable[..., Path], needs_mlx: None) -> None:
    with pytest.raises(ModelError, match="no room"):
        QwenReranker(str(tiny()), max_tokens=150).score("why?", ["since"])


def test_scores_are_probabilities_of_a_named_model(tiny: Callable[..., Path]) -> None:
    model = QwenReranker(str(tiny()))
    assert model.is_probability
    assert model.name == tiny().name


# ------------------------------------------------------------ what is refused


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def cut(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-100])


def written(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8") and None


def set_to(**facts: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "config.json"
        file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **facts}), encoding="utf-8")

    return change


SHARD = "model-00002-of-00003.safetensors"
DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "no config": (without("config.json"), r"config.json cannot be read"),
    "broken config": (written("config.json", "{"), r"config.json is not valid JSON"),
    "config of nothing": (written("config.json", "[]"), r"no configuration"),
    "no hidden_size": (set_to(hidden_size=None), r"hidden_size"),
    "no tokenizer": (without("tokenizer.json"), r"no tokenizer.json"),
    "a shard missing": (without(SHARD), rf"incomplete: {SHARD} missing"),
    "a shard cut short": (cut(SHARD), rf"{SHARD} is damaged"),
    "a shard of text": (written(SHARD, "x" * 50), rf"{SHARD}: the head is longer|{SHARD} is not a safetensors file"),
    "an empty shard": (written(SHARD, ""), rf"{SHARD} is not a safetensors file"),
    "a broken index": (written("model.safetensors.index.json", "{}"), r"index.json cannot be read"),
    "another architecture": (set_to(model_type="bert", architectures=["BertModel"]), r"another architecture: bert"),
    "a classifier": (set_to(architectures=["Qwen3ForSequenceClassification"]), r"another architecture"),
    "a mixture of experts": (set_to(model_type="qwen3_moe"), r"another architecture"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_folder_that_is_no_whole_qwen3_is_refused_before_mlx_is_needed(
    tmp_path: Path, damage: tuple[Callable[[Path], None], str]
) -> None:
    folder = write_model(tmp_path / "m", shards=3)
    assert weights_present(str(folder))
    damage[0](folder)
    with pytest.raises(ModelError, match=damage[1]) as caught:
        _ = QwenEncoder(str(folder)).space
    assert caught.value.hint
    assert not weights_present(str(folder))
    with pytest.raises(ModelError):
        QwenReranker(str(folder)).score("why?", ["since"])


def test_a_folder_without_any_weights_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no safetensors file"):
        _ = QwenEncoder(str(folder)).space


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no folder"):
        _ = QwenEncoder(str(tmp_path / "nowhere")).space


def test_weights_that_do_not_fit_the_configuration_are_refused(tmp_path: Path, needs_mlx: None) -> None:
    folder = write_model(tmp_path / "m", config={"num_hidden_layers": 4})
    with pytest.raises(ModelError, match=r"cannot be loaded") as caught:
        QwenEncoder(str(folder)).encode_query("x")
    assert caught.value.hint


def test_a_tokenizer_without_the_end_token_is_refused(tmp_path: Path, needs_mlx: None) -> None:
    folder = write_model(tmp_path / "m")
    write_tokenizer(folder, special=("<|im_start|>", "<|im_end|>"))
    with pytest.raises(ModelError, match=r"no token '<\|endoftext\|>'"):
        QwenEncoder(str(folder)).encode_query("x")


def test_a_tokenizer_without_yes_and_no_is_refused(tmp_path: Path, needs_mlx: None) -> None:
    folder = write_model(tmp_path / "m")
    file = folder / "tokenizer.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"yes":', '"yea":'), encoding="utf-8")
    with pytest.raises(ModelError, match=r"no token 'yes'|is not a tokenizer"):
        QwenReranker(str(folder)).score("why?", ["since"])


def test_a_tokenizer_that_is_none_is_refused(tmp_path: Path, needs_mlx: None) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="is not a tokenizer"):
        QwenEncoder(str(folder)).encode_query("x")


def test_a_model_without_a_head_is_no_reranker(tmp_path: Path, needs_mlx: None) -> None:
    folder = write_model(tmp_path / "m", tied=False, head=False)
    with pytest.raises(ModelError, match="no reranker"):
        QwenReranker(str(folder)).score("why?", ["since"])


def test_vectors_that_are_no_numbers_are_refused(tmp_path: Path, needs_mlx: None) -> None:
    folder = write_model(tmp_path / "m")
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-512] + b"\xff\xff\xff\x7f" * 128)
    with pytest.raises(ModelError, match="no numbers"):
        QwenEncoder(str(folder)).encode_query("x")
    with pytest.raises(ModelError, match="no numbers"):
        QwenReranker(str(folder)).score("why?", ["since"])


# ------------------------------------------------------------ coming and going


def test_a_model_leaves_memory_when_idle_and_comes_back(tiny: Callable[..., Path], needs_mlx: None) -> None:
    model = QwenEncoder(str(tiny()), idle_seconds=0.01)
    assert model.resident.at_rest.is_set()
    first = model.encode_query("x")
    assert model.resident.at_rest.wait(60)
    np.testing.assert_allclose(model.encode_query("x"), first, atol=1e-6)


def test_memory_is_given_back_after_a_batch_and_after_unloading(tiny: Callable[..., Path], needs_mlx: None) -> None:
    core, model = THREAD.run(mlx).core, QwenEncoder(str(tiny()), idle_seconds=0)
    before = core.get_active_memory()
    model.encode_passages(["a text", "and a longer one"])
    weights = (tiny() / "model.safetensors").stat().st_size
    assert core.get_cache_memory() == 0
    assert weights * 0.9 < core.get_active_memory() - before < weights * 1.1
    model.resident.unload()
    assert core.get_active_memory() - before < weights * 0.1


def test_weights_that_were_exchanged_under_a_running_process_are_refused(tmp_path: Path, needs_mlx: None) -> None:
    folder = write_model(tmp_path / "m")
    model = QwenEncoder(str(folder), idle_seconds=0)
    model.encode_query("x")
    shutil.rmtree(folder)
    write_model(folder, seed=2)
    model.encode_query("x")  # still the one in memory
    model.resident.unload()
    with pytest.raises(ModelError, match="others than when this process began"):
        model.encode_query("x")


def test_loading_leaves_the_limit_of_open_files_and_asks_for_no_torch(
    tiny: Callable[..., Path], needs_mlx: None
) -> None:
    program = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 5000))
from agent_raw_rag.encode.qwen_encoder import QwenEncoder
model = QwenEncoder(sys.argv[1])
model.space
print("mlx" in sys.modules, "transformers" in sys.modules)
model.encode_query("x")
print(resource.getrlimit(resource.RLIMIT_NOFILE), "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program, str(tiny())], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["False False", "(300, 5000) False"], done.stderr
