"""Abstaining: nothing relevant gives nothing. Decided on the coarse ranking, before anything is reranked. Pure."""

from __future__ import annotations

from collections.abc import Callable

from agent_raw_rag.search.ranking import Ranking

LEAST_COVERAGE = 0.1
"""Of the query's idf, in the best hits: less, and no near neighbour either, means that nothing here is about it."""


def abstain(ranking: Ranking, coverage: Callable[[str], float], *, by_words: bool = True) -> None:
    """Empty the ranking if its best candidates share neither the query's telling words nor its sense.

    Args:
        ranking: The coarse ranking.
        coverage: A text -> the share of the query's idf in it.
        by_words: Words were looked for; without, that none was found says nothing.
    """
    by_score = sorted(ranking.lexical.items(), key=lambda pair: -pair[1])
    best = [pair[0] for pair in (*ranking.order[:3], *by_score[:3]) if pair[0] in ranking.chunks]
    covered = max((coverage(ranking.chunks[chunk_id].text) for chunk_id in best), default=0.0)
    if covered < LEAST_COVERAGE and not _is_near(ranking, alone=by_words and not ranking.lexical):
        ranking.reorder("abstain", [])


def _is_near(ranking: Ranking, *, alone: bool) -> bool:
    """Whether the nearest chunk is about the query, as far as its cosine tells."""
    if not ranking.dense:
        return False
    if ranking.unrelated is None:
        return True
    with_words, without = ranking.unrelated
    return max(ranking.dense.values()) >= (without if alone else with_words)
