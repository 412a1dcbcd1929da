"""Reranking under a time budget, with the toy reranker and a clock that the test moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.overlap import OverlapReranker
from agent_raw_rag.errors import ModelError
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.rerank import JUDGED_ENOUGH, Limits, Pace, by_probability, mixed, rerank
from agent_raw_rag.store.reader import Scope
from agent_raw_rag.store.rows import ChunkRow
from tests.stored import Stored

LIMITS = Limits(1000, 0.5, 3)


@dataclass
class Slow:
    """A reranker that takes so many ms a passage, by its own clock, and the first time ``load_ms`` more."""

    passage_ms: float
    load_ms: float = 0.0
    is_probability: bool = True
    fails_after: int = 1 << 30
    seconds: float = 0.0
    calls: list[int] = field(default_factory=list)
    name: str = "slow"

    def clock(self) -> float:
        return self.seconds

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.seconds += (self.passage_ms * len(passages) + (self.load_ms if not self.calls else 0)) / 1000
        self.calls.append(len(passages))
        if sum(self.calls) > self.fails_after:
            raise ModelError("The weights are gone.")
        return OverlapReranker().score(query, passages)


def candidates(texts: Sequence[str]) -> Ranking:
    made = Ranking(
        chunks={n: ChunkRow(n, n, 0, text, b"", 0, 9, 1, 1, None, None, 3) for n, text in enumerate(texts, 1)}
    )
    made.reorder("fuse", [(n, 1 - n / 1000) for n in range(1, len(texts) + 1)])
    return made


def ids(ranking: Ranking) -> list[int]:
    return [chunk_id for chunk_id, _ in ranking.order]


def run(ranking: Ranking, slow: Slow, pace: Pace | None = None, limits: Limits = LIMITS) -> Pace:
    pace = pace or Pace()
    rerank("retry budget", ranking, slow, limits, pace, slow.clock)
    return pace


def test_what_fits_is_reranked_and_the_answer_says_how_much() -> None:
    ranking, slow = candidates(["retry budget"] * 60), Slow(passage_ms=50)
    run(ranking, slow)
    assert 10 <= len(ranking.rerank) < 20 and slow.seconds <= 1.0
    assert ranking.stages == [f"rerank: reranked {len(ranking.rerank)} of 60 by slow within 1000 ms"]


def test_everything_is_reranked_where_there_is_time() -> None:
    ranking = candidates(["nothing", "retry", "retry budget"] * 10)
    run(ranking, Slow(passage_ms=1))
    assert len(ranking.rerank) == 30
    assert ids(ranking)[:3] == [3, 6, 9] and len(ids(ranking)) == 20


def test_loading_the_model_is_not_taken_for_its_pace() -> None:
    slow, pace = Slow(passage_ms=10, load_ms=5000), Pace()
    cold, warm = candidates(["retry budget"] * 60), candidates(["retry budget"] * 60)
    run(cold, slow, pace)
    assert len(cold.rerank) == 1 and ids(cold) == list(range(1, 61))
    run(warm, slow, pace)
    assert len(warm.rerank) == 60


def test_a_reranker_too_slow_for_one_passage_is_left_alone_for_a_while_and_tried_again() -> None:
    slow, pace = Slow(passage_ms=3000), Pace(3000.0, is_loaded=True)
    for tries in (0, 0, 1, 1):
        ranking = candidates(["retry budget"] * 5)
        run(ranking, slow, pace)
        assert len(slow.calls) == tries and ids(ranking) == [1, 2, 3, 4, 5]


@given(
    st.floats(0.1, 400),
    st.floats(0, 3000),
    st.integers(1, 128),
    st.integers(1, 4000),
    st.lists(st.booleans(), max_size=4),
)
def test_once_its_pace_is_known_the_budget_is_kept(
    passage_ms: float, load_ms: float, count: int, budget: int, before: list[bool]
) -> None:
    slow, pace, limits = Slow(passage_ms, load_ms), Pace(), Limits(budget, 0.5, 3)
    for _ in (*before, 1, 1):
        run(candidates(["retry budget"] * count), slow, pace, limits)
    if pace.passage_ms is not None and pace.passage_ms == pytest.approx(passage_ms):
        begun = slow.seconds
        run(candidates(["retry budget"] * count), slow, pace, limits)
        assert 1000 * (slow.seconds - begun) <= budget + 1e-6


def test_a_reranker_that_fails_midway_leaves_the_coarse_order_and_says_so() -> None:
    ranking = candidates(["nothing", "retry budget"] * 10)
    run(ranking, Slow(passage_ms=1, fails_after=6))
    assert ids(ranking) == list(range(1, 21)) and ranking.rerank == {}
    assert ranking.stages == ["rerank: failed, the coarse order stays: The weights are gone."]


@pytest.mark.parametrize("answer", [[], [0.5], [float("nan"), 0.5]])
def test_a_reranker_that_answers_nonsense_is_not_believed(answer: list[float]) -> None:
    class Nonsense(OverlapReranker):
        def score(self, query: str, passages: Sequence[str]) -> list[float]:
            return answer

    ranking = candidates(["a", "b"])
    pace = Pace(1.0, is_loaded=True)
    rerank("a", ranking, Nonsense(), LIMITS, pace, lambda: 0.0)
    assert ids(ranking) == [1, 2] and "gave no score for each passage" in ranking.stages[0]


# ------------------------------------------------------------ probabilities

COARSE = [(n, 1 - n / 100) for n in range(1, 31)]


def test_the_likely_come_first_then_what_was_not_looked_at_and_the_unlikely_go() -> None:
    assert by_probability(COARSE[:5], {1: 0.1, 2: 0.6, 3: 0.9}, LIMITS) == [(3, 0.9), (2, 0.6), COARSE[3], COARSE[4]]


def test_where_none_is_likely_the_best_few_stay() -> None:
    scores = {n: 0.4 - n / 100 for n in range(1, 31)}
    assert [n for n, _ in by_probability(COARSE, scores, LIMITS)] == [1, 2, 3]
    assert by_probability(COARSE, scores, Limits(1000, 0.5, 0)) == []


def test_what_is_out_of_the_question_does_not_stay_as_a_fallback() -> None:
    assert by_probability(COARSE, dict.fromkeys(range(1, 31), 0.001), LIMITS) == []


def test_the_rest_is_kept_if_too_few_were_looked_at_to_tell() -> None:
    few, enough = (dict.fromkeys(range(1, count + 1), 0.0) for count in (JUDGED_ENOUGH - 1, JUDGED_ENOUGH))
    assert by_probability(COARSE, few, LIMITS) == COARSE[JUDGED_ENOUGH - 1 :]
    assert by_probability(COARSE, enough, LIMITS) == []


# ------------------------------------------------------------ other scores

pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(-50, 50)), min_size=1, max_size=20)


@given(pairs, st.data())
def test_a_mixed_score_lies_between_0_and_1_and_what_was_not_reranked_stands_behind(
    found: list[tuple[float, float]], data: st.DataObject
) -> None:
    coarse = [(n, score) for n, (score, _) in enumerate(sorted(found, key=lambda pair: -pair[0]), 1)]
    seen = data.draw(st.integers(1, len(coarse)))
    order = mixed(coarse, {n: found[n - 1][1] for n in range(1, seen + 1)})
    assert sorted(n for n, _ in order) == [n for n, _ in coarse]
    assert all(-1e-9 <= score <= 1 + 1e-9 for _, score in order)
    scores = dict(order)
    worst = min(scores[n] for n in range(1, seen + 1))
    assert all(scores[n] <= worst + 1e-9 for n in range(seen + 1, len(coarse) + 1))


def test_at_equal_shares_a_clear_rerank_win_outweighs_a_coarse_one() -> None:
    assert [n for n, _ in mixed([(1, 0.9), (2, 0.8), (3, 0.1)], {1: 0.0, 2: 9.0, 3: 1.0})] == [2, 1, 3]


# ------------------------------------------------------------ in the funnel


@pytest.fixture
def funnel(tmp_path: Path) -> Funnel:
    store = Stored(tmp_path)
    for n, text in enumerate(("retry", "retry budget", "the uploader", "budget of the uploader", "a retry again")):
        store.add_session(f"s{n}", [(Role.USER, f"{text} {'x' * n}", None)])
    store.index(lambda: None)
    return Funnel(store.home, lambda: store.reader, lambda: None, Settings().search, OverlapReranker)


def search(funnel: Funnel, query: str, top_k: int = 15, **switches: object) -> list[str]:
    from agent_raw_rag.search.zone import SYSTEM_ZONE

    funnel.settings = Settings().search.model_copy(update={"time_order": False, **switches})
    result = funnel.search(query, Scope(), top_k=top_k, max_tokens=6000, zone=SYSTEM_ZONE, resume=lambda _: None)
    return [one.session.removeprefix("bench:") for one in result.passages]


def test_passages_are_ranked_by_the_reranker(funnel: Funnel) -> None:
    assert search(funnel, "retry budget")[0] == "s1"


@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_top_k_is_obeyed_whatever_the_fallback(funnel: Funnel, top_k: int) -> None:
    assert len(search(funnel, "retry budget", top_k)) == top_k
    assert len(search(funnel, "retry budget", top_k, rerank_threshold=1.0)) <= top_k


def test_nothing_relevant_gives_nothing(funnel: Funnel) -> None:
    assert search(funnel, "zzqx wvvk") == []


def test_a_budget_of_nothing_means_no_reranking(funnel: Funnel) -> None:
    search(funnel, "retry budget", rerank_budget_ms=0)
    ranking, _ = funnel.rank("retry budget", Scope(), funnel.reader())
    assert "rerank: skipped, switched off" in ranking.stages and not ranking.rerank


def test_a_reranker_that_cannot_be_made_is_named_in_the_answer(funnel: Funnel) -> None:
    def missing() -> OverlapReranker:
        raise ModelError("The reranker's weights are missing.")

    funnel.reranker = missing
    ranking, _ = funnel.rank("retry budget", Scope(), funnel.reader())
    assert ranking.order and "rerank: skipped, The reranker's weights are missing." in ranking.stages
