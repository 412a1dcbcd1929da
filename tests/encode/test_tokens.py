"""cl100k_base from the package's own ranks."""

from __future__ import annotations

import gzip
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.tokens import RANKS, Cl100k, tokenizer
from agent_raw_rag.errors import ModelError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello world", [15339, 1917]),
        ("tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("お誕生日おめでとう", [33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699]),
        ("<|endoftext|>", [27, 91, 8862, 728, 428, 91, 29]),
        ("", []),
    ],
)
def test_texts_have_the_tokens_that_openai_gives_them(text: str, tokens: list[int]) -> None:
    assert tokenizer().encode(text) == tokens


@given(st.text(max_size=200))
def test_tokens_decode_to_the_bytes_of_their_text(text: str) -> None:
    assert tokenizer().decode(tokenizer().encode(text)) == text.encode("utf-8", "replace")


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "\ud800\ud800x"])
def test_a_lone_surrogate_is_read_as_the_replacement_character(text: str) -> None:
    expected = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert tokenizer().decode(tokenizer().encode(text)).decode() == expected


def test_a_token_may_end_inside_a_character() -> None:
    parts = [tokenizer().decode([token]) for token in tokenizer().encode("誕")]
    assert len(parts) > 1
    assert b"".join(parts).decode() == "誕"


def test_all_threads_get_the_same_tokenizer() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: tokenizer(), range(32)))) == 1


@pytest.mark.parametrize("damage", ["missing", "not packed", "torn", "changed"])
def test_damaged_ranks_are_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "ranks.gz"
    packed = RANKS.read_bytes()
    match damage:
        case "not packed":
            path.write_bytes(b"plain")
        case "torn":
            path.write_bytes(packed[: len(packed) // 2])
        case "changed":
            path.write_bytes(gzip.compress(gzip.decompress(packed).replace(b" 1\n", b" 9\n", 1), 1))
    with pytest.raises(ModelError, match=r"ranks\.gz") as caught:
        Cl100k(path)
    assert caught.value.hint


def test_the_tokenizer_needs_neither_network_code_nor_a_model_runtime() -> None:
    program = (
        "import sys; from agent_raw_rag.encode.tokens import tokenizer; tokenizer().encode('x');"
        "print(sorted({'requests', 'urllib3', 'onnxruntime', 'tokenizers', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
