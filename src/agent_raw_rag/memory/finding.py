"""One question, one list: notes and raw turns together, by one score, which is the one that is shown and cut by.

For clients that know memories of one sort only. A note is in the collection of its topic, a turn in ``conversation``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agent_raw_rag.lexical.queries import STOPWORDS, query_terms
from agent_raw_rag.memory.asked import bounded_limit, checked_query
from agent_raw_rag.memory.base import SpaceStore
from agent_raw_rag.memory.note_index import NoteIndex
from agent_raw_rag.memory.rank import LEAST_LEXICAL, ranked, score_of_turn
from agent_raw_rag.memory.raw_search import RawQuery, Weighed
from agent_raw_rag.memory.results import stamp
from agent_raw_rag.memory.statements import normal, statement_terms
from agent_raw_rag.models import Millis
from agent_raw_rag.store.notes import NoteRow, NoteRows
from agent_raw_rag.store.totals import turn_count

DEFAULT_COLLECTION, CONVERSATION = "memory", "conversation"
"""Of notes without a topic, and of raw turns."""
EVERYTHING = frozenset({"*", "all"})
_LEAST_TURNS = 30
"""Turns that are weighed anew at least: the raw search puts them in another order."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is looked for."""

    query: str
    limit: int = 5
    """Brought to 1 … 100."""
    min_score: float = 0.0
    collections: tuple[str, ...] = ()
    """Empty, or with ``*`` or ``all``: every one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A note or a turn as such a client sees it."""

    id: str
    text: str
    score: float | None
    """From 0 to 1; None: it was not looked for by words."""
    metadata: Mapping[str, Any]
    timestamp: str | None

    def as_json(self) -> dict[str, Any]:
        """JSON values only; ``score`` only where there is one."""
        told = asdict(self)
        if self.score is None:
            del told["score"]
        return told


@dataclass(frozen=True, slots=True)
class Found:
    """The answer. Sizes are of notes that hold and turns."""

    hits: list[Hit]
    search_ms: float
    corpus_size: int
    filtered_size: int
    """How many of them are in the collections that were asked for."""


@dataclass(frozen=True)
class Finding:
    """Notes and raw turns of one space in one list. Safe to use from several threads."""

    store: SpaceStore
    index: NoteIndex
    raw: Callable[[RawQuery], list[Weighed]]
    clock: Callable[[], float] = time.perf_counter

    def __call__(self, ask: Ask) -> Found:
        """What is found, best first.

        Raises:
            BadArgumentError: a query that is no question but a file.
            StoreError: the store cannot be read.
        """
        checked_query(ask.query)
        began = self.clock()
        wanted = _wanted(ask.collections)
        found = [] if not self.store.exists() else [*self._notes(ask, wanted), *self._turns(ask, wanted)]
        found = [one for one in found if one[0] >= ask.min_score]
        found.sort(key=lambda one: (-one[0], -one[1], one[2].id))
        hits = [hit for _, _, hit in found[: bounded_limit(ask.limit)]]
        took = round(1000 * (self.clock() - began), 3)
        return Found(hits, took, *self._sizes(wanted))

    def _notes(self, ask: Ask, wanted: frozenset[str] | None) -> Iterator[tuple[float, Millis, Hit]]:
        now = self.store.now()
        self.index.follow(NoteRows(self.store.read().connection))
        fits = None if wanted is None else lambda note: normal(collection_of(note)) in wanted
        for one in ranked(self.index.matches(ask.query, now, fits), now):
            score, note = round(one.score, 4), one.entry.note
            yield score, note.created, note_as_hit(note, score)

    def _turns(self, ask: Ask, wanted: frozenset[str] | None) -> Iterator[tuple[float, Millis, Hit]]:
        if wanted is not None and CONVERSATION not in wanted:
            return
        asked, now = frozenset(term.text for term in query_terms(ask.query)), self.store.now()
        for one in self.raw(RawQuery(ask.query, max(_LEAST_TURNS, bounded_limit(ask.limit)))):
            if one.share >= LEAST_LEXICAL:
                score = round(score_of_turn(_lexical(one, asked), one.row.time, now), 4)
                yield score, one.row.time or 0, _turn_as_hit(one, score)

    def _sizes(self, wanted: frozenset[str] | None) -> tuple[int, int]:
        if not self.store.exists():
            return 0, 0
        connection = self.store.read().connection
        turns, topics = turn_count(connection), NoteRows(connection).topics()
        inside = {
            topic: n for topic, n in topics.items() if wanted is None or normal(topic or DEFAULT_COLLECTION) in wanted
        }
        spoken = turns if wanted is None or CONVERSATION in wanted else 0
        return turns + sum(topics.values()), spoken + sum(inside.values())


def collection_of(note: NoteRow) -> str:
    """The collection that a note is in."""
    return note.topic or DEFAULT_COLLECTION


def metadata_of(note: NoteRow) -> dict[str, Any]:
    """All that is said of a note under the names that such a client knows, with what its writer said besides."""
    known = {
        "collection": collection_of(note),
        "category": note.metadata.get("category", note.kind),
        "source": note.source,
    }
    return {**note.metadata, **known, **({"tags": list(note.tags)} if note.tags else {})}


def note_as_hit(note: NoteRow, score: float | None = None) -> Hit:
    """A note as such a client sees it."""
    return Hit(note.id, note.statement, score, metadata_of(note), stamp(note.created))


def _turn_as_hit(one: Weighed, score: float) -> Hit:
    event = one.event
    about = {
        "collection": CONVERSATION, "category": CONVERSATION, "source": event.source, "session_id": event.session_id,
        "role": one.row.role.value,
    }  # fmt: skip
    return Hit(event.event_id, event.content, score, about, event.timestamp)


def _lexical(one: Weighed, asked: frozenset[str]) -> float:
    """Of a turn what ``Match.lexical`` is of a note."""
    held = statement_terms(one.text)
    told = sum(len(term) > 1 and term not in STOPWORDS for term in held)
    return (one.share + min(1.0, len(asked & held) / max(1, told))) / 2


def _wanted(collections: Sequence[str]) -> frozenset[str] | None:
    """The normal names of the collections; None: all of them."""
    named = frozenset(normal(one) for one in collections)
    return None if not named or named & EVERYTHING else named
