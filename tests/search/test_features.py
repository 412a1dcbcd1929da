"""Features of windows and pieces, and the sums over them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.lexical.queries import query_terms
from agent_raw_rag.search.asked import asked
from agent_raw_rag.search.features import Features, Window, measure
from agent_raw_rag.search.learned import POOLED, Weights, only, pooled_pieces, score, spliced, with_states
from agent_raw_rag.search.pieces import Piece
from agent_raw_rag.search.turn_rank import rank_turns
from agent_raw_rag.search.weights import STATES, WORDS

LINES = st.lists(st.sampled_from(["the zebra ran", "why?", "in May 2023", "42 files", "", "資料庫連線"]), max_size=4)
WINDOWS = st.lists(
    st.tuples(LINES, st.floats(0, 20), st.none() | st.floats(0.4, 0.9)), min_size=1, max_size=5
)  # fmt: skip


def pool(*rows: tuple[list[str], float, float | None]) -> list[Window]:
    return [
        Window([Piece(turn, f"User: {text}\n", True) for turn, text in enumerate(lines, 1)], lexical, cosine)
        for lines, lexical, cosine in rows
    ]


def found(query: str, *rows: tuple[list[str], float, float | None]) -> Features:
    return measure(pool(*rows), asked(query, query_terms(query), lambda _: 1.0))


def test_a_turn_beside_the_one_with_the_words_has_a_part_in_them() -> None:
    near = found("zebra", (["the zebra ran", "yes", "then lunch", "and sleep"], 1.0, None)).pieces["words_near"]
    assert near[0] > near[2] == near[3] == 0
    assert near[1] > 0


def test_a_question_and_what_follows_it_are_told_apart() -> None:
    features = found("zebra", (["where is the zebra?", "at home"], 1.0, None), (["ok"], 0.0, None))
    assert features.pieces["asks"].tolist() == [1, 0, 0]
    assert features.pieces["answers"].tolist() == [0, 1, 0]


def test_times_and_numbers_count_only_where_they_are_asked_for() -> None:
    lines = (["on 7 May", "three", "no idea"], 1.0, None)
    assert found("when was that", lines).pieces["time"].tolist() == [1, 0, 0]
    assert found("how many zebras", lines).pieces["number"].tolist() == [1, 0, 0]
    assert not found("zebra", lines).pieces["time"].any()


def test_who_is_named_in_the_query_is_known_by_the_name_before_the_text() -> None:
    lines = (["Ann: I ran", "Bob: Ann ran", "Ann is nice"], 1.0, None)
    assert found("what did Ann do", lines).pieces["named"].tolist() == [1, 0, 0]


def test_words_that_stand_side_by_side_in_both_are_counted() -> None:
    lines = (["the red zebra ran", "a zebra, red"], 1.0, None)
    assert found("red zebra", lines).pieces["pairs"].tolist() == [1, 0]


@given(WINDOWS, st.sampled_from(["zebra files", "when was the zebra seen", "資料庫連線", "???", ""]))
def test_every_feature_is_a_number_on_the_same_scale(rows: list, query: str) -> None:  # type: ignore[type-arg]
    features = found(query, *rows)
    for name, values in {**features.pieces, **features.windows}.items():
        assert np.isfinite(values).all(), name
        assert ((values >= 0) & (values <= 1.2)).all(), name
    assert set(WORDS.pieces) <= set(features.pieces)
    assert set(WORDS.windows) - {POOLED} <= set(features.windows)
    scores = score(features, WORDS)
    assert scores.windows.shape == (len(rows),)
    assert scores.pieces.shape == (len(features.owner),) == (len(features.turns),)
    assert np.isfinite(scores.windows).all()


@given(WINDOWS)
def test_without_a_dense_stage_sense_changes_no_order(rows: list) -> None:  # type: ignore[type-arg]
    features = found("zebra files", *((lines, lexical, None) for lines, lexical, _ in rows))
    assert not features.windows["sense"].any()
    assert not features.pieces["window_sense"].any()


def test_a_query_in_han_is_ranked_by_its_words() -> None:
    features = found("資料庫連線", (["then lunch"], 0.0, None), (["資料庫連線的逾時"], 9.0, None))
    assert score(features, WORDS).windows.argmax() == 1


@given(WINDOWS)
def test_the_order_of_the_pool_does_not_change_a_score(rows: list) -> None:  # type: ignore[type-arg]
    ahead, back = (score(found("zebra files", *some), WORDS).windows for some in (rows, rows[::-1]))
    np.testing.assert_allclose(ahead, back[::-1], atol=1e-9)


@given(WINDOWS, st.data())
def test_a_part_of_the_pool_is_scored_as_in_the_whole(rows: list, data: st.DataObject) -> None:  # type: ignore[type-arg]
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    features = found("zebra files", *rows)
    part, whole = score(only(features, kept), WORDS), score(features, WORDS)
    filled = np.array([bool(lines) for lines, _, _ in rows])
    np.testing.assert_allclose(part.windows[filled[kept]], whole.windows[kept & filled])
    np.testing.assert_allclose(part.pieces, whole.pieces[kept[features.owner]])


def test_nearer_states_win() -> None:
    features = found("zebra", (["one"], 1.0, None), (["two"], 1.0, None))
    late = score(with_states(features, np.array([0.6, 0.8]), np.array([0.6, 0.8])), STATES)
    assert late.windows.argmax() == late.pieces.argmax() == 1


def test_several_good_pieces_are_worth_more_than_one() -> None:
    pooled = pooled_pieces(np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1]), 3)
    assert pooled[0] == pytest.approx((1 + math.log(2)) / 4)
    assert pooled[0] > pooled[1] > pooled[2] - 1


def test_a_weight_without_its_feature_counts_nothing() -> None:
    features = Features(np.array([0]), [1], {"known": np.array([2.0])}, {"sense": np.array([1.0])})
    scores = score(features, Weights({"known": 3.0, "unknown": 9.0}, {"sense": 1.0, "unknown": 9.0}))
    assert (scores.windows.tolist(), scores.pieces.tolist()) == ([1.0], [6.0])


@given(st.lists(st.tuples(st.integers(-9, 9), st.none() | st.integers(-9, 9)), min_size=1, max_size=9))
def test_what_was_reranked_comes_first_and_the_rest_keep_their_order(pairs: list) -> None:  # type: ignore[type-arg]
    coarse = np.array([one for one, _ in pairs], dtype=float)
    kept = np.array([late is not None for _, late in pairs])
    late = np.array([late for _, late in pairs if late is not None], dtype=float)
    scores = spliced(coarse, late, kept)
    if kept.any():
        np.testing.assert_array_equal(scores[kept], late)
    if kept.any() and not kept.all():
        assert scores[~kept].max() <= late.min()
    assert (np.argsort(scores[~kept], kind="stable") == np.argsort(coarse[~kept], kind="stable")).all()


def test_a_turn_ranks_by_its_best_piece() -> None:
    scored = [((1, 2), 0.5), ((1, 3), 0.7), ((1, 2), 0.9), ((2, 1), 0.7)]
    assert rank_turns(scored) == [((1, 2), 0.9), ((1, 3), 0.7), ((2, 1), 0.7)]
