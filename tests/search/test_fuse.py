"""Fusing two rankings by scores."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.search.fuse import fuse

scores = st.dictionaries(st.integers(1, 9), st.floats(0.1, 20), max_size=6).map(lambda found: list(found.items()))


def test_what_both_rank_first_is_first() -> None:
    assert fuse([(1, 9.0), (2, 8.0)], [(1, 0.9), (3, 0.6)])[0] == (1, 1.0)


def test_one_ranking_alone_keeps_its_order() -> None:
    assert [chunk for chunk, _ in fuse([(1, 3.0), (2, 9.0)], [])] == [2, 1]
    assert [chunk for chunk, _ in fuse([], [(1, 0.5), (2, 0.8)])] == [2, 1]


def test_equals_come_in_the_order_of_their_ids() -> None:
    assert [chunk for chunk, _ in fuse([(7, 2.0), (3, 2.0)], [])] == [3, 7]


@given(scores, scores)
def test_every_candidate_is_kept_once_with_a_score_between_0_and_1(words: list, sense: list) -> None:  # type: ignore[type-arg]
    fused = fuse(words, sense)
    assert sorted(chunk for chunk, _ in fused) == sorted({chunk for chunk, _ in (*words, *sense)})
    assert all(-1e-9 <= score <= 1 + 1e-9 for _, score in fused)
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


@given(scores, scores, st.integers(1, 9))
def test_a_better_word_score_never_lowers_a_candidate(words: list, sense: list, chunk: int) -> None:  # type: ignore[type-arg]
    rank_before = [one for one, _ in fuse([*words, (99, 30.0)], sense)]
    raised = [(one, score * 1.2 if one == chunk else score) for one, score in words]
    rank_after = [one for one, _ in fuse([*raised, (99, 30.0)], sense)]
    if chunk in rank_before:
        assert rank_after.index(chunk) <= rank_before.index(chunk)
