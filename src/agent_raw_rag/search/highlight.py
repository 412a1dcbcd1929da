"""Query -> the words and phrases of it that are worth marking in what was found. Pure."""

from __future__ import annotations

import unicodedata

from agent_raw_rag.lexical.queries import DENSE_STOPWORDS, STOPWORDS, quoted
from agent_raw_rag.lexical.terms import bigrams, fold, is_dense, word_terms, words

MOST = 32
LEAST_CHARS = 2
LEAST_STEM = 3
"""A shorter one stands in half of all words."""


def highlights(query: str) -> list[str]:
    """What a reader would look for, longest first, each once whatever its case: quoted phrases and words as they were written,
    the stems under which the index has them, the parts of identifiers, and pairs of characters of unspaced scripts."""
    plain = unicodedata.normalize("NFKC", query)
    found: dict[str, str] = {}
    for one in (*(phrase.strip() for phrase in quoted(plain)), *_words(plain)):
        if len(one) >= LEAST_CHARS or is_dense(one):
            found.setdefault(one.casefold(), one)
    kept = list(found.values())[:MOST]
    return sorted(kept, key=lambda one: -len(one))


def _words(text: str) -> list[str]:
    told: list[str] = []
    for word in words(text):
        if is_dense(word):
            told += [word, *(pair for pair in bigrams(word) if pair not in DENSE_STOPWORDS)]
        elif fold(word) not in STOPWORDS:
            told += [word, *(term for term in word_terms(word) if len(term) >= LEAST_STEM)]
    return told
