"""Recall: a question -> the notes that answer it, rules first, and raw turns after them where these are asked for.

Words -> weights -> (reranker) -> no near-duplicates -> limit -> budget -> rendered. A stage that cannot be run leaves the order
of the stage before, and is named in ``degraded``.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol, runtime_checkable

from agent_raw_rag.errors import BadArgumentError, RawRagError
from agent_raw_rag.lexical.queries import query_terms
from agent_raw_rag.memory.asked import bounded_limit, checked_query
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.fit import fitted
from agent_raw_rag.memory.note_index import NoteIndex
from agent_raw_rag.memory.rank import Ranked, ranked, without_near_duplicates
from agent_raw_rag.memory.render import rendered
from agent_raw_rag.memory.results import Event, Memory, RawFound, Recalled, recalled_event, stamp
from agent_raw_rag.memory.statements import KINDS, RULE, normal
from agent_raw_rag.store.notes import NoteRow, NoteRows

MOST_RERANKED = 32


@runtime_checkable
class Scorer(Protocol):
    """What a reranker is here."""

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score a passage, higher is better. Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class RecallAsk:
    """What is to be recalled."""

    query: str
    limit: int = 5
    """Brought to 1 … 100."""
    include_raw: bool = False
    """Raw turns after the notes, if the limit has room for any."""
    topic: str | None = None
    kind: str | None = None
    exclude_session: str | None = None
    """A session whose raw turns are left out: the caller's own."""


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """How recall is done."""

    near_duplicate: float = 0.85
    """Share of common terms from which two notes say all but the same."""
    budget_tokens: int = 1500
    """Of all recalled texts together."""


def no_raw(query: str, limit: int, exclude_session: str | None) -> RawFound:
    """The raw search of a store without raw turns."""
    return RawFound([])


@dataclass(frozen=True)
class Recall:
    """Recall over the notes of one space."""

    store: SpaceStore
    options: RecallOptions = RecallOptions()
    raw: Callable[[str, int, str | None], RawFound] = no_raw
    """(query, limit, session to leave out) -> raw turns, best first."""
    count: Callable[[str], int] = lambda text: len(text.encode())
    """Text -> tokens."""
    reranker: Callable[[], Scorer | None] = lambda: None
    mark: Callable[[], str] = lambda: secrets.token_hex(5)
    """A new fence for each answer: what is quoted cannot know it."""
    index: NoteIndex = field(default_factory=NoteIndex)

    def __call__(self, ask: RecallAsk) -> Recalled:
        """What the space knows of a question. Nothing to look for, or nothing found: empty.

        Raises:
            BadArgumentError: an unknown kind, or a query that is no question but a file.
            StoreError: the store cannot be read.
        """
        _check(ask)
        limit, degraded = bounded_limit(ask.limit), list[str]()
        notes = [_atom(one) for one in self._notes(ask, limit, degraded)]
        raw = [recalled_event(one) for one in self._raw(ask, limit - len(notes), degraded)]
        shown, left_out = fitted([*notes, *raw], self.options.budget_tokens, self.count)
        return Recalled(shown, rendered(shown, self.mark(), left_out=left_out), degraded, left_out)

    def _notes(self, ask: RecallAsk, limit: int, degraded: list[str]) -> list[Ranked]:
        if not self.store.exists():
            return []
        now = self.store.now()
        self.index.follow(NoteRows(self.store.read().connection))
        matches = self.index.matches(ask.query, now, _fits(ask))
        order = self._reranked(ask.query, ranked(matches, now), degraded)
        asked = frozenset(term.text for term in query_terms(ask.query))
        return without_near_duplicates(order, asked, self.options.near_duplicate, limit)

    def _reranked(self, query: str, order: list[Ranked], degraded: list[str]) -> list[Ranked]:
        """The best of the rules, and the best of the others, in the order that a reranker gives them."""
        try:
            scorer = self.reranker()
            return (
                order if scorer is None else [one for group in _groups(order) for one in _scored(scorer, query, group)]
            )
        except RawRagError:
            degraded.append("rerank")
            return order

    def _raw(self, ask: RecallAsk, room: int, degraded: list[str]) -> list[Event]:
        if not ask.include_raw or room < 1 or not ask.query.strip():
            return []
        try:
            return self.raw(ask.query, room, ask.exclude_session).events[:room]
        except BadArgumentError:
            raise
        except RawRagError:
            degraded.append("raw")
            return []


def _check(ask: RecallAsk) -> None:
    checked_query(ask.query)
    if ask.kind is not None and ask.kind not in KINDS:
        raise BadArgumentError(f"There is no kind {ask.kind[:80]!r}.", hint=f"The kinds are: {', '.join(KINDS)}.")


def _fits(ask: RecallAsk) -> Callable[[NoteRow], bool] | None:
    """Whether a note is of the kind and topic that are asked for; None: any is."""
    if ask.kind is None and ask.topic is None:
        return None
    topic = None if ask.topic is None else normal(ask.topic)

    def fits(note: NoteRow) -> bool:
        alike = topic is None or (note.topic is not None and normal(note.topic) == topic)
        return alike and ask.kind in (None, note.kind)

    return fits


def _groups(order: list[Ranked]) -> list[list[Ranked]]:
    return [list(group) for _, group in groupby(order, key=lambda one: one.entry.note.kind == RULE)]


def _scored(scorer: Scorer, query: str, group: list[Ranked]) -> list[Ranked]:
    head = group[:MOST_RERANKED]
    scores = scorer.score(query, [one.entry.note.statement for one in head])
    best = sorted(zip(head, scores, strict=True), key=lambda pair: -pair[1])
    return [*(one for one, _ in best), *group[MOST_RERANKED:]]


def _atom(one: Ranked) -> Memory:
    note: NoteRow = one.entry.note
    return Memory(
        source_id=note.id, timestamp=stamp(note.created), layer="atom", kind=note.kind, text=note.statement,
        topic=note.topic, source=note.source, author=note.author, score=round(one.score, 4),
        evidence=list(note.evidence), tags=list(note.tags),
    )  # fmt: skip
