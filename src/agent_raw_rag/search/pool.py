"""A ranking's candidates -> the pool that features are measured on, and what the pool's scores do to the ranking.

The learned scores are logits, good for one pool. On the ranking's scale the best of a pool is 1 and the worst 0, so that what a
named time or a quoted phrase adds keeps its meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.chunker import rendered
from agent_raw_rag.models import CleanText
from agent_raw_rag.search.asked import Asked
from agent_raw_rag.search.features import Features, Window, measure
from agent_raw_rag.search.learned import Scores
from agent_raw_rag.search.pieces import WHOLE_CHARS, Piece, pieces
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import ChunkRow


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates with their pieces and features."""

    ids: list[int]
    """[n] chunk ids."""
    pieces: list[list[Piece]]
    """[n]"""
    features: Features

    def kept(self, chunk_ids: Sequence[int]) -> NDArray[np.bool_]:
        """[n]: which of the pool these are."""
        wanted = set(chunk_ids)
        return np.array([chunk_id in wanted for chunk_id in self.ids], dtype=bool)


def pool_of(ranking: Ranking, asked: Asked, reader: Reader) -> Pool:
    """The pool of all candidates of a ranking."""
    ids = [chunk_id for chunk_id, _ in ranking.order]
    found = [_pieces(ranking.chunks[chunk_id], reader) for chunk_id in ids]
    windows = [
        Window(row, ranking.lexical.get(chunk_id, 0.0), ranking.dense.get(chunk_id))
        for chunk_id, row in zip(ids, found, strict=True)
    ]
    return Pool(ids, found, measure(windows, asked))


def place(pool: Pool, scores: Scores, ranking: Ranking, stage: str) -> None:
    """Give a ranking the pool's scores, and its turns those of their pieces."""
    low, span = scores.windows.min(initial=0.0), float(np.ptp(scores.windows)) if len(pool.ids) else 0.0
    scaled = (scores.windows - low) / span if span > 0 else np.ones(len(pool.ids))
    ranking.rebase(stage, dict(zip(pool.ids, scaled.tolist(), strict=True)))
    ranking.turns = {chunk_id: [] for chunk_id in pool.ids}
    rows = zip(pool.features.owner.tolist(), pool.features.turns, scores.pieces.tolist(), strict=True)
    for owner, turn, own in rows:
        chunk_id = pool.ids[owner]
        ranking.turns[chunk_id].append((turn, own + span * ranking.gains.get(chunk_id, 0.0)))


def _pieces(chunk: ChunkRow, reader: Reader) -> list[Piece]:
    lines = reader.line_heads(chunk.session_id, chunk.first_turn, chunk.last_turn, WHOLE_CHARS + 1)
    return pieces(chunk.text, [(turn, rendered(role, CleanText(text))) for turn, role, text in lines])
