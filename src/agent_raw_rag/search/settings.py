"""What ranking asks of the settings: the reading side of ``[search]``, so that this layer need not know how they are read."""

from __future__ import annotations

from typing import Protocol


class FunnelSettings(Protocol):
    """The ``[search]`` section. What each key means stands in ``config.py`` and docs/reference/config.md."""

    @property
    def candidates(self) -> int:
        """Chunks that the coarse ranking keeps."""
        ...

    @property
    def dense_weight(self) -> float:
        """Share of the dense score."""
        ...

    @property
    def lexical(self) -> bool:
        """Rank by words."""
        ...

    @property
    def dense(self) -> bool:
        """Rank by vectors."""
        ...

    @property
    def exact(self) -> bool:
        """Identifiers, error texts and quoted phrases weigh more."""
        ...

    @property
    def learned(self) -> bool:
        """Rank by the learned score."""
        ...

    @property
    def neighbours(self) -> bool:
        """Adjacent windows help."""
        ...

    @property
    def time_words(self) -> bool:
        """Times that a query names are preferred."""
        ...

    @property
    def recency(self) -> bool:
        """Newer first among equals."""
        ...

    @property
    def near_duplicates(self) -> bool:
        """Fold what is all but the same."""
        ...

    @property
    def rerank_budget_ms(self) -> int:
        """Time for reranking; 0: none."""
        ...

    @property
    def rerank_threshold(self) -> float:
        """Least probability."""
        ...

    @property
    def rerank_fallback(self) -> int:
        """Hits that stay when all are below it."""
        ...

    @property
    def time_order(self) -> bool:
        """Oldest first."""
        ...

    @property
    def whole_turns(self) -> bool:
        """Expand to turns."""
        ...

    @property
    def once(self) -> bool:
        """Each turn once."""
        ...


SWITCHES = ("lexical", "dense", "learned", "exact", "time_words", "recency", "near_duplicates")
"""The keys that turn off what is on unless somebody says so. An answer names those that are off."""
