"""BM25 by hand, with the statistics of an index: for chunks that are not in it yet, and for what share of a query a text answers.

Same formula and constants as tantivy's (Robertson and Zaragoza 2009; k1 1.2, b 0.75), so the scores go into one list.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent_raw_rag.lexical.documents import LexicalDoc
from agent_raw_rag.lexical.queries import QueryTerm
from agent_raw_rag.lexical.terms import terms

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of a collection."""

    docs: int
    mean_terms: float
    frequency: Callable[[str], int]
    """In how many documents a term is."""

    def idf(self, term: str) -> float:
        """How much a term tells; above 0."""
        docs = max(self.docs, 1)
        having = min(self.frequency(term), docs)
        return math.log(1 + (docs - having + 0.5) / (having + 0.5))


def rank_by_hand(
    wanted: Sequence[QueryTerm], docs: Iterable[LexicalDoc], statistics: Statistics, exact_weight: float
) -> list[tuple[int, float]]:
    """(chunk id, score) of the documents that hold a wanted term, in no order. The documents count in the statistics."""
    counted = [(doc.chunk_id, Counter(terms(doc.text))) for doc in docs]
    every = Statistics(
        statistics.docs + len(counted),
        statistics.mean_terms if statistics.docs else sum(c.total() for _, c in counted) / max(len(counted), 1),
        lambda term: statistics.frequency(term) + sum(term in counts for _, counts in counted),
    )
    weights = {term.text: every.idf(term.text) * (exact_weight if term.exact else 1.0) for term in wanted}
    scores = ((chunk_id, _score(counts, weights, every.mean_terms)) for chunk_id, counts in counted)
    return [pair for pair in scores if pair[1] > 0]


def _score(counts: Counter[str], weights: Mapping[str, float], mean_terms: float) -> float:
    norm = K1 * (1 - B + B * counts.total() / max(mean_terms, 1.0))
    return sum(weight * (K1 + 1) * counts[term] / (counts[term] + norm) for term, weight in weights.items())


def share(weights: Mapping[str, float], text: str) -> float:
    """The share, 0 to 1, of the terms' weight that a text covers; 0 if there is none."""
    have = set(terms(text))
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in have) / total if total else 0.0
