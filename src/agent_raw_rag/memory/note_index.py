"""The active notes of one space in memory, by their words. Derived: it follows the store's changes of notes.

Ranking takes no lock: lists only grow while they are read, a note that went leaves an empty slot, and a rebuilt index takes the
place of the old one whole.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest

from agent_raw_rag.lexical.queries import STOPWORDS, query_terms
from agent_raw_rag.memory.statements import RULE, statement_terms
from agent_raw_rag.models import Millis
from agent_raw_rag.store.notes import ACTIVE, NoteRow, NoteRows

LEAST_NOTES = 100
"""A store of fewer counts as one of so many: in a store of three notes no word is rare."""
MOST_VISITED = 10_000
"""Places of terms that are looked at for a query, the rare terms' first: what bounds the time of a long one."""

MOST_MATCHES = 150
"""Of the rules, and of the rest."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A note with its terms."""

    note: NoteRow
    terms: frozenset[str]
    told: int
    """How many of its terms a query would ask for: stopwords and single characters left out."""


@dataclass(frozen=True, slots=True)
class Match:
    """A note that shares terms with a query."""

    entry: Entry
    lexical: float
    """From 0 to 1: how much of the query, by the terms' rarity, the note holds, and how much of the note was asked for."""


@dataclass
class _Words:
    entries: list[Entry | None] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=dict)
    """Note id -> its slot."""
    rules: set[int] = field(default_factory=set)
    """The slots of rules, which are looked for apart: no number of other notes may crowd one out."""
    expiring: dict[int, Millis] = field(default_factory=dict)
    """Slot -> when its note expires, of those that do."""
    empty: set[int] = field(default_factory=set)
    """The slots of notes that went."""
    postings: dict[str, list[int]] = field(default_factory=dict)

    def put(self, entry: Entry) -> None:
        slot, before = len(self.entries), self.place.get(entry.note.id)
        self.entries.append(entry)  # before any posting names it
        self.place[entry.note.id] = slot
        if entry.note.kind == RULE:
            self.rules.add(slot)
        if entry.note.expires is not None:
            self.expiring[slot] = entry.note.expires
        for term in entry.terms:
            self.postings.setdefault(term, []).append(slot)
        if before is not None:
            self._vacate(before)

    def drop(self, note: str) -> None:
        slot = self.place.pop(note, None)
        if slot is not None:
            self._vacate(slot)

    def gone(self, now: Millis) -> set[int]:
        """The slots of notes that hold no longer."""
        expiring = list(self.expiring.items())  # at once: it may grow meanwhile
        return self.empty.union(slot for slot, expires in expiring if expires <= now)

    def _vacate(self, slot: int) -> None:
        self.empty.add(slot)
        self.entries[slot] = None


class NoteIndex:
    """Query terms -> notes. Safe to use from several threads."""

    def __init__(self) -> None:
        self._words = _Words()
        self._store: tuple[str, int] | None = None
        self._sequence = 0
        self._following = threading.Lock()

    def follow(self, rows: NoteRows) -> None:
        """Take in what changed in the store."""
        if (rows.store_id(), rows.sequence()) == (self._store, self._sequence):
            return
        with self._following:
            store, sequence = rows.store_id(), rows.sequence()
            if store != self._store or sequence < self._sequence or self._is_worn():
                self._rebuild(rows)
            else:
                self._catch_up(rows)
            self._store, self._sequence = store, sequence

    def matches(self, query: str, now: Millis, fits: Callable[[NoteRow], bool] | None = None) -> list[Match]:
        """The notes that share terms with a query, in no order: of rules, and of other notes, those with the weightiest ones.
        Empty too if the query holds nothing to look for.

        Args:
            now: What has expired by then is left out.
            fits: Whether a note is asked for at all; None: any is.
        """
        words = self._words
        asked = {term.text: self._rarity(words, term.text) for term in query_terms(query)}
        held, shared = _held(words, asked)
        there = held.keys() - words.gone(now)
        if fits is not None:
            there = {slot for slot in there if (entry := words.entries[slot]) is not None and fits(entry.note)}
        rules = there & words.rules
        best = [slot for group in (rules, there - rules) for slot in nlargest(MOST_MATCHES, group, held.__getitem__)]
        whole = sum(asked.values())
        return [
            Match(entry, (held[slot] / whole + min(1.0, shared[slot] / max(1, entry.told))) / 2)
            for slot in best
            if (entry := words.entries[slot]) is not None
        ]

    def _rarity(self, words: _Words, term: str) -> float:
        total, having = max(LEAST_NOTES, len(words.place)), len(words.postings.get(term, ()))
        return math.log(1 + (max(total, having) - having + 0.5) / (having + 0.5))

    def _is_worn(self) -> bool:
        slots, live = len(self._words.entries), len(self._words.place)
        return slots > 1000 and slots > 2 * live

    def _rebuild(self, rows: NoteRows) -> None:
        made = _Words()
        for row in rows.active():
            made.put(_entry(row))
        self._words = made

    def _catch_up(self, rows: NoteRows) -> None:
        changed = rows.changed_after(self._sequence)
        active = [row for row in rows.of_ids(changed) if row.status == ACTIVE]
        for row in active:
            self._words.put(_entry(row))
        for note in set(changed).difference(row.id for row in active):
            self._words.drop(note)


def _entry(row: NoteRow) -> Entry:
    own = statement_terms(row.statement)
    topic = statement_terms(row.topic) if row.topic else frozenset()
    return Entry(row, own | topic, sum(len(term) > 1 and term not in STOPWORDS for term in own))


def _held(words: _Words, asked: dict[str, float]) -> tuple[dict[int, float], Counter[int]]:
    """(slot -> the weight of the asked terms that it holds, slot -> their number)."""
    held: dict[int, float] = {}
    shared: Counter[int] = Counter()
    visited = 0
    for term, weight in sorted(asked.items(), key=lambda pair: -pair[1]):
        slots: Sequence[int] = words.postings.get(term, ())
        if visited and visited + len(slots) > MOST_VISITED:
            break
        visited += len(slots)
        for slot in slots:
            held[slot] = held.get(slot, 0.0) + weight
        shared.update(slots)
    return held, shared
