"""Near-duplicates: windows that say the same in all but a few words are folded into the best of them. Pure.

The same prompt is pasted into several sessions, the same log into several prompts. Two windows count as the same if nine tenths
of their words are; not if they differ in a number, or if the worse one holds a word of the query that the better one lacks: that
may be what is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain

from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.store.rows import ChunkRow

LEAST_SHARED = 0.9
"""Of the words of both (Jaccard)."""
MOST_COMPARED = 64
"""Candidates: several answers deep, and what stands behind them is not read."""


@dataclass(frozen=True, slots=True)
class _Bag:
    chunk: ChunkRow
    words: frozenset[str]


def fold_near_duplicates(asked: Collection[str], ranking: Ranking) -> None:
    """Take out the candidates that repeat a better one, and note them there. ``asked``: the query's terms."""
    kept: list[_Bag] = []
    folded: dict[int, list[int]] = {}
    for bag in _shared([_bag(ranking.chunks[chunk_id]) for chunk_id, _ in ranking.order[:MOST_COMPARED]]):
        best = next((other for other in kept if _repeats(bag, other, asked)), None)
        if best is None:
            kept.append(bag)
        else:
            folded.setdefault(best.chunk.id, []).append(bag.chunk.id)
    gone = {chunk_id for ids in folded.values() for chunk_id in ids}
    if gone:
        ranking.folded = folded
        ranking.reorder("near-duplicates", [pair for pair in ranking.order if pair[0] not in gone])
        ranking.stages.append(f"near-duplicates: {len(gone)} folded")


def _bag(chunk: ChunkRow) -> _Bag:
    return _Bag(chunk, frozenset(chunk.text.casefold().split()))


def _shared(bags: list[_Bag]) -> list[_Bag]:
    """Those that may repeat another: one that has more than a tenth of its words for itself alone repeats nothing, which leaves
    a few of a hundred to be compared."""
    having = Counter(chain.from_iterable(bag.words for bag in bags))
    alone = {word for word, count in having.items() if count == 1}
    return [bag for bag in bags if len(bag.words & alone) <= (1 - LEAST_SHARED) * len(bag.words) + 1]


def _repeats(worse: _Bag, better: _Bag, asked: Collection[str]) -> bool:
    if _overlap(worse.chunk, better.chunk):
        return False
    shared = len(worse.words & better.words)
    if not worse.words or shared < LEAST_SHARED * (len(worse.words) + len(better.words) - shared):
        return False
    if any(char.isdigit() for word in worse.words ^ better.words for char in word):
        return False
    return not set(asked).intersection(terms(" ".join(worse.words - better.words)))


def _overlap(one: ChunkRow, other: ChunkRow) -> bool:
    """Two windows over the same stretch of a session: each goes on where the other ends."""
    same = one.session_id == other.session_id
    return same and one.start_token < other.end_token and other.start_token < one.end_token
