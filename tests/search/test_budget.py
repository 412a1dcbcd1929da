"""Fitting turns into a token budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.search.budget import Line, excerpt, fit

TEN = [Line(f"turn {number}", 10) for number in range(10)]
LONG = Line("".join(f"{number:05} " for number in range(1000)), 2000)


def test_what_fits_is_given_whole() -> None:
    fitted = fit(TEN, 100, focus=4)
    assert fitted.text.splitlines() == [line.text for line in TEN]
    assert not fitted.truncated and fitted.tokens == 100


def test_the_lines_nearest_to_the_hit_stay() -> None:
    fitted = fit(TEN, 30, focus=4)
    assert set(fitted.text.splitlines()) == {"turn 3", "turn 4", "turn 5"}
    assert fitted.truncated


def test_of_a_line_that_is_too_long_the_head_and_the_hit_stay_and_the_gaps_are_told() -> None:
    fitted = excerpt(LONG, 200, 0.5)
    assert fitted.truncated and fitted.text.startswith("00000 ") and "00500 " in fitted.text
    assert fitted.text.count("tokens left out…]") == 1 and fitted.text.endswith("tokens left out]")


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(20, 300), st.data())
def test_the_hit_is_always_there_and_the_budget_is_kept(costs: list[int], budget: int, data: st.DataObject) -> None:
    focus = data.draw(st.integers(0, len(costs) - 1))
    lines = [Line(f"<{place}>" + "x" * cost, cost) for place, cost in enumerate(costs)]
    fitted = fit(lines, budget, focus=focus)
    assert fitted.tokens <= budget
    assert fitted.text and (costs[focus] > budget or f"<{focus}>" in fitted.text)


@given(st.floats(0, 1), st.integers(40, 1999))
def test_what_is_left_of_a_long_line_stands_in_it(at: float, budget: int) -> None:
    parts = excerpt(LONG, budget, at).text.split(" […")
    kept = [parts[0], *(part.partition("] ")[2] for part in parts[1:])]
    assert all(part in LONG.text for part in kept)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.integers(20, 300), st.data())
def test_the_same_is_told_line_by_line_without_what_stands_before_the_words(
    costs: list[int], budget: int, data: st.DataObject
) -> None:
    focus = data.draw(st.integers(0, len(costs) - 1))
    heads = [f"[{place}] User: " for place in range(len(costs))]
    lines = [Line(head + "x" * cost * 5, cost, len(head)) for head, cost in zip(heads, costs, strict=True)]
    fitted = fit(lines, budget, focus=focus)
    assert [one.place for one in fitted.said] == list(
        range(fitted.said[0].place, fitted.said[0].place + len(fitted.said))
    )
    assert any(one.place == focus for one in fitted.said)
    if not any(one.truncated for one in fitted.said):
        assert "\n".join(heads[one.place] + one.text for one in fitted.said) == fitted.text
    else:
        (one,) = fitted.said
        assert fitted.text.endswith(one.text) and "User" not in one.text
