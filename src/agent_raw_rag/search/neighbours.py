"""Neighbours: the windows before and after a window speak for it, a little. Pure.

An answer is often said in the window after the one that asks for it. A share of the better neighbour's score helps there; the
share is small, since a long dialogue about one thing would otherwise push everything else out of the answer.
"""

from __future__ import annotations

from agent_raw_rag.search.ranking import Ranking

NEIGHBOUR_SHARE = 0.1
"""Of the better adjacent window's score."""


def heed_neighbours(ranking: Ranking) -> None:
    """Lift each candidate by a share of the best candidate next to it in its session."""
    scores = {_place(ranking, chunk_id): score for chunk_id, score in ranking.order}

    def bonus(chunk_id: int) -> float:
        session, place = _place(ranking, chunk_id)
        return NEIGHBOUR_SHARE * max(scores.get((session, place - 1), 0.0), scores.get((session, place + 1), 0.0))

    ranking.lift("neighbours", bonus, NEIGHBOUR_SHARE)


def _place(ranking: Ranking, chunk_id: int) -> tuple[int, int]:
    chunk = ranking.chunks[chunk_id]
    return chunk.session_id, chunk.place
