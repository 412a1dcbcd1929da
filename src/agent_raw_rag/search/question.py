"""Query text -> what the stages look for. Pure: now is an argument."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agent_raw_rag.lexical.queries import QueryTerm, query_terms
from agent_raw_rag.lexical.terms import is_dense
from agent_raw_rag.search.phrases import phrases_of
from agent_raw_rag.search.settings import FunnelSettings
from agent_raw_rag.search.time_words import Stretch, times_in


@dataclass(frozen=True, slots=True)
class Question:
    """A query as it was read."""

    text: str
    """Without the times that are said from the day of the question, unless nothing else is left."""
    terms: list[QueryTerm]
    phrases: tuple[str, ...] = ()
    """What a hit should hold to the letter."""
    times: tuple[Stretch, ...] = ()
    """What it should have been said in."""

    @property
    def has_words(self) -> bool:
        """Whether at least half of the terms are words of an alphabet. A query without terms counts as one."""
        return 2 * sum(is_dense(term.text) is not None for term in self.terms) <= len(self.terms)


def question(query: str, settings: FunnelSettings, now: datetime) -> Question:
    """A query as the settings let it be read. ``now`` carries the user's zone."""
    times, rest = times_in(query, now) if settings.time_words else ((), query)
    text = rest if query_terms(rest) else query
    terms = query_terms(text)
    if settings.exact:
        return Question(text, terms, phrases_of(query), times)
    return Question(text, _plain(terms), (), times)


def _plain(terms: Sequence[QueryTerm]) -> list[QueryTerm]:
    return [replace(term, exact=False) for term in terms]
