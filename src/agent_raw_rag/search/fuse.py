"""Fusing the lexical and the dense ranking by scores. Pure.

Plain rank fusion loses against BM25 alone when the dense model is small; a sum of scaled scores gains (see
``reports/``). BM25 is divided by its best score, the cosine is stretched between its best and its worst candidate.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_raw_rag.search.ranking import in_order

Ranked = Sequence[tuple[int, float]]
DENSE_WEIGHT = 0.55


def fuse(lexical: Ranked, dense: Ranked, dense_weight: float = DENSE_WEIGHT) -> list[tuple[int, float]]:
    """Chunk ids with their fused score in 0..1, best first; ties by chunk id."""
    scores: dict[int, float] = {}
    best = max((score for _, score in lexical), default=0.0)
    weight = (1 - dense_weight) if dense else 1.0
    for chunk_id, score in lexical:
        scores[chunk_id] = weight * score / best if best > 0 else 0.0
    for chunk_id, score in stretched(dense):
        scores[chunk_id] = scores.get(chunk_id, 0.0) + (dense_weight if lexical else 1.0) * score
    return in_order(list(scores.items()))


def stretched(dense: Ranked) -> list[tuple[int, float]]:
    """Cosines on a scale from the worst candidate (0) to the best (1)."""
    if not dense:
        return []
    high, low = max(score for _, score in dense), min(score for _, score in dense)
    span = high - low
    return [(chunk_id, (score - low) / span if span > 0 else 1.0) for chunk_id, score in dense]
