"""A toy reranker that needs no model: the share of the query's words in a passage. For tests; never chosen by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

_words = re.compile(r"[a-z0-9]+|[^\Wa-z0-9_]").findall


class OverlapReranker:
    """A ``Reranker``: deterministic on every machine, without memory or files."""

    @property
    def name(self) -> str:
        """What it does."""
        return "word overlap"

    @property
    def is_probability(self) -> bool:
        """It is: a word of the query, chosen at random, is in the passage."""
        return True

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """0 to 1 for each passage; 0 for a query without words."""
        wanted = set(_words(query.casefold()))
        return [
            len(wanted.intersection(_words(passage.casefold()))) / len(wanted) if wanted else 0.0
            for passage in passages
        ]
