"""What is marked in the texts that were found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.search.highlight import MOST, highlights


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("why did we drop the retry", {"drop", "retry"}),
        ('the "exactly once" rule', {"exactly once", "rule"}),
        ("src/upload/retry.py", {"src/upload/retry.py", "retry.py", "upload"}),
        ("為什麼重試上傳", {"重試", "上傳"}),
        ("UPLOAD upload Upload", {"UPLOAD"}),
        ("<script>alert(1)</script>", {"script", "alert"}),
    ],
)
def test_the_telling_words_of_a_query_are_marked(query: str, marked: set[str]) -> None:
    assert marked <= set(highlights(query))


@pytest.mark.parametrize("query", ["", "  ", "the of and", "¯\\_(ツ)_/¯"[:1], "***"])
def test_a_query_without_a_telling_word_marks_nothing(query: str) -> None:
    assert highlights(query) == []


@given(st.text(max_size=300))
def test_any_query_gives_few_words_the_longest_first_none_twice(query: str) -> None:
    found = highlights(query)
    assert len(found) <= MOST
    assert [len(one) for one in found] == sorted((len(one) for one in found), reverse=True)
    assert len({one.casefold() for one in found}) == len(found)
    assert all(one.strip() for one in found)
