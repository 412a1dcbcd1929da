"""Encoders and rerankers by kind, and which one the settings mean."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent_raw_rag.encode.choice import Choice, choose_encoder
from agent_raw_rag.encode.registry import encoder, reranker
from agent_raw_rag.errors import ModelError

EMBEDDED, HASHING = Choice("embedded", {}), Choice("hashing", {"dim": 32})


@pytest.mark.parametrize("choice", [EMBEDDED, HASHING, Choice("hashing", {})], ids=lambda choice: choice.key)
def test_a_choice_makes_an_encoder_and_equal_choices_one_space(choice: Choice) -> None:
    assert encoder(choice, {}).space == encoder(Choice(choice.kind, dict(choice.options)), {}).space


def test_options_reach_the_model() -> None:
    assert encoder(HASHING, {}).space.dim == 32


def test_an_unknown_kind_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"encoder 'nope'.*embedded, hashing"):
        encoder(Choice("nope", {}), {})
    with pytest.raises(ModelError, match=r"reranker 'nope'"):
        reranker(Choice("nope", {}), {})


def test_an_option_that_a_model_does_not_take_is_an_error() -> None:
    with pytest.raises(ModelError, match=r"'embedded' cannot be made.*colour"):
        encoder(Choice("embedded", {"colour": 1}), {})


FLAGSHIP = Choice("mlx", {})


@pytest.mark.parametrize(
    ("kind", "active", "flagship", "meant"),
    [
        ("auto", None, None, EMBEDDED),
        ("auto", None, FLAGSHIP, FLAGSHIP),
        ("auto", HASHING, FLAGSHIP, HASHING),
        ("auto", EMBEDDED, FLAGSHIP, EMBEDDED),
        ("mlx", EMBEDDED, None, Choice("mlx", {})),
        ("none", EMBEDDED, FLAGSHIP, None),
    ],
)
def test_auto_never_leaves_the_model_that_made_the_index(
    kind: str, active: Choice | None, flagship: Choice | None, meant: Choice | None
) -> None:
    assert choose_encoder(kind, {}, active, flagship) == meant


def test_a_space_is_known_without_loading_a_model() -> None:
    program = (
        "import sys; from agent_raw_rag.encode.registry import encoder; from agent_raw_rag.encode.choice import Choice;"
        "encoder(Choice('embedded', {}), {}).space;"
        "print(sorted({'onnxruntime', 'tokenizers', 'tiktoken'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
