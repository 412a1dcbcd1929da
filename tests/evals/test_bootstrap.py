"""Confidence intervals by resampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.evals.bootstrap import intervals, table


def column(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float64).reshape(-1, 1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_interval_lies_within_the_values_and_says_the_same_again(values: list[float]) -> None:
    low, high = intervals(column(values), resamples=200)
    assert min(values) - 1e-9 <= low[0] <= high[0] <= max(values) + 1e-9
    assert np.array_equal(intervals(column(values), resamples=200), (low, high))


@given(st.floats(0, 1), st.integers(1, 20))
def test_values_that_are_all_the_same_leave_no_doubt(value: float, count: int) -> None:
    low, high = intervals(column([value] * count), resamples=100)
    assert (low[0], high[0]) == pytest.approx((value, value))


def test_the_interval_of_a_coin_is_that_of_the_binomial_distribution() -> None:
    low, high = intervals(column([0.0, 1.0] * 200))
    half = 1.96 * (0.25 / 400) ** 0.5
    assert (low[0], high[0]) == pytest.approx((0.5 - half, 0.5 + half), abs=0.006)


def test_a_difference_question_by_question_is_surer_than_one_of_two_means() -> None:
    chance = np.random.default_rng(1)
    hard = chance.random((300, 1))
    better = hard + 0.01
    (low,), (high,) = intervals(better - hard)
    assert low > 0 and high - low < 1e-9
    (apart_low,), (apart_high,) = intervals(hard)
    assert apart_high - apart_low > 0.02


def test_rows_become_a_matrix_in_the_order_of_their_names() -> None:
    names, values = table([{"b": 1.0, "a": 2.0}, {"b": 3.0, "a": 4.0}])
    assert names == ["b", "a"]
    assert values.tolist() == [[1.0, 2.0], [3.0, 4.0]]
