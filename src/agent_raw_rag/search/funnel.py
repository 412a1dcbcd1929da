"""Arrow 8: query -> hits -> passages. Filter, rank coarsely by words and by vectors, fuse, rerank, abstain, expand.

Every stage that did not take part is named in the answer, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Protocol

from agent_raw_rag.encode.base import Encoder, Reranker
from agent_raw_rag.lexical.queries import QueryTerm, query_terms
from agent_raw_rag.lexical.terms import is_dense
from agent_raw_rag.search.dense import Dense
from agent_raw_rag.search.expand import Expansion, Hit, Resume, expand
from agent_raw_rag.search.fuse import fuse
from agent_raw_rag.search.result import Scores, SearchResult
from agent_raw_rag.search.turns import turns_of
from agent_raw_rag.search.words import Words
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.rows import ChunkRow

LEAST_COVERAGE = 0.1
"""Of the query's idf, in the best hits: less, and no near neighbour either, means that nothing here is about it."""
LEAST_COSINE = 0.56
"""bge-small puts unrelated texts at 0.4 to 0.6, and nine in ten of LoCoMo's questions this near to some window (report 004)."""
LEAST_COSINE_ALONE = 0.65
"""The same for a query none of whose words occurs anywhere: letters without sense come as near as 0.635 (report 003)."""

RERANK_THRESHOLD = 0.5
"""Hits whose rerank score is a probability below this are dropped,"""
RERANK_FALLBACK = 3
"""but so many stay if all are."""


class FunnelSettings(Protocol):
    """What the funnel asks of the settings."""

    @property
    def candidates(self) -> int:
        """Chunks that the coarse ranking keeps."""
        ...

    @property
    def dense_weight(self) -> float:
        """Share of the dense score."""
        ...

    @property
    def time_order(self) -> bool:
        """Oldest first."""
        ...

    @property
    def whole_turns(self) -> bool:
        """Expand to turns."""
        ...

    @property
    def once(self) -> bool:
        """Each turn once."""
        ...


