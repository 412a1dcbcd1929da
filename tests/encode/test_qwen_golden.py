"""The flagship models give what transformers and torch give for the same files. Values: ``golden_qwen.py``.

Tolerances: 1e-4 in float32, with 4-bit codes too (the bar is 2e-2); 2e-2 in bfloat16, which is its rounding over two layers;
4e-2 for 4-bit codes in bfloat16, where MLX's CPU back end sums in bfloat16 as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent_raw_rag.encode.qwen_encoder import QwenEncoder
from agent_raw_rag.encode.qwen_reranker import QwenReranker
from agent_raw_rag.encode.qwen_tokens import QwenTokens
from tests.encode.golden_texts import PASSAGES, QUERIES, TASK
from tests.encode.tiny_qwen import FORMS, write_model

GOLDEN: dict[str, Any] = json.loads(Path(__file__).with_name("golden_qwen.json").read_text(encoding="utf-8"))
TOLERANCE = {"fp32": 1e-4, "bf16": 2e-2, "q4": 1e-4, "q4-bf16": 4e-2}
CASES = [(form, tied) for form in FORMS for tied in (True, False)]


def golden(form: str, tied: bool) -> dict[str, Any]:
    values: dict[str, Any] = GOLDEN[form if tied else f"{form}-untied"]
    return values


def test_the_golden_values_are_those_of_this_tokenizer(tiny: Callable[..., Path]) -> None:
    tokens = QwenTokens(tiny())
    assert [len(tokens.ids(text, 8192)) for text in PASSAGES] == GOLDEN["fp32"]["ids"]


@pytest.mark.parametrize(("form", "tied"), CASES)
def test_vectors_are_those_of_the_reference(encoder: Callable[..., QwenEncoder], form: str, tied: bool) -> None:
    model = encoder(form, tied)
    passages, queries = model.encode_passages(PASSAGES), [model.encode_query(query) for query in QUERIES]
    assert np.abs(passages - np.array(golden(form, tied)["passages"])).max() <= TOLERANCE[form]
    assert np.abs(np.array(queries) - np.array(golden(form, tied)["queries"])).max() <= TOLERANCE[form]


@pytest.mark.parametrize(("form", "tied"), CASES)
def test_scores_are_those_of_the_reference(reranker: Callable[..., QwenReranker], form: str, tied: bool) -> None:
    for query, expected in zip(QUERIES, golden(form, tied)["scores"], strict=True):
        assert np.abs(np.array(reranker(form, tied).score(query, PASSAGES)) - expected).max() <= TOLERANCE[form]


@pytest.mark.parametrize(
    ("form", "tied", "prefixed", "head", "shards"),
    [("fp32", True, False, True, 1), ("fp32", False, False, False, 3), ("q4", False, True, False, 1)],
    ids=["original names", "8B: not tied, no head, shards", "4-bit, no head"],
)
def test_every_layout_of_an_embedding_checkpoint_gives_the_same_vectors(
    tmp_path: Path, needs_mlx: None, form: str, tied: bool, prefixed: bool, head: bool, shards: int
) -> None:
    folder = write_model(tmp_path / "m", form, tied=tied, prefixed=prefixed, head=head, shards=shards)
    vectors = QwenEncoder(str(folder)).encode_passages(PASSAGES)
    assert np.abs(vectors - np.array(golden(form, tied)["passages"])).max() <= TOLERANCE[form]


@pytest.mark.parametrize(
    "words", [{"bits": 8, "group_size": 64}, {"bits": 4, "group_size": 32, "mode": "mxfp4"}, {"bits": 8, "group_size": 32,
    "mode": "mxfp8"}], ids=["8-bit", "mxfp4", "mxfp8"]
)  # fmt: skip
def test_other_quantisations_give_what_their_own_numbers_mean(
    tmp_path: Path, tiny: Callable[..., Path], needs_mlx: None, words: dict[str, Any]
) -> None:
    from agent_raw_rag.encode.mlx_thread import THREAD
    from tests.encode.quantise import quantise

    packed, plain = THREAD.run(lambda: quantise(tiny("fp32", False), tmp_path, **words))
    vectors = [QwenEncoder(str(folder)).encode_passages(PASSAGES) for folder in (packed, plain)]
    scores = [np.array(QwenReranker(str(folder)).score(QUERIES[0], PASSAGES)) for folder in (packed, plain)]
    assert np.abs(vectors[0] - vectors[1]).max() <= 2e-2
    assert np.abs(scores[0] - scores[1]).max() <= 2e-2
    assert np.abs(scores[0] - golden("fp32", False)["scores"][0]).max() > 1e-5, "it was quantised"


def test_the_task_of_the_golden_values_is_the_default() -> None:
    from agent_raw_rag.encode.qwen_prompts import INSTRUCTION

    assert INSTRUCTION == TASK
