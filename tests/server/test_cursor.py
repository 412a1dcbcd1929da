"""Cursors of long lists: whatever comes back that was not given out is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.server.http.rest.cursor import decode, encode

VALUES = st.lists(st.integers(-(2**63), 2**63 - 1) | st.text(max_size=60), max_size=4)


@given(VALUES)
def test_a_cursor_gives_back_what_was_put_in(values: list[str | int]) -> None:
    assert list(decode(encode(values), [type(one) for one in values])) == values


@given(st.text(max_size=200) | st.text("abcXYZ019-_=", max_size=80))
def test_a_word_that_was_not_given_out_is_refused(word: str) -> None:
    with pytest.raises(BadArgumentError, match="cursor"):
        decode(word, [int, str])


@given(st.data())
def test_a_cursor_that_was_cut_or_edited_is_refused(data: st.DataObject) -> None:
    cursor = encode([data.draw(st.integers(0, 10**12)), "abc"])
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from("AZaz09-_").filter(lambda one: one != cursor[place]))
    for broken in (cursor[:place], cursor[:place] + other + cursor[place + 1 :]):
        with pytest.raises(BadArgumentError, match="cursor"):
            decode(broken, [int, str])


@pytest.mark.parametrize("values", [[1], ["a", 1], [1, "a", 2], [1, 2], [2**63, "a"]])
def test_a_cursor_of_another_list_is_refused(values: list[str | int]) -> None:
    with pytest.raises(BadArgumentError, match="cursor"):
        decode(encode(values), [int, str])


class Asked(BaseModel):
    agent: str | None = None
    cursor: str | None = None
    limit: int = 5


class AskedElsewhere(Asked):
    pass


@pytest.mark.parametrize("other", [Asked(), Asked(agent="two"), AskedElsewhere(agent="one"), None])
def test_a_cursor_is_taken_with_the_same_filters_only(other: Asked | None) -> None:
    cursor = encode([1, "a"], Asked(agent="one"))
    assert decode(cursor, [int, str], Asked(agent="one", cursor=cursor, limit=9)) == (1, "a")
    with pytest.raises(BadArgumentError, match="cursor"):
        decode(cursor, [int, str], other)


def test_a_cursor_that_is_deeply_nested_or_very_long_is_refused() -> None:
    for word in (encode(["[" * 100_000]), "A" * 1_000_000):
        with pytest.raises(BadArgumentError, match="cursor"):
            decode(word, [str])
