"""The object that goes through the funnel, and the stages that lift and fold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.search.abstain import abstain
from agent_raw_rag.search.near_duplicates import fold_near_duplicates
from agent_raw_rag.search.neighbours import heed_neighbours
from agent_raw_rag.search.phrases import heed_phrases, phrases_of
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.recency import newest_first
from agent_raw_rag.store.rows import ChunkRow

WORDS = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon"),
)


def chunk(
    number: int, text: str = "", *, session: int | None = None, place: int = 0, ended: int | None = None
) -> ChunkRow:
    start = place * 224
    return ChunkRow(number, session or number, place, text, b"", start, start + 256, 1, 2, ended, ended, 3)


def ranking(*chunks: ChunkRow, scores: list[float] | None = None) -> Ranking:
    """Candidates in the order given."""
    given_scores = scores or [1 - place / 10 for place in range(len(chunks))]
    order = [(one.id, score) for one, score in zip(chunks, given_scores, strict=True)]
    made = Ranking(chunks={one.id: one for one in chunks})
    made.reorder("fuse", order)
    return made


def ids(one: Ranking) -> list[int]:
    return [chunk_id for chunk_id, _ in one.order]


texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join), min_size=1, max_size=12)


# ------------------------------------------------------------ the trace


def test_the_trace_says_where_a_candidate_stood_after_each_stage() -> None:
    one = ranking(chunk(1), chunk(2))
    one.lift("phrase", {1: 0.0, 2: 0.3}.__getitem__, 0.3)
    assert [(mark.stage, mark.rank) for mark in one.marks(2)] == [("fuse", 2), ("phrase", 1)]
    assert [(mark.stage, mark.rank) for mark in one.marks(1)] == [("fuse", 1), ("phrase", 2)]


def test_a_stage_that_lifts_nobody_leaves_no_trace_and_no_change() -> None:
    one = ranking(chunk(1), chunk(2))
    before = one.order
    one.lift("time", lambda _: 0.0, 0.2)
    assert one.order is before and len(one.trace) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 0.5), st.data())
def test_a_bonus_keeps_the_scale_and_everybody(scores: list[float], most: float, data: st.DataObject) -> None:
    gains = data.draw(st.lists(st.floats(0, most), min_size=len(scores), max_size=len(scores)))
    one = ranking(*(chunk(number) for number in range(len(scores))), scores=sorted(scores, reverse=True))
    one.lift("any", gains.__getitem__, most)
    assert sorted(ids(one)) == list(range(len(scores)))
    assert all(0 <= score <= 1 + 1e-9 for _, score in one.order)


# ------------------------------------------------------------ neighbours


def test_a_window_next_to_the_best_passes_one_that_was_as_good() -> None:
    one = ranking(
        chunk(1, session=1, place=4), chunk(2, session=2), chunk(3, session=1, place=5), scores=[1.0, 0.5, 0.49]
    )
    heed_neighbours(one)
    assert ids(one) == [1, 3, 2]


def test_a_neighbour_never_lifts_a_window_past_a_clear_win() -> None:
    one = ranking(
        chunk(1, session=1, place=4), chunk(2, session=2), chunk(3, session=1, place=5), scores=[1.0, 0.6, 0.4]
    )
    heed_neighbours(one)
    assert ids(one) == [1, 2, 3]


# ------------------------------------------------------------ phrases


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('where is "Retry  Budget" set', ("retry budget",)),
        ("run `git rebase` and 「設定檔」", ("git rebase", "設定檔")),
        ("no phrase here", ()),
        ('"a" is too short', ()),
        (
            "why\nTypeError: cannot read 'map' of undefined\nagain",
            ("typeerror: cannot read 'map' of undefined",),
        ),
        ("error[E0382]: borrow of moved value", ("error[e0382]: borrow of moved value",)),
        ("E       assert 1 == 2", ("assert 1 == 2",)),
    ],
)
def test_the_phrases_of_a_query_are_what_is_quoted_and_what_is_an_error(query: str, found: tuple[str, ...]) -> None:
    assert phrases_of(query) == found


def test_a_window_that_holds_the_phrase_passes_one_with_its_words_in_another_order() -> None:
    one = ranking(chunk(1, "the budget of a retry"), chunk(2, "a retry\nBudget"), scores=[1.0, 0.75])
    heed_phrases(phrases_of('"retry budget"'), one)
    assert ids(one) == [2, 1]


# ------------------------------------------------------------ near-duplicates

PROMPT = " ".join(f"{word}{other}" for word in WORDS for other in WORDS[:5])


def test_a_copied_prompt_is_folded_into_the_best_ranked_copy() -> None:
    one = ranking(chunk(1, PROMPT), chunk(2, "another"), chunk(3, f"{PROMPT} please"), chunk(4, PROMPT.upper()))
    fold_near_duplicates((), one)
    assert ids(one) == [1, 2] and one.folded == {1: [3, 4]}
    assert one.stages == ["near-duplicates: 2 folded"]


def test_windows_that_overlap_in_a_session_are_no_duplicates() -> None:
    one = ranking(chunk(1, PROMPT, session=1, place=0), chunk(2, PROMPT, session=1, place=1))
    fold_near_duplicates((), one)
    assert ids(one) == [1, 2]


def test_the_same_words_at_two_places_of_a_session_are_duplicates() -> None:
    one = ranking(chunk(1, PROMPT, session=1, place=0), chunk(2, PROMPT, session=1, place=9))
    fold_near_duplicates((), one)
    assert ids(one) == [1]


def test_windows_that_differ_in_a_number_stay_apart() -> None:
    one = ranking(chunk(1, f"{PROMPT} 41 ms"), chunk(2, f"{PROMPT} 17 ms"))
    fold_near_duplicates((), one)
    assert ids(one) == [1, 2]


def test_a_window_that_alone_holds_a_word_of_the_query_stays() -> None:
    one = ranking(chunk(1, f"{PROMPT} mysql"), chunk(2, f"{PROMPT} postgres"))
    fold_near_duplicates({"postgr"}, one)
    assert ids(one) == [1, 2]
    fold_near_duplicates({"sqlite"}, one)
    assert ids(one) == [1]


@given(texts)
def test_folding_finds_what_comparing_every_pair_finds(found: list[str]) -> None:
    one = ranking(
        *(chunk(number, text) for number, text in enumerate(found, 1)), scores=[1 / n for n in range(1, len(found) + 1)]
    )
    kept: list[set[str]] = []
    expected = []
    for number, text in enumerate(found, 1):
        words = set(text.split())
        if all(len(words & other) < 0.9 * len(words | other) for other in kept):
            kept.append(words)
            expected.append(number)
    fold_near_duplicates((), one)
    assert ids(one) == expected
    assert sorted([*ids(one), *(n for folded in one.folded.values() for n in folded)]) == list(range(1, len(found) + 1))


# ------------------------------------------------------------ abstaining and recency


def test_what_shares_neither_words_nor_sense_is_no_answer() -> None:
    for covered, near, stays in ((0.05, 0.5, False), (0.2, 0.5, True), (0.05, 0.6, True)):
        one = ranking(chunk(1, "text"))
        one.lexical, one.dense, one.unrelated = {1: 3.0}, {1: near}, (0.56, 0.65)
        abstain(one, lambda _, covered=covered: covered)
        assert bool(one.order) is stays


def test_without_words_in_the_ranking_a_near_neighbour_is_enough_if_none_were_looked_for() -> None:
    for by_words, stays in ((True, False), (False, True)):
        one = ranking(chunk(1, "text"))
        one.dense, one.unrelated = {1: 0.6}, (0.56, 0.65)
        abstain(one, lambda _: 0.0, by_words=by_words)
        assert bool(one.order) is stays


def test_a_model_whose_cosines_are_not_known_never_silences_an_answer() -> None:
    one = ranking(chunk(1, "text"))
    one.dense, one.unrelated = {1: 0.1}, None
    abstain(one, lambda _: 0.0)
    assert ids(one) == [1]


def test_of_equals_the_newer_comes_first_and_what_has_no_time_last() -> None:
    one = ranking(chunk(1), chunk(2, ended=10), chunk(3, ended=20), chunk(4, ended=99), scores=[0.5, 0.5, 0.5001, 0.4])
    newest_first(one)
    assert ids(one) == [3, 2, 1, 4]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 100)), min_size=1, max_size=12))
def test_recency_never_lifts_a_lower_score_over_a_higher_one(found: list[tuple[float, int]]) -> None:
    found = sorted(found, key=lambda pair: -pair[0])
    one = ranking(
        *(chunk(n, ended=ended) for n, (_, ended) in enumerate(found, 1)), scores=[score for score, _ in found]
    )
    newest_first(one)
    rounded = [round(score, 3) for _, score in one.order]
    assert rounded == sorted(rounded, reverse=True)
