"""Query -> what the features compare a text with. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent_raw_rag.lexical.queries import STOPWORDS, QueryTerm
from agent_raw_rag.lexical.terms import fold, word_terms

EXACT_WEIGHT = 2.0
"""How much more than a word an identifier or a quoted term weighs, as in the index."""
_ASKS_WHEN = frozenset(("when", "date", "day", "month", "year", "time", "long"))
_ASKS_NUMBER = frozenset(("many", "much", "old", "long", "number", "count", "often", "big"))
_names = re.compile(r"[A-Za-z0-9]+").findall


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as the features see it."""

    weights: dict[str, float]
    """Term -> idf, times ``EXACT_WEIGHT`` where it is to be met to the letter."""
    pairs: frozenset[tuple[str, str]]
    """Telling words that stand side by side, as terms."""
    words: frozenset[str]
    """All its words of Latin letters and digits, in lower case."""

    @property
    def when(self) -> bool:
        """Whether it asks for a time."""
        return not self.words.isdisjoint(_ASKS_WHEN)

    @property
    def number(self) -> bool:
        """Whether it asks for a number."""
        return not self.words.isdisjoint(_ASKS_NUMBER)


def asked(query: str, terms: Sequence[QueryTerm], idf: Callable[[str], float]) -> Asked:
    """What a query asks for. ``terms`` are its ``query_terms``; ``idf`` says how much each tells in the index."""
    told = [found[-1] for word in _names(query) if fold(word) not in STOPWORDS and (found := word_terms(word))]
    return Asked(
        {term.text: idf(term.text) * (EXACT_WEIGHT if term.exact else 1.0) for term in terms},
        frozenset(pairwise(told)),
        names_in(query),
    )


def names_in(text: str) -> frozenset[str]:
    """The words of Latin letters and digits in a text, in lower case."""
    return frozenset(word.lower() for word in _names(text))
