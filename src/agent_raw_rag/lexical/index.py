"""The full-text index over chunks: a folder derived from the store, or in memory. Deletable at any time.

One process writes, many read. A commit lands in the index first and in ``meta.json`` after it: killed in between, the folder
says less than it holds, the caller feeds the difference again, and ``add`` replaces what is already there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_raw_rag.errors import StoreError
from agent_raw_rag.lexical.builds import chunk_ids, memory_build, new_build, open_build, own_errors
from agent_raw_rag.lexical.checksums import damaged_file
from agent_raw_rag.lexical.documents import ANYTHING, LexicalDoc, LexicalFilter
from agent_raw_rag.lexical.queries import QueryTerm, query_terms
from agent_raw_rag.lexical.schema import EXACT_WEIGHT, build_query, document
from agent_raw_rag.lexical.score import Statistics, rank_by_hand, share
from agent_raw_rag.lexical.state import State, read_state, write_state
from agent_raw_rag.lexical.terms import term_text

WRITER_BYTES = 40_000_000
"""What the writer may hold in memory before it makes a segment."""


SPARE = 256
"""Hits that are asked for beyond the limit: texts that were said again and again score the same, and asking anew costs more."""


class LexicalIndex:
    """Made by ``open`` or ``in_memory``. Searching is safe from several threads; writing belongs to one."""

    def __init__(self, folder: Path | None, state: State, index: Any, *, writable: bool) -> None:
        self._folder = folder
        self._writable = writable
        self._writer: Any = None
        self._attach(state, index)

    @classmethod
    def open(cls, folder: str | os.PathLike[str], generation: str, *, writable: bool = False) -> LexicalIndex:
        """The index of a folder. Missing, damaged or of another generation: empty, with ``high_water`` 0.

        A writer wipes what it cannot use; a reader touches nothing and looks again at ``reload``.

        Raises:
            OSError: the folder cannot be made or written.
        """
        path = Path(folder)
        state = read_state(path, generation)
        index = open_build(path, state) if state else None
        if writable and index is None:
            state, index = new_build(path, generation)
        return cls(path, state if state and index else State(generation), index, writable=writable)

    @classmethod
    def in_memory(cls) -> LexicalIndex:
        """An empty index without a folder."""
        return cls(None, State(""), memory_build(), writable=True)

    def _attach(self, state: State, index: Any) -> None:
        # What it says of itself comes last: another thread must never believe that it holds what it does not hold yet.
        self._index = index
        self._searcher = index.searcher() if index else None
        self._state = state
        self._highest = max(chunk_ids(self._searcher, 1), default=0) if self._writable else 0

    @property
    def high_water(self) -> int:
        """The chunk id that ``commit`` was told last: chunks after it must be added."""
        return self._state.high_water

    @property
    def dropped(self) -> int:
        """The removal stamp that ``commit`` was told last: removals after it must be made."""
        return self._state.dropped

    def __len__(self) -> int:
        return int(self._searcher.num_docs) if self._searcher else 0

    # ------------------------------------------------------------ writing

    def add(self, docs: Iterable[LexicalDoc]) -> None:
        """Put chunks in, replacing those of the same ids. Nothing is seen before ``commit``.

        Raises:
            StoreBusyError: another process is writing.
            StoreError: the index cannot be written.
        """
        writer = self._write()
        added = size = 0
        for doc in docs:
            body = term_text(doc.text)
            if doc.chunk_id <= self._highest:
                writer.delete_documents_by_term("chunk", doc.chunk_id)
            writer.add_document(document(doc, body))
            self._highest = max(self._highest, doc.chunk_id)
            added, size = added + 1, size + body.count(" ") + 1
        state = self._state
        self._state = replace(state, added_docs=state.added_docs + added, added_terms=state.added_terms + size)

    def remove(self, chunk_ids: Iterable[int]) -> None:
        """Take chunks out; unknown ids are passed over. Raises as ``add``."""
        writer = self._write()
        for chunk_id in chunk_ids:
            writer.delete_documents_by_term("chunk", chunk_id)

    def commit(self, high_water: int, dropped: int = 0) -> None:
        """Make all changes durable and seen, and remember how far the caller has fed it.

        Raises:
            StoreError: the index cannot be written, for want of disk space say.
        """
        if self._writer is not None:
            with own_errors():
                self._writer.commit()
                self._index.reload()
            self._searcher = self._index.searcher()
        self._state = replace(self._state, high_water=high_water, dropped=dropped, docs=len(self))
        if self._folder:
            write_state(self._folder, self._state)

    def close(self) -> None:
        """Let merges end and give the writer's lock back. What was not committed is dropped."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.rollback()
            writer.wait_merging_threads()

    def _write(self) -> Any:
        if not self._writable:
            raise StoreError("This lexical index was opened for reading.")
        if self._writer is None:
            with own_errors():
                self._writer = self._index.writer(heap_size=WRITER_BYTES, num_threads=1)
        return self._writer

    # ------------------------------------------------------------ reading

    def reload(self) -> bool:
        """See what the writer has committed since; whether there was anything. Cheap if there was not."""
        if self._writable or self._folder is None:
            return False
        state = read_state(self._folder, self._state.generation)
        if state == (self._state if self._index else None):
            return False
        index = open_build(self._folder, state) if state else None
        self._attach(state if state and index else State(self._state.generation), index)
        return True

    def search(
        self,
        query: str | Sequence[QueryTerm],
        filters: LexicalFilter = ANYTHING,
        limit: int = 128,
        pending: Iterable[LexicalDoc] = (),
    ) -> list[tuple[int, float]]:
        """(chunk id, BM25 score) of the best chunks, best first, equal ones by id. A query without terms finds nothing.

        ``pending`` are chunks the index does not hold yet: they are scored by hand, with the index's statistics.

        Raises:
            StoreError: the index turned out to be damaged.
        """
        wanted = query_terms(query) if isinstance(query, str) else query
        if not wanted or limit < 1:
            return []
        fresh = {doc.chunk_id: doc for doc in pending}
        hits = [hit for hit in self._indexed(wanted, filters, limit + len(fresh)) if hit[0] not in fresh]
        matching = [doc for doc in fresh.values() if filters.matches(doc)]
        hits += rank_by_hand(wanted, matching, self._statistics(), EXACT_WEIGHT)
        hits = [(chunk_id, _rounded(score)) for chunk_id, score in hits]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def _indexed(self, wanted: Sequence[QueryTerm], filters: LexicalFilter, limit: int) -> list[tuple[int, float]]:
        """The best ``limit`` hits and all that score like the last of them: who is cut off must not hang on the layout."""
        searcher, size = self._searcher, limit + SPARE
        if searcher is None:
            return []
        with own_errors():
            query = build_query(self._index.schema, wanted, filters)
            hits = searcher.search(query, size, count=False).hits
            while len(hits) == size and _rounded(hits[-1][0]) == _rounded(hits[limit - 1][0]):
                size *= 4
                hits = searcher.search(query, size, count=False).hits
            ids = searcher.fast_field_values("chunk", [address for _, address in hits])
        return [(chunk_id, score) for chunk_id, (score, _) in zip(ids, hits, strict=True)]

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """How much each term tells in this index."""
        statistics = self._statistics()
        return {term: statistics.idf(term) for term in terms}

    def coverage(self, query: str | Sequence[QueryTerm], text: str) -> float:
        """The share, 0 to 1, of a query's idf that a text covers: low for a text that shares only its common words."""
        wanted = query_terms(query) if isinstance(query, str) else query
        return share(self.idf(term.text for term in wanted), text)

    def chunk_ids(self) -> list[int]:
        """All ids in the index, ascending: to compare with the store."""
        return chunk_ids(self._searcher, max(len(self), 1), descending=False) if self._searcher else []

    def damage(self) -> str | None:
        """The file of the index that is not as it was written; None: all are. Reads all of it."""
        if self._folder is None or self._index is None:
            return None
        return damaged_file(self._folder / self._state.build)

    def _statistics(self) -> Statistics:
        searcher = self._searcher
        frequency = (lambda term: int(searcher.doc_freq("body", term))) if searcher else (lambda _: 0)
        return Statistics(len(self), self._state.mean_terms, frequency)


def _rounded(score: float) -> float:
    """A score without the digits that depend on how the index happens to be laid out."""
    return round(score, 4)
