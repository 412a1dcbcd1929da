"""Recency: a tie-break, and nothing more. Of candidates that score alike the newer one comes first. Pure."""

from __future__ import annotations

from itertools import groupby

from agent_raw_rag.search.ranking import Ranking

DIGITS = 3
"""Scores that agree this far are the same: less is noise of the models' arithmetic."""


def newest_first(ranking: Ranking) -> None:
    """Put runs of equal scores in the order of their last turn, those without a time last."""

    def score(pair: tuple[int, float]) -> tuple[bool, float]:
        return pair[0] in ranking.rerank, round(pair[1], DIGITS)

    def age(pair: tuple[int, float]) -> int:
        return -(ranking.chunks[pair[0]].ended or 0)

    order = [pair for _, run in groupby(ranking.order, key=score) for pair in sorted(run, key=age)]
    if order != ranking.order:
        ranking.reorder("recency", order)
