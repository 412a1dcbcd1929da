"""What travels through the funnel: candidates in order, and what each stage made of them. Pure.

A stage puts a new list in ``order`` and never changes the old one, so the trace is a reference a stage and costs nothing
until somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent_raw_rag.store.rows import ChunkRow

Pairs = list[tuple[int, float]]
"""(chunk id, score), best first."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What one stage said of one candidate."""

    stage: str
    rank: int
    """From 1."""
    score: float


@dataclass(slots=True)
class Ranking:
    """Candidates, best first, with the trace of the stages behind them."""

    order: Pairs = field(default_factory=list)
    chunks: dict[int, ChunkRow] = field(default_factory=dict)
    lexical: dict[int, float] = field(default_factory=dict)
    """BM25."""
    dense: dict[int, float] = field(default_factory=dict)
    """Cosines."""
    unrelated: tuple[float, float] | None = None
    """Cosines below which the nearest chunk is not about the query: see ``Encoder.unrelated_cosine``."""
    coarse: dict[int, float] = field(default_factory=dict)
    """The scores, 0 to 1, that reranking began with."""
    rerank: dict[int, float] = field(default_factory=dict)
    """The reranker's own scores."""
    gains: dict[int, float] = field(default_factory=dict)
    """What stages like ``time words`` have added to a score of 0 to 1,"""
    most: float = 0.0
    """and what they could have."""
    turns: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    """Chunk -> (turn number, score) of the turns in it, comparable between chunks. Empty: not known."""
    folded: dict[int, list[int]] = field(default_factory=dict)
    """Chunk -> chunks that say the same, and were folded into it."""
    trace: list[tuple[str, Pairs]] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    """What took part and what did not, for people."""
    notes: list[str] = field(default_factory=list)

    def saw(self, stage: str, pairs: Pairs) -> None:
        """A list that feeds the order without being it: one of the two coarse rankings."""
        if pairs:
            self.trace.append((stage, pairs))

    def reorder(self, stage: str, pairs: Pairs) -> None:
        """The order after a stage."""
        self.trace.append((stage, pairs))
        self.order = pairs

    def lift(self, stage: str, bonus: Callable[[int], float], most: float) -> None:
        """Add a bonus of 0 to ``most`` to each candidate's score; the scale stays 0 to 1. Without any bonus nothing happens."""
        gains = [(chunk_id, score, bonus(chunk_id)) for chunk_id, score in self.order]
        if not any(gain for _, _, gain in gains):
            return
        self.reorder(stage, in_order([(chunk_id, (score + gain) / (1 + most)) for chunk_id, score, gain in gains]))
        self.gains = {chunk_id: self.gains.get(chunk_id, 0.0) + gain for chunk_id, _, gain in gains}
        self.most += most

    def rebase(self, stage: str, scores: Mapping[int, float]) -> None:
        """Put better scores of 0 to 1 in the place of those that the order began with; what was added to those is added again."""
        pairs = [
            (chunk_id, (scores[chunk_id] + self.gains.get(chunk_id, 0.0)) / (1 + self.most))
            for chunk_id, _ in self.order
        ]
        self.reorder(stage, in_order(pairs))

    def best_turn(self, chunk_id: int) -> int | None:
        """The turn of a chunk that answers best; None: not known."""
        turns = self.turns.get(chunk_id)
        return max(turns, key=lambda pair: (pair[1], -pair[0]))[0] if turns else None

    def marks(self, chunk_id: int) -> list[Mark]:
        """What each stage that saw a candidate said of it, in the order of the stages."""
        found = []
        for stage, pairs in self.trace:
            place = next((place for place, pair in enumerate(pairs) if pair[0] == chunk_id), None)
            if place is not None:
                found.append(Mark(stage, place + 1, pairs[place][1]))
        return found


def in_order(pairs: Pairs) -> Pairs:
    """Best first; equal ones by chunk id."""
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def merged(one: Pairs, other: Pairs) -> Pairs:
    """Two lists of the same kind of score in one, each chunk once."""
    return in_order(list({**dict(one), **dict(other)}.items())) if other else one


def share_of(limit: int) -> int:
    """What a part of the scope gets for itself: a quarter, rounded up."""
    return -(-limit // 4)
