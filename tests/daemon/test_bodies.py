from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.daemon.bodies import MOST_TEXTS, embeddings_request, parsed, rerank_request, search_request
from agent_raw_rag.errors import UsageError

READERS = [embeddings_request, rerank_request, search_request]
KEYS = [
    "input", "model", "input_type", "encoding_format", "dimensions", "query", "documents", "top_n", "return_documents", "top_k",
    "max_tokens", "explain", "project", "agent",
]  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda one: st.lists(one), max_leaves=5
)


@pytest.mark.parametrize("read", READERS)
@given(body=st.dictionaries(st.sampled_from(KEYS), values))
def test_any_body_is_a_request_or_wrong_use(read: Callable[[Any], Any], body: dict[str, Any]) -> None:
    try:
        read(body)
    except UsageError as error:
        assert error.message


@given(st.lists(st.text(st.characters(), max_size=20)))
def test_texts_arrive_as_they_were_sent_whatever_characters_they_hold(texts: list[str]) -> None:
    sent = json.dumps({"input": texts, "input_type": "query"}).encode("ascii")
    assert embeddings_request(parsed(sent)).texts == texts


@pytest.mark.parametrize("content", [b"", b"x", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_wrong_use(content: bytes) -> None:
    with pytest.raises(UsageError):
        parsed(content)


def test_one_text_is_a_list_of_one() -> None:
    assert embeddings_request({"input": "a"}).texts == ["a"]
    assert not embeddings_request({"input": "a"}).is_query


@pytest.mark.parametrize(
    ("read", "body"),
    [
        (embeddings_request, {}),
        (embeddings_request, {"input": [[1, 2]]}),
        (embeddings_request, {"input": ["a"] * (MOST_TEXTS + 1)}),
        (embeddings_request, {"input": "a", "input_type": "document"}),
        (embeddings_request, {"input": "a", "encoding_format": "int8"}),
        (embeddings_request, {"input": "a", "dimensions": "384"}),
        (rerank_request, {"query": "a"}),
        (rerank_request, {"documents": ["a"]}),
        (rerank_request, {"query": "a", "documents": [{"text": "b"}]}),
        (rerank_request, {"query": "a", "documents": [], "top_n": True}),
        (search_request, {}),
        (search_request, {"query": "a", "top_k": "3"}),
        (search_request, {"query": "a", "projekt": "/x"}),
        (search_request, {"query": "a", "project": 3}),
    ],
)
def test_what_is_wrong_is_said(read: Callable[[Any], Any], body: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        read(body)


def test_an_empty_filter_is_none() -> None:
    asked = search_request({"query": "a", "project": "", "agent": None, "after": "7d"})
    assert (asked.ask.project, asked.ask.agent, asked.ask.after) == (None, None, "7d")
