"""Query text -> what the stages look for. Pure: now is an argument."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agent_raw_rag.lexical.queries import QueryTerm, query_terms
from agent_raw_rag.lexical.terms import is_dense
from agent_raw_rag.search.phrases import phrases_of
from agent_raw_rag.search.settings import FunnelSettings
from agent_raw_rag.search.time_words import Stretch, times_in, without
from agent_raw_rag.store.rows import ChunkRow

MOST_CHARS = 20_000
"""Of a query; of a longer one the middle is left out: a pasted log says what went wrong at its end."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query as it was read."""

    text: str
    """Without the times that are said from the day of the question, unless nothing else is left."""
    terms: list[QueryTerm]
    telling: list[QueryTerm]
    """The terms that a relevant hit holds some of: without any time."""
    phrases: tuple[str, ...] = ()
    """What a hit should hold to the letter."""
    times: tuple[Stretch, ...] = ()
    """What it should have been said in."""
    silent: tuple[Stretch, ...] = ()
    """Times that were named and nothing was said in: their words are words like any other."""

    def in_time(self, chunk: ChunkRow) -> bool:
        """Whether a chunk was said in one of the times."""
        return any(time.touches(chunk) for time in self.times)

    @property
    def has_words(self) -> bool:
        """Whether at least half of the terms are words of an alphabet. A query without terms counts as one."""
        return 2 * sum(is_dense(term.text) is not None for term in self.terms) <= len(self.terms)


def question(query: str, settings: FunnelSettings, now: datetime, was_said_in: Callable[[Stretch], bool]) -> Question:
    """A query as the settings let it be read.

    Args:
        query: As it was asked.
        settings: What is switched on.
        now: The day of the question, in the user's zone.
        was_said_in: Whether there is anything from a stretch of time.
    """
    query = ends(query)
    named = times_in(query, now) if settings.time_words else []
    heard = [one for one in named if was_said_in(one.stretch)]
    rest = without(query, [one.place for one in heard if one.is_relative])
    text = rest if query_terms(rest) else query
    terms = query_terms(text)
    return Question(
        text,
        terms if settings.exact else _plain(terms),
        query_terms(without(query, [one.place for one in named])) or terms,
        phrases_of(query) if settings.exact else (),
        tuple(one.stretch for one in heard),
        tuple(one.stretch for one in named if one not in heard),
    )


def _plain(terms: Sequence[QueryTerm]) -> list[QueryTerm]:
    return [replace(term, exact=False) for term in terms]


def ends(query: str) -> str:
    """Head and tail of a query longer than ``MOST_CHARS``, as it is or as it is compared: one sign may stand for eighteen."""
    cut = _cut(query)
    wide = unicodedata.normalize("NFKC", cut)
    return cut if len(wide) <= MOST_CHARS else _cut(wide)


def _cut(query: str) -> str:
    half = MOST_CHARS // 2
    return query if len(query) <= MOST_CHARS else f"{query[:half]}\n{query[-half:]}"
