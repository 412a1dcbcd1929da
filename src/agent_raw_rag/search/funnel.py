"""Arrow 8: query -> hits -> passages. One ranking goes through the stages, each a module of its own.

words, vectors -> fuse -> neighbours -> time words -> phrases -> cut -> learned -> near-duplicates -> abstain -> rerank
-> recency.
Every stage that did not take part is named in the answer, with the reason.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, tzinfo

from agent_raw_rag.encode.base import Encoder, Reranker
from agent_raw_rag.encode.late import Late, TokenEncoder
from agent_raw_rag.errors import ModelError
from agent_raw_rag.search.abstain import abstain
from agent_raw_rag.search.dense import Dense
from agent_raw_rag.search.expand import Expansion, Resume, expand
from agent_raw_rag.search.fuse import fuse
from agent_raw_rag.search.hits import hits_of
from agent_raw_rag.search.near_duplicates import fold_near_duplicates
from agent_raw_rag.search.neighbours import heed_neighbours
from agent_raw_rag.search.phrases import heed_phrases
from agent_raw_rag.search.pool import place
from agent_raw_rag.search.question import Question, ends, question
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.recency import newest_first
from agent_raw_rag.search.rerank import Limits, Pace, rerank
from agent_raw_rag.search.reread import read_again
from agent_raw_rag.search.result import SearchResult
from agent_raw_rag.search.settings import SWITCHES, FunnelSettings
from agent_raw_rag.search.time_words import prefer_times
from agent_raw_rag.search.turns import RankedTurn, turns_of
from agent_raw_rag.search.weigh import Weighed, telling, weigh
from agent_raw_rag.search.words import Words
from agent_raw_rag.search.zone import SYSTEM_ZONE
from agent_raw_rag.store.reader import Reader, Scope
from agent_raw_rag.store.rows import ChunkRow

AS_MUCH_AGAIN = 2
"""Of the rerank budget, what came before has used its time, and as much again is left to what follows: where the machine has no
time now, neither is quick."""


class Funnel:
    """The ranking stages over one store."""

    def __init__(
        self, home: str, reader: Callable[[], Reader], encoder: Callable[[], Encoder | None], settings: FunnelSettings,
        reranker: Callable[[], Reranker | Late | None] = lambda: None,
        now: Callable[[], datetime] = lambda: datetime.now(SYSTEM_ZONE),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """``now`` carries the user's zone, for the times that a query names; ``clock`` gives seconds, for the rerank budget."""
        self.reader = reader
        self.settings = settings
        self.reranker = reranker
        self.now = now
        self.clock = clock
        self.words = Words(home)
        self.dense = Dense(home, encoder)
        self.paces: dict[int, Pace] = {}
        self._indexes = threading.Lock()

    def search(
        self, query: str, scope: Scope, top_k: int, *, max_tokens: int, zone: tzinfo, resume: Resume,
        asked_at: float | None = None, again: bool = True,
    ) -> SearchResult:  # fmt: skip
        """The passages that answer a query, within a token budget; none if nothing is relevant. ``asked_at``: when the rerank
        budget began, by the clock; None: now. ``again``: read them again, which is what takes most of the time."""
        reader = self.reader()
        ranking, _ = self.rank(query, scope, reader, asked_at, again=again)
        how = Expansion(max_tokens, self.settings.whole_turns, self.settings.once, self.settings.time_order)
        hits = hits_of(ranking, top_k, reader, zone)
        passages, left_out = expand(hits, ends(query), how, reader, zone, resume)
        notes = [*ranking.notes]
        if left_out:
            notes.append(f"{left_out} more {'hit' if left_out == 1 else 'hits'} did not fit into {max_tokens} tokens.")
        if not passages:
            notes.append(_why_nothing(reader, scope))
        projects = reader.project_names(30) if scope.projects and not passages else []
        return SearchResult(_short(query), passages, ranking.stages, notes, projects)

    def rank(
        self, query: str, scope: Scope, reader: Reader, asked_at: float | None = None, *, again: bool = True
    ) -> tuple[Ranking, dict[int, ChunkRow]]:
        """Relevant candidates, best first, and their chunks."""
        ranking, on = Ranking(), self.settings
        begun = self.clock() if asked_at is None else asked_at
        asked = question(query, on, self.now(), lambda stretch: reader.was_active(stretch.within(scope)))
        with self._indexes:
            encoder, weighed = self._coarse(asked, scope, reader, ranking)
        spent_ms = 1000 * (self.clock() - begun)
        if again:
            self._rerank(asked, encoder, weighed, ranking, on.rerank_budget_ms - spent_ms * AS_MUCH_AGAIN)
        else:
            ranking.stages.append("rerank: left out, as asked")
        if on.recency:
            newest_first(ranking)
        off = [name for name in SWITCHES if not getattr(on, name)]
        if off:
            ranking.stages.append(f"switched off: {', '.join(off)}")
        return ranking, ranking.chunks

    def _coarse(
        self, asked: Question, scope: Scope, reader: Reader, ranking: Ranking
    ) -> tuple[Encoder | None, Weighed | None]:
        """All that needs the indexes. Returns what reranking may go on with."""
        on = self.settings
        encoder = self._look(asked, scope, reader, ranking)
        self._fuse(ranking, reader)
        if on.neighbours:
            heed_neighbours(ranking)
        prefer_times(asked.times, asked.silent, ranking)
        heed_phrases(asked.phrases, ranking)
        self._cut(asked, ranking)
        weighed = self._weigh(asked, encoder, reader, ranking)
        if on.recency:
            newest_first(ranking)  # of copies that score alike the newest is to stand for the others
        if on.near_duplicates:
            fold_near_duplicates({term.text for term in asked.terms}, ranking)
        abstain(ranking, lambda text: self.words.coverage(asked.telling, text), by_words=on.lexical)
        ranking.coarse = dict(ranking.order)
        return encoder, weighed

    def rank_turns(self, query: str, scope: Scope, reader: Reader, limit: int) -> list[RankedTurn]:
        """(session row, turn number, score) of the turns in the ranked windows, best first."""
        ranking, _ = self.rank(query, scope, reader)
        return turns_of(query, ranking, reader, limit)

    # ------------------------------------------------------------ stages that need more than the ranking

    def _look(self, asked: Question, scope: Scope, reader: Reader, ranking: Ranking) -> Encoder | None:
        """The two coarse rankings, each of bounded width. Returns the encoder that took part, or could."""
        limit, on = self.settings.candidates, self.settings
        parts = [stretch.within(scope) for stretch in asked.times]
        if on.lexical:
            words, ranking.notes = self.words.search(asked.terms, scope, reader, limit, parts)
            ranking.lexical = dict(words)
            ranking.saw("words", words)
            ranking.stages.append(f"lexical: {len(words)} of at most {limit}")
        if not on.dense:
            return None
        near = self.dense.search(asked.text, scope, reader, limit, parts, has_words=asked.has_words)
        ranking.dense = dict(near.hits)
        ranking.unrelated = near.encoder.unrelated_cosine if near.encoder else None
        ranking.saw("vectors", near.hits)
        found = f"dense: {len(near.hits)} of at most {limit}" if near.hits else f"dense: skipped, {near.why}"
        ranking.stages.append(found)
        return near.encoder

    def _fuse(self, ranking: Ranking, reader: Reader) -> None:
        """One order of both; what a derived file still has and the store has no more is left out."""
        fused = fuse(list(ranking.lexical.items()), list(ranking.dense.items()), self.settings.dense_weight)
        ranking.chunks = reader.chunks(chunk_id for chunk_id, _ in fused)
        ranking.reorder("fuse", [pair for pair in fused if pair[0] in ranking.chunks])

    def _cut(self, asked: Question, ranking: Ranking) -> None:
        """The best candidates of both rankings, and of the rest what was said in a time that was named."""
        best, rest = ranking.order[: self.settings.candidates], ranking.order[self.settings.candidates :]
        ranking.order = [*best, *(pair for pair in rest if asked.in_time(ranking.chunks[pair[0]]))]

    def _weigh(self, asked: Question, encoder: Encoder | None, reader: Reader, ranking: Ranking) -> Weighed | None:
        """The learned score, which was fitted on words and the embedded model's cosines: without either the fusion stays."""
        on = self.settings
        if not ranking.order or not (encoder is None or isinstance(encoder, TokenEncoder)):
            return None
        index = self.words.index(reader)
        if not on.learned or not on.lexical:
            return Weighed(telling(index)) if on.rerank_budget_ms else None
        weighed = weigh(asked.text, asked.terms, ranking, index, reader)
        if weighed.pool is not None and weighed.scores is not None:
            place(weighed.pool, weighed.scores, ranking, "learned")
        return weighed

    def _rerank(
        self, asked: Question, encoder: Encoder | None, weighed: Weighed | None, ranking: Ranking, left_ms: float
    ) -> None:
        on = self.settings
        if not on.rerank_budget_ms:
            ranking.stages.append("rerank: skipped, switched off")
            return
        try:
            reranker = self.reranker()
        except ModelError as error:
            ranking.stages.append(f"rerank: skipped, {error}")
            return
        if reranker is None:
            ranking.stages.append("rerank: skipped, no reranker is set")
        elif isinstance(reranker, Late):
            self._read_again(asked, reranker, encoder, weighed, ranking, left_ms)
        elif ranking.order:
            limits = Limits(on.rerank_budget_ms, on.rerank_threshold, on.rerank_fallback, left_ms)
            pace = self.paces.setdefault(id(reranker), Pace())
            rerank(asked.text, ranking, reranker, limits, pace, self.clock)

    def _read_again(
        self, asked: Question, wish: Late, encoder: Encoder | None, weighed: Weighed | None, ranking: Ranking,
        left_ms: float,
    ) -> None:  # fmt: skip
        if not ranking.order:
            return
        if weighed is None:
            ranking.stages.append("rerank: skipped, late interaction goes with the embedded model")
            return
        try:
            late = wish.over(encoder)
        except ModelError as error:
            ranking.stages.append(f"rerank: skipped, {error}")
            return
        if late.english_only and not asked.has_words:
            ranking.stages.append("rerank: skipped, the embedded model reads English only")
            return
        pace = self.paces.setdefault(id(wish), Pace())
        read_again(asked.text, ranking, weighed, late, self.settings.rerank_budget_ms, left_ms, pace, self.clock)


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
