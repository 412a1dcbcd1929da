"""Denials for the journal: one row at once, one a minute for the rest, and nobody's flood fills it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.memory.denials import MOST_KINDS, WINDOW_MS, Denials
from agent_raw_rag.models import Actor

SOMEBODY = Actor("laptop", "http", "rrt_abcd")


def test_the_first_denial_is_written_at_once_and_the_rest_of_its_minute_together() -> None:
    denials = Denials()
    told = [denials.add(SOMEBODY, "proj", "scope", "memory_save", at) for at in (0, 1, 2)]
    assert [[one.count for one in row] for row in told] == [[1], [], []]
    assert denials.due(WINDOW_MS - 1) == []
    (rest,) = denials.due(WINDOW_MS)
    assert (rest.count, rest.space, rest.target, rest.detail()) == (
        2,
        "proj",
        "memory_save",
        {"reason": "scope", "count": 2},
    )


def test_kinds_are_counted_apart() -> None:
    denials = Denials()
    for target in ("memory_save", "memory_capture"):
        assert [one.target for one in denials.add(SOMEBODY, "proj", "scope", target, 0)] == [target]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5 * WINDOW_MS)), max_size=60))
def test_every_denial_is_counted_once(asked: list[tuple[str, int]]) -> None:
    denials = Denials()
    told = [
        one
        for who, at in sorted(asked, key=lambda one: one[1])
        for one in denials.add(Actor(who, "http"), "s", "r", None, at)
    ]
    assert sum(one.count for one in [*told, *denials.flush()]) == len(asked)
    assert denials.flush() == []


def test_however_many_kinds_there_are_no_more_are_remembered() -> None:
    denials = Denials()
    told = [
        one for number in range(3 * MOST_KINDS) for one in denials.add(Actor(f"{number}", "http"), "s", "r", None, 0)
    ]
    assert len(told) == 3 * MOST_KINDS
    assert len(denials._kinds) <= MOST_KINDS
