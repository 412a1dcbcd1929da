"""Late interaction as a rerank stage: the best windows are read again, token by token, as many as the time budget allows.

Each window costs its own token states and those of its short turns; both count in the learned score (``weights.STATES``).
What was not read again follows behind, in its coarse order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

import numpy as np

from agent_raw_rag.encode.late import LateReader, TokenStates
from agent_raw_rag.errors import ModelError
from agent_raw_rag.search.late import max_similarity, token_weights
from agent_raw_rag.search.learned import Scores, only, score, spliced, with_states
from agent_raw_rag.search.pool import Pool, place
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.rerank import LEAST_MS, Pace, mixed, within_budget
from agent_raw_rag.search.weigh import Telling, Weighed
from agent_raw_rag.search.weights import STATES

MOST = 40
"""Windows: more gain 0.2 points at most (report 001)."""


Texts = tuple[str, list[str]]
"""A window's, and its pieces'."""
Similar = tuple[float, list[float]]
"""MaxSim of a window, and of each of its pieces."""


def read_again(
    query: str, ranking: Ranking, weighed: Weighed, late: LateReader, budget_ms: float, left_ms: float, pace: Pace,
    clock: Callable[[], float],
) -> None:  # fmt: skip
    """Order a ranking by the learned score with token states, or, where nothing was weighed, half by them and half by the coarse
    score. A model that fails leaves it as it is, and so does a budget of which nothing is ``left_ms``; the answer says so."""
    ids = [chunk_id for chunk_id, _ in ranking.order[:MOST]]
    texts = _texts(ids, ranking, weighed.pool)
    begun = clock()
    try:
        asked = late.query_states(query, left_ms / 1000) if left_ms >= LEAST_MS else None
        if asked is None:
            ranking.stages.append("rerank: skipped, no time was left for it")
            return
        similar = _similarities(query, asked, late, weighed.telling)
        pace.is_loaded = True  # by the query's own states
        left_ms -= 1000 * (clock() - begun)
        read = within_budget(lambda low, high, left: similar(texts[low:high], left), len(ids), left_ms, pace, clock)
    except ModelError as error:
        ranking.stages.append(f"rerank: failed, the coarse order stays: {error}")
        return
    count = len(ranking.order)
    ranking.stages.append(f"rerank: reranked {len(read)} of {count} by {late.name} within {budget_ms:.0f} ms")
    if not read:
        return
    found = dict(zip(ids, read, strict=False))
    ranking.rerank = {chunk_id: window for chunk_id, (window, _) in found.items()}
    if weighed.pool is None or weighed.scores is None:
        ranking.reorder("rerank", mixed(ranking.order, ranking.rerank))
    else:
        scores = _scores(weighed.pool, weighed.scores, found)
        place(weighed.pool, scores, ranking, "rerank", weighed.pool.kept(list(found)))


def _texts(ids: Sequence[int], ranking: Ranking, pool: Pool | None) -> list[Texts]:
    where = {chunk_id: number for number, chunk_id in enumerate(pool.ids)} if pool else {}
    return [
        (ranking.chunks[one].text, [piece.whole for piece in pool.pieces[where[one]]] if pool else []) for one in ids
    ]


def _similarities(
    query: str, asked: TokenStates, late: LateReader, telling: Telling
) -> Callable[[Sequence[Texts], float], list[Similar]]:
    """Windows, and milliseconds for them -> how similar the first of them are, as many as were read in this time."""
    weights = token_weights(query, asked.spans, telling.idf, telling.chunks)
    near: dict[str, float] = {}

    def similar(windows: Sequence[Texts], left_ms: float) -> list[Similar]:
        texts = [text for window, pieces in windows for text in (window, *pieces) if text not in near]
        near.update(late.passages(texts, lambda states: max_similarity(asked, weights, states), left_ms / 1000))
        read = takewhile(lambda one: near.keys() >= {one[0], *one[1]}, windows)
        return [(near[window], [near[piece] for piece in pieces]) for window, pieces in read]

    return similar


def _scores(pool: Pool, coarse: Scores, read: dict[int, Similar]) -> Scores:
    """The pool's scores: those read again by words and states, the rest behind them by words."""
    kept = pool.kept(list(read))
    features = only(pool.features, kept)
    mine = [read[chunk_id] for chunk_id, is_kept in zip(pool.ids, kept, strict=True) if is_kept]
    windows = np.array([window for window, _ in mine])
    pieces = np.array([one for _, own in mine for one in own])
    late = score(with_states(features, windows, pieces), STATES)
    inside = kept[pool.features.owner]
    return Scores(spliced(coarse.windows, late.windows, kept), spliced(coarse.pieces, late.pieces, inside))
