"""Scored pieces -> ranked turns. Pure."""

from __future__ import annotations

from collections.abc import Iterable

Turn = tuple[int, int]
"""Row number of the session, ordinal of the turn."""


def rank_turns(scored: Iterable[tuple[Turn, float]]) -> list[tuple[Turn, float]]:
    """Each turn once with the score of its best piece, best first; ties by session and ordinal."""
    best: dict[Turn, float] = {}
    for turn, score in scored:
        best[turn] = max(score, best.get(turn, score))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