@dataclass(slots=True)
class Ranking:
    """Candidates, best first, with what each stage said of them."""

    order: list[tuple[int, float]]
    lexical: dict[int, float] = field(default_factory=dict)
    dense: dict[int, float] = field(default_factory=dict)
    rerank: dict[int, float] = field(default_factory=dict)
    stages: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Funnel:
    """The ranking stages over one store."""

    def __init__(
        self, home: str, reader: Callable[[], Reader], encoder: Callable[[], Encoder | None],
        settings: FunnelSettings, reranker: Reranker | None = None,
    ) -> None:  # fmt: skip
        self.reader = reader
        self.settings = settings
        self.reranker = reranker
        self.words = Words(home)
        self.dense = Dense(home, encoder)

    def search(
        self, query: str, scope: Scope, *, top_k: int, max_tokens: int, zone: tzinfo, resume: Resume
    ) -> SearchResult:
        """The passages that answer a query, within a token budget; none if nothing is relevant."""
        reader = self.reader()
        ranking, chunks = self.rank(query, scope, reader)
        hits = self._hits(ranking, chunks, top_k)
        how = Expansion(max_tokens, self.settings.whole_turns, self.settings.once, self.settings.time_order)
        passages, left_out = expand(hits, query, how, reader, zone, resume)
        notes = [*ranking.notes]
        if left_out:
            notes.append(f"{left_out} more hits did not fit into {max_tokens} tokens.")
        if not passages:
            notes.append(_why_nothing(reader, scope))
        projects = [] if passages else [project for project, _, _ in reader.projects()[:30]]
        return SearchResult(_short(query), passages, ranking.stages, notes, projects)

    def rank(self, query: str, scope: Scope, reader: Reader) -> tuple[Ranking, dict[int, ChunkRow]]:
        """Relevant candidates, best first, and their chunks."""
        terms = query_terms(query)
        ranking = self._coarse(query, terms, scope, reader)
        chunks = reader.chunks(chunk_id for chunk_id, _ in ranking.order)
        ranking.order = [pair for pair in ranking.order if pair[0] in chunks]
        self._abstain(terms, ranking, chunks)
        self._rerank(query, ranking, chunks)
        return ranking, chunks

    def rank_turns(self, query: str, scope: Scope, reader: Reader, limit: int) -> list[tuple[int, int, float]]:
        """(session row, turn number, score) of the turns in the ranked windows, best first."""
        ranking, chunks = self.rank(query, scope, reader)
        return turns_of(query, [(chunks[chunk_id], score) for chunk_id, score in ranking.order], reader, limit)

    # ------------------------------------------------------------ stages

    def _coarse(self, query: str, terms: list[QueryTerm], scope: Scope, reader: Reader) -> Ranking:
        limit = self.settings.candidates
        lexical, notes = self.words.search(terms, scope, reader, limit)
        said = [f"lexical: {len(lexical)} of at most {limit}"]
        dense, why = self.dense.search(query, scope, reader, limit) if _has_words(terms) else ([], _NO_ENGLISH)
        said.append(f"dense: {len(dense)} of at most {limit}" if dense else f"dense: skipped, {why}")
        fused = fuse(lexical, dense, self.settings.dense_weight)[:limit]
        return Ranking(fused, dict(lexical), dict(dense), stages=said, notes=notes)

    def _abstain(self, terms: list[QueryTerm], ranking: Ranking, chunks: dict[int, ChunkRow]) -> None:
        """Empty the ranking if its best candidates share neither the query's telling words nor its sense."""
        by_words = sorted(ranking.lexical.items(), key=lambda pair: -pair[1])
        best = [chunks[chunk_id].text for chunk_id, _ in (*ranking.order[:3], *by_words[:3]) if chunk_id in chunks]
        covered = max((self.words.coverage(terms, text) for text in best), default=0.0)
        near = max(ranking.dense.values(), default=0.0)
        if covered < LEAST_COVERAGE and near < (LEAST_COSINE if ranking.lexical else LEAST_COSINE_ALONE):
            ranking.order = []

    def _rerank(self, query: str, ranking: Ranking, chunks: dict[int, ChunkRow]) -> None:
        if self.reranker is None:
            ranking.stages.append("rerank: skipped, no reranker is installed")
            return
        ids = [chunk_id for chunk_id, _ in ranking.order]
        scores = self.reranker.score(query, [chunks[chunk_id].text for chunk_id in ids])
        ranking.rerank = dict(zip(ids, scores, strict=True))
        by_score = sorted(ranking.order, key=lambda pair: (-ranking.rerank[pair[0]], -pair[1], pair[0]))
        if self.reranker.is_probability:
            likely = [pair for pair in by_score if ranking.rerank[pair[0]] >= RERANK_THRESHOLD]
            by_score = likely or by_score[:RERANK_FALLBACK]
        ranking.order = by_score
        ranking.stages.append(f"rerank: {len(ids)} by {self.reranker.name}")

    def _hits(self, ranking: Ranking, chunks: dict[int, ChunkRow], top_k: int) -> list[Hit]:
        hits = []
        for rank, (chunk_id, score) in enumerate(ranking.order[:top_k], start=1):
            scores = Scores(
                round(score, 4), ranking.lexical.get(chunk_id), _rounded(ranking.dense.get(chunk_id)),
                _rounded(ranking.rerank.get(chunk_id)),
            )  # fmt: skip
            hits.append(Hit(chunks[chunk_id], rank, _ranked_by(scores), scores))
        return hits


def _why_nothing(reader: Reader, scope: Scope) -> str:
    """What an empty answer means: nothing is there, nothing may be looked at, or nothing is about it."""
    if next(reader.chunks_after(0, 1), None) is None:
        return "Nothing is stored yet: `raw-rag-ingest` reads the agents' logs."
    sessions = reader.session_ids(scope)
    if sessions is not None and not len(sessions):
        return "No session passes the filters."
    return "Nothing relevant was found."


SHOWN_QUERY = 500
"""Characters of the query that an answer repeats: a pasted log must not come back at full length."""


def _short(query: str) -> str:
    return query if len(query) <= SHOWN_QUERY else f"{query[:SHOWN_QUERY]}…"


_NO_ENGLISH = "the embedded model reads English only and the query is in another script"


def _has_words(terms: Sequence[QueryTerm]) -> bool:
    """Whether at least half of a query's terms are words of an alphabet. A query without terms counts as one."""
    return 2 * sum(is_dense(term.text) is not None for term in terms) <= len(terms)


def _ranked_by(scores: Scores) -> str:
    if scores.rerank is not None:
        return "rerank"
    if scores.lexical is not None and scores.dense is not None:
        return "fusion"
    return "lexical" if scores.lexical is not None else "dense"


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)
