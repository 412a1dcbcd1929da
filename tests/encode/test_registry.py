"""Encoders by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent_raw_rag.encode.registry import ROWS, encoder, space
from agent_raw_rag.errors import ModelError


@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_row_makes_an_encoder_with_a_space_of_its_own(name: str) -> None:
    assert encoder(name).space == space(name)
    assert len({space(other).name for other in ROWS}) == len(ROWS)


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ModelError, match=r"'nope'.*embedded, hashing"):
        encoder("nope")


def test_a_space_is_known_without_loading_a_model() -> None:
    program = (
        "import sys; from agent_raw_rag.encode.registry import space; space('embedded');"
        "print(sorted({'onnxruntime', 'tokenizers', 'tiktoken'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
