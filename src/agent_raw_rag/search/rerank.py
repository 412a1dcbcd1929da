"""Reranking under a hard time budget: the pool shrinks to what fits, as measured on this machine.

Candidates go to the reranker best first, in slices, and a slice is only sent if it is expected to be done in time. What one
passage costs is remembered per reranker. An answer says how many were reranked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from agent_raw_rag.encode.base import Reranker
from agent_raw_rag.errors import ModelError
from agent_raw_rag.search.ranking import Pairs, Ranking, in_order

FIRST_SLICE = 4
SLICE = 16
"""Passages a call at most: enough to fill a batch, few enough that one wrong guess costs little."""
LEAST_MS = 1.0
"""Less than this is no time."""
HEADROOM = 0.8
"""Of the time left that a slice is given: passages differ in length."""
LATEST_SHARE = 0.3
"""Of the newest measurement in the moving average."""
JUDGED_ENOUGH = 15
"""If so many of the best were found unlikely and none likely, those behind them are not to be trusted either."""
LEAST_LIKELY = 0.05
"""Below this a hit does not stay even where all are below the threshold: then nothing here answers the query."""
RERANK_SHARE = 0.5
"""Of a score that is no probability in the final score; the rest is the coarse score. Both scaled to 0 … 1."""


Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Limits:
    """What the settings say."""

    budget_ms: float
    threshold: float
    fallback: int
    left_ms: float | None = None
    """Of the budget, for this question. None: all of it."""


@dataclass(slots=True)
class Pace:
    """What a passage costs with one reranker, as measured. None: not known yet."""

    passage_ms: float | None = None
    is_loaded: bool = False
    """The first call loads the model, and says nothing about the next one."""

    def fitting(self, left_ms: float) -> int:
        """How many passages a next slice may have."""
        if left_ms < LEAST_MS:
            return 0
        if not self.is_loaded:
            return 1
        if self.passage_ms is None:
            return FIRST_SLICE
        return min(SLICE, int(HEADROOM * left_ms / max(self.passage_ms, 1e-6)))

    def took(self, passages: int, ms: float) -> None:
        """Remember a call."""
        if not self.is_loaded:
            self.is_loaded = True
            return
        latest = ms / passages
        known = self.passage_ms
        self.passage_ms = latest if known is None else known + LATEST_SHARE * (latest - known)

    def forget_a_little(self) -> None:
        """Not even one passage fitted: perhaps that was a bad moment. After some such queries it is tried again."""
        if self.passage_ms is not None:
            self.passage_ms /= 2


def rerank(
    query: str, ranking: Ranking, reranker: Reranker, limits: Limits, pace: Pace, clock: Callable[[], float]
) -> None:
    """Rerank as many candidates as the budget allows. ``clock`` gives seconds.

    A reranker that fails leaves the coarse order as it is, and the answer says so.
    """
    ids = [chunk_id for chunk_id, _ in ranking.order]
    texts = [ranking.chunks[chunk_id].text for chunk_id in ids]
    try:
        scores = within_budget(
            lambda low, high, _: _checked(reranker.score(query, texts[low:high]), high - low, reranker.name),
            len(texts), limits.budget_ms if limits.left_ms is None else limits.left_ms, pace, clock,
        )  # fmt: skip
    except ModelError as error:
        ranking.stages.append(f"rerank: failed, the coarse order stays: {error}")
        return
    ranking.rerank = dict(zip(ids, scores, strict=False))
    said = f"rerank: reranked {len(scores)} of {len(ids)} by {reranker.name} within {limits.budget_ms:.0f} ms"
    ranking.stages.append(said)
    if not scores:
        return
    ranking.turns = {}  # what was known of single turns, this reranker knows better of whole windows
    if reranker.is_probability:
        ranking.reorder("rerank", by_probability(ranking.order, ranking.rerank, limits))
    else:
        ranking.reorder("rerank", mixed(ranking.order, ranking.rerank))


def by_probability(coarse: Pairs, scores: dict[int, float], limits: Limits) -> Pairs:
    """The likely ones, best first, then those that were not looked at, in their coarse order.

    If none is likely, the best few that are not out of the question stay.
    """
    known = sorted(
        ((scores[pair[0]], pair) for pair in coarse if pair[0] in scores),
        key=lambda one: (-one[0], -one[1][1], one[1][0]),
    )
    judged = [(pair[0], score) for score, pair in known]
    unknown = [pair for pair in coarse if pair[0] not in scores]
    likely = [pair for pair in judged if pair[1] >= limits.threshold]
    if likely:
        return [*likely, *unknown]
    left = [pair for pair in judged if pair[1] >= LEAST_LIKELY][: limits.fallback]
    return left if len(judged) >= JUDGED_ENOUGH else [*left, *unknown]


def mixed(coarse: Pairs, scores: dict[int, float], share: float = RERANK_SHARE) -> Pairs:
    """Coarse and rerank scores in one, best first; what was not reranked counts as the worst that was."""
    coarse_scale = _scale([score for _, score in coarse])
    rerank_scale = _scale(list(scores.values()))
    return in_order([
        (chunk_id, (1 - share) * coarse_scale(score) + share * (rerank_scale(scores[chunk_id]) if chunk_id in scores else 0))
        for chunk_id, score in coarse
    ])  # fmt: skip


def _scale(scores: Sequence[float]) -> Callable[[float], float]:
    """Scores -> 0 for the worst to 1 for the best; all 1 if they are equal."""
    low, span = min(scores), max(scores) - min(scores)
    return lambda score: (score - low) / span if span > 0 else 1.0


def within_budget(
    work: Callable[[int, int, float], list[Done]], count: int, budget_ms: float, pace: Pace, clock: Callable[[], float]
) -> list[Done]:
    """What ``work(low, high, left_ms)`` makes of the first of ``count`` passages, as many as fit. It may make fewer than it is
    asked for, where the time that is left was not enough; then that was all."""
    done: list[Done] = []
    begun = clock()
    while len(done) < count:
        before = clock()
        left = budget_ms - 1000 * (before - begun)
        fitting = min(pace.fitting(left), count - len(done))
        if not fitting:
            break
        made = work(len(done), len(done) + fitting, left)
        done += made
        pace.took(max(len(made), 1), 1000 * (clock() - before))
        if len(made) < fitting:
            break
    if count and not done:
        pace.forget_a_little()
    return done


def _checked(scores: list[float], wanted: int, name: str) -> list[float]:
    if len(scores) != wanted or not all(map(math.isfinite, scores)):
        raise ModelError(f"The reranker {name} gave no score for each passage.")
    return scores
