"""The best of a ranking -> hits: what a passage will say about how it was found."""

from __future__ import annotations

from datetime import tzinfo

from agent_raw_rag.search.expand import Hit
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.result import Explained, Folded, Scores
from agent_raw_rag.search.zone import shown
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import ChunkRow


def hits_of(ranking: Ranking, top_k: int, reader: Reader, zone: tzinfo) -> list[Hit]:
    """The ``top_k`` best, with their scores, their trace, and what was folded into them."""
    chosen = [chunk_id for chunk_id, _ in ranking.order[:top_k]]
    return [_hit(ranking, chunk_id, rank, reader, zone) for rank, chunk_id in enumerate(chosen, start=1)]


def _hit(ranking: Ranking, chunk_id: int, rank: int, reader: Reader, zone: tzinfo) -> Hit:
    scores = Scores(
        round(ranking.coarse[chunk_id], 4), ranking.lexical.get(chunk_id), _rounded(ranking.dense.get(chunk_id)),
        _rounded(ranking.rerank.get(chunk_id)),
    )  # fmt: skip
    explain = [Explained(mark.stage, mark.rank, round(mark.score, 4)) for mark in ranking.marks(chunk_id)]
    also = [ranking.chunks[other] for other in ranking.folded.get(chunk_id, ())]
    return Hit(
        ranking.chunks[chunk_id], rank, _ranked_by(scores), scores, explain, _folded(also, reader, zone),
        ranking.best_turn(chunk_id),
    )  # fmt: skip


def _folded(chunks: list[ChunkRow], reader: Reader, zone: tzinfo) -> list[Folded]:
    sessions = reader.session_rows({chunk.session_id for chunk in chunks})
    return [
        Folded(sessions[one.session_id].public_id, one.first_turn, one.last_turn, shown(one.started, zone))
        for one in chunks
    ]


def _ranked_by(scores: Scores) -> str:
    if scores.rerank is not None:
        return "rerank"
    if scores.lexical is not None and scores.dense is not None:
        return "fusion"
    return "lexical" if scores.lexical is not None else "dense"


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
