"""Texts cut into requests."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.http_client import RefusedError
from agent_raw_rag.encode.http_parts import batches, in_halves, sendable
from agent_raw_rag.encode.instructions import instructed, known_instruction
from agent_raw_rag.errors import ModelError

TEXTS = st.lists(st.text(st.one_of(st.characters(), st.just("\ud800")), max_size=40), max_size=30)


@given(TEXTS, st.integers(1, 8), st.integers(1, 60))
def test_batches_keep_every_text_in_order_and_within_the_limits(texts: list[str], most: int, chars: int) -> None:
    parts = [list(part) for part in batches(texts, most, chars)]
    assert [text for part in parts for text in part] == texts
    assert all(0 < len(part) <= most for part in parts)
    assert all(sum(map(len, part)) <= chars or len(part) == 1 for part in parts)


@given(TEXTS)
def test_a_text_that_is_sent_is_never_empty_and_always_valid_json(texts: list[str]) -> None:
    for text in texts:
        sent = sendable(text)
        assert sent.strip()
        assert json.loads(json.dumps(sent).encode("utf-8")) == sent


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 50))
def test_halving_gives_the_same_answers_whatever_the_server_takes(numbers: list[int], most: int) -> None:
    def ask(part: Sequence[str]) -> list[int]:
        if len(part) > most:
            raise RefusedError("too many", status=413)
        return [int(text) * 2 for text in part]

    assert in_halves([str(number) for number in numbers], ask) == [number * 2 for number in numbers]


def test_a_single_text_that_is_refused_is_named_by_its_length() -> None:
    def ask(part: Sequence[str]) -> list[int]:
        raise RefusedError("status 400 (too long).", status=400)

    with pytest.raises(ModelError, match=r"too long\)\. The text has 1,234 characters"):
        in_halves(["x" * 1234, "y"], ask)


def test_a_refusal_that_size_does_not_explain_is_not_asked_again() -> None:
    asked = []

    def ask(part: Sequence[str]) -> list[int]:
        asked.append(len(part))
        raise RefusedError("no such model", status=404)

    with pytest.raises(RefusedError, match="no such model"):
        in_halves(["a", "b", "c", "d"], ask)
    assert asked == [4]


@pytest.mark.parametrize(
    ("model", "start"),
    [
        ("Qwen/Qwen3-Embedding-4B", "Instruct: Given a web search query"),
        ("qwen3-embedding:0.6b", "Instruct: Given a web search query"),
        ("/models/Qwen3-Embedding-0.6B-Q8_0.gguf", "Instruct: Given a web search query"),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence"),
        ("nomic-embed-text", ""),
        ("text-embedding-3-small", ""),
        ("Qwen/Qwen3-Reranker-4B", ""),
    ],
)
def test_models_that_are_known_by_name_get_their_instruction(model: str, start: str) -> None:
    assert known_instruction(model).startswith(start) and bool(known_instruction(model)) == bool(start)


@pytest.mark.parametrize(
    ("instruction", "text"),
    [("", "why {query}?"), ("query: ", "query: why {query}?"), ("<{query}>\n", "<why {query}?>\n")],
)
def test_an_instruction_is_a_template_or_stands_before_the_query(instruction: str, text: str) -> None:
    assert instructed(instruction, "why {query}?") == text


def test_the_recipe_of_qwen3_has_no_space_before_the_query() -> None:
    assert instructed(known_instruction("qwen3-embedding"), "why?").endswith("answer the query\nQuery:why?")
