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

    pool: Pool
    scores: Scores
    telling: Telling


def weigh(query: str, terms: Sequence[QueryTerm], ranking: Ranking, index: LexicalIndex, reader: Reader) -> Weighed:
    """Score the candidates of a ranking. Changes nothing; ``pool.place`` does."""
    telling = Telling(lambda term: index.idf((term,))[term], len(index))
    pool = pool_of(ranking, asked(query, terms, telling.idf), reader)
    return Weighed(pool, score(pool.features, WORDS), telling)
