"""Phrases: candidates that hold a quoted phrase or an error text of the query to the letter. Pure.

The index has no positions (they would double its size), so what the words found is read once more.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from agent_raw_rag.lexical.pasted import error_texts
from agent_raw_rag.lexical.queries import quoted
from agent_raw_rag.search.ranking import Ranking

PHRASE_BONUS = 0.3
"""For all phrases of the query: enough to pass a window that has the same words in another order, whatever its vector says."""
LEAST_CHARS = 2
MOST_PHRASES = 8


def phrases_of(query: str) -> tuple[str, ...]:
    """The phrases of a query, folded, the first ones if there are many."""
    found = (fold_space(phrase) for phrase in (*quoted(query), *error_texts(query)))
    return tuple(dict.fromkeys(phrase for phrase in found if len(phrase) >= LEAST_CHARS))[:MOST_PHRASES]


def heed_phrases(phrases: Sequence[str], ranking: Ranking) -> None:
    """Lift each candidate by the share of the phrases that it holds."""
    if not phrases:
        return

    def bonus(chunk_id: int) -> float:
        return PHRASE_BONUS * _held(phrases, ranking.chunks[chunk_id].text) / len(phrases)

    ranking.lift("phrase", bonus, PHRASE_BONUS)


def fold_space(text: str) -> str:
    """Case, width and blanks taken off: a phrase is the same wherever a line is broken."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _held(phrases: Iterable[str], text: str) -> int:
    folded = fold_space(text)
    return sum(phrase in folded for phrase in phrases)
