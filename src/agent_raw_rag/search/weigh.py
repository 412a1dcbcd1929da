"""The learned score over words, vectors and turns: what the candidates' features are worth together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_raw_rag.lexical.index import LexicalIndex
from agent_raw_rag.lexical.queries import QueryTerm
from agent_raw_rag.search.asked import asked
from agent_raw_rag.search.learned import Scores, score
from agent_raw_rag.search.pool import Pool, pool_of
from agent_raw_rag.search.ranking import Ranking
from agent_raw_rag.search.weights import WORDS
from agent_raw_rag.store.reader import Reader


@dataclass(frozen=True, slots=True)
class Telling:
    """What an index says of words."""

    idf: Callable[[str], float]
    chunks: int


@dataclass(frozen=True, slots=True)
class Weighed:
    """Candidates with their features and scores, for a stage that knows more."""

    telling: Telling
    pool: Pool | None = None
    """None: nothing is to be learned from words, only from vectors and token states."""
    scores: Scores | None = None


def telling(index: LexicalIndex) -> Telling:
    """What an index says of words, as it is now."""
    return Telling(lambda term: index.idf((term,))[term], len(index))


def weigh(query: str, terms: Sequence[QueryTerm], ranking: Ranking, index: LexicalIndex, reader: Reader) -> Weighed:
    """Score the candidates of a ranking. Changes nothing; ``pool.place`` does."""
    words = telling(index)
    pool = pool_of(ranking, asked(query, terms, words.idf), reader)
    return Weighed(words, pool, score(pool.features, WORDS))
