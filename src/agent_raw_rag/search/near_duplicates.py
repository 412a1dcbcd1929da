"""Near-duplicates: windows that say the same in all but a few words are folded into the best of them. Pure.

The same prompt is pasted into several sessions, the same log into several prompts. Two windows count as the same if nine tenths
of their words are; not if they differ in a number, or if the worse one holds a word of the query that the better one lacks: that
may be what is asked for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.store.rows import ChunkRow

LEAST_SHARED = 0.9
"""Of the words of both (Jaccard)."""
MOST_COMPARED = 128


@dataclass(frozen=True, slots=True)
class _Bag:
    chunk: ChunkRow
    words: frozenset[str]
    numbers: frozenset[str]


def fold_near_duplicates(asked: Collection[str], ranking: Ranking) -> None:
    """Take out the candidates that repeat a better one, and note them there. ``asked``: the query's terms."""
    bags = {chunk_id: _bag(ranking.chunks[chunk_id]) for chunk_id, _ in ranking.order[:MOST_COMPARED]}
    kept: dict[int, list[int]] = {}
    gone: set[int] = set()
    for chunk_id, others in _alike(bags):
        same = (other for other in others if other not in gone and _repeats(bags[chunk_id], bags[other], asked))
        best = next(same, None)
        if best is not None:
            gone.add(chunk_id)
            kept.setdefault(best, []).append(chunk_id)
    if gone:
        ranking.folded = kept
        ranking.reorder("near-duplicates", [pair for pair in ranking.order if pair[0] not in gone])
        ranking.stages.append(f"near-duplicates: {len(gone)} folded")


def _bag(chunk: ChunkRow) -> _Bag:
    words = frozenset(chunk.text.casefold().split())
    return _Bag(chunk, words, frozenset(word for word in words if any(char.isdigit() for char in word)))


def _alike(bags: dict[int, _Bag]) -> Iterator[tuple[int, list[int]]]:
    """Each candidate with the better ones that may say the same.

    Two sets that share nine tenths share one of their rarest words, if a tenth and one more of each are looked at (prefix
    filtering, Chaudhuri et al. 2006): so of thousands of pairs, few are compared.
    """
    frequency = Counter(word for bag in bags.values() for word in bag.words)
    having: defaultdict[str, list[int]] = defaultdict(list)
    for chunk_id, bag in bags.items():
        rarest = sorted(bag.words, key=lambda word: (frequency[word], word))
        prefix = rarest[: int(len(rarest) * (1 - LEAST_SHARED)) + 2]  # one more than the theorem: floats
        places = {other: None for word in prefix for other in having[word]}
        yield chunk_id, [other for other in bags if other in places] if places else []
        for word in prefix:
            having[word].append(chunk_id)


def _repeats(worse: _Bag, better: _Bag, asked: Collection[str]) -> bool:
    if _overlap(worse.chunk, better.chunk):
        return False
    shared = len(worse.words & better.words)
    if not worse.words or shared < LEAST_SHARED * (len(worse.words) + len(better.words) - shared):
        return False
    return worse.numbers == better.numbers and not set(asked) & set(terms(" ".join(worse.words - better.words)))


def _overlap(one: ChunkRow, other: ChunkRow) -> bool:
    """Two windows over the same stretch of a session: each goes on where the other ends."""
    same = one.session_id == other.session_id
    return same and one.start_token < other.end_token and other.start_token < one.end_token
