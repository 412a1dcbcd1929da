"""Bringing the lexical index in line with the store: what is new goes in, what was deleted goes out."""

from __future__ import annotations

from agent_raw_rag.derived import lexical_doc, lexical_folder
from agent_raw_rag.lexical.index import LexicalIndex
from agent_raw_rag.store.reader import Reader

SLICE = 5000
"""Chunks that are added between two commits."""


def feed_lexical(reader: Reader, home: str, least: int = 1) -> int:
    """Add the chunks that the index lacks and remove the ones that are gone, if there are at least ``least`` of either.

    A commit costs 15 ms and more; a search scores the few chunks that wait for one by hand. Returns the number added.
    """
    known = LexicalIndex.open(lexical_folder(home), reader.generation)
    if reader.count_after(known.high_water, known.dropped, least) < least:
        return 0
    index = LexicalIndex.open(lexical_folder(home), reader.generation, writable=True)
    try:
        return _feed(reader, index)
    finally:
        index.close()


def _feed(reader: Reader, index: LexicalIndex) -> int:
    last = reader.last_chunk()  # what others capture from now on waits for the next time: they may never pause
    dropped = reader.dropped_after(index.dropped)
    stamp = dropped[-1][0] if dropped else index.dropped
    added = 0
    while True:
        docs = [lexical_doc(facts) for facts in reader.chunks_after(index.high_water, SLICE)]
        if not docs and not dropped:
            return added
        index.add(docs)
        index.remove(chunk_id for _, chunk_id in dropped)
        index.commit(docs[-1].chunk_id if docs else index.high_water, stamp)
        added, dropped = added + len(docs), []
        if index.high_water >= last:
            return added
