"""Abstaining: nothing relevant gives nothing. Decided on the coarse ranking, before anything is reranked. Pure."""

from __future__ import annotations

from collections.abc import Callable

from agent_raw_rag.search.ranking import Ranking

LEAST_COVERAGE = 0.1
"""Of the query's idf, in the best hits: less, and no near neighbour either, means that nothing here is about it."""
LEAST_COSINE = 0.56
"""bge-small puts unrelated texts at 0.4 to 0.6, and nine in ten of LoCoMo's questions this near to some window (report 004)."""
LEAST_COSINE_ALONE = 0.65
"""The same for a query none of whose words occurs anywhere: letters without sense come as near as 0.635 (report 003)."""


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
    near = max(ranking.dense.values(), default=0.0)
    if covered < LEAST_COVERAGE and near < (LEAST_COSINE if ranking.lexical or not by_words else LEAST_COSINE_ALONE):
        ranking.reorder("abstain", [])
