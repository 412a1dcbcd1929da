"""Encoders and rerankers by kind, and which one the settings mean."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from agent_raw_rag.config import EncoderSettings, RerankerSettings
from agent_raw_rag.encode.choice import Choice, choose_encoder
from agent_raw_rag.encode.registry import ENCODERS, RERANKERS, encoder, reranker
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


TAKEN = [
    (section, row, kind, key)
    for section, rows in ((EncoderSettings, ENCODERS), (RerankerSettings, RERANKERS))
    for kind, keys in section._takes.items()
    for key in keys
    for row in (rows[kind],)
    if key not in ("url", "model", "dim", "instruction")  # those have no default, or the model's own
]


@pytest.mark.parametrize(("section", "row", "kind", "key"), TAKEN, ids=lambda part: getattr(part, "__name__", part))
def test_a_key_that_is_not_set_means_what_the_reference_says(section: Any, row: str, kind: str, key: str) -> None:
    module, _, name = row.partition(":")
    obeyed = inspect.signature(getattr(import_module(module), name)).parameters[key].default
    assert section.model_fields[key].default == obeyed


FLAGSHIP = Choice("mlx", {})


@pytest.mark.parametrize(
    ("kind", "active", "flagship", "meant"),
    [
        ("auto", None, None, EMBEDDED),
        ("auto", None, FLAGSHIP, FLAGSHIP),
        ("auto", Choice("http", {"url": "x"}), FLAGSHIP, Choice("http", {"url": "x"})),
        ("auto", HASHING, None, EMBEDDED),
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
