"""The lexical stage: the index, and by hand the chunks that are stored but not indexed yet."""

from __future__ import annotations

from collections.abc import Sequence

from agent_raw_rag.derived import lexical_doc, lexical_filter, lexical_folder
from agent_raw_rag.lexical.index import LexicalIndex
from agent_raw_rag.lexical.queries import QueryTerm
from agent_raw_rag.search.ranking import Pairs, merged, share_of
from agent_raw_rag.store.reader import Reader, Scope

MOST_PENDING = 5000
"""So many chunks are scored by hand at most; more wait for the index, and the answer says so."""


class Words:
    """The lexical index of one store folder, opened at first use and followed as it grows."""

    def __init__(self, home: str) -> None:
        self._folder = lexical_folder(home)
        self._index: LexicalIndex | None = None
        self._generation = ""

    def index(self, reader: Reader) -> LexicalIndex:
        """The index as it is now."""
        generation = reader.generation
        if self._index is None or generation != self._generation:
            self._index, self._generation = LexicalIndex.open(self._folder, generation), generation
        else:
            self._index.reload()
        return self._index

    def search(
        self, terms: list[QueryTerm], scope: Scope, reader: Reader, limit: int, also: Sequence[Scope] = ()
    ) -> tuple[Pairs, list[str]]:
        """(chunk id, BM25 score), best first, and what the caller should know.

        ``also``: parts of the scope that get a quarter of the limit for themselves, so that none of them goes without.

        Raises:
            StoreError: the index is damaged in a way that only shows now.
        """
        index = self.index(reader)
        pending = [lexical_doc(facts) for facts in reader.chunks_after(index.high_water, MOST_PENDING)]
        hits = index.search(terms, lexical_filter(scope), limit, pending)
        for part in also:
            hits = merged(hits, index.search(terms, lexical_filter(part), share_of(limit), pending))
        notes = []
        if len(pending) == MOST_PENDING:
            notes.append("The lexical index lags behind; `raw-rag-ingest` brings it up.")
        return hits, notes

    def coverage(self, terms: list[QueryTerm], text: str) -> float:
        """The share of the query's idf that a text covers. Call after ``search``."""
        return self._index.coverage(terms, text) if self._index is not None else 0.0
