"""The order of what is recalled: rules first, and among equals by words, importance, confidence, age and kind. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

from agent_raw_rag.memory.note_index import Entry, Match
from agent_raw_rag.memory.statements import nearly_same
from agent_raw_rag.models import Millis

RULE = "rule"
LEAST_LEXICAL = 0.1
"""Less of a query and a note in common is chance: one word of ten on both sides."""
MOST_WEIGHED = 200
"""Of the rules, and of the rest: those with the most words in common are weighed."""
MOST_COMPARED = 64
"""Notes that are looked at for near-duplicates."""
HALF_LIFE_MS = 30 * 24 * 3600 * 1000
"""A note of this age counts half as new."""
SHARES = {"lexical": 0.40, "importance": 0.20, "confidence": 0.15, "recency": 0.15, "kind": 0.10}
IMPORTANCES = {"high": 1.0, "medium": 0.6, "low": 0.2}
KIND_WEIGHTS = {RULE: 1.0, "decision": 0.9, "preference": 0.9, "lesson": 0.8, "fact": 0.8, "task": 0.6}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A note in its place."""

    entry: Entry
    score: float
    """From 0 to 1."""


def ranked(matches: Sequence[Match], now: Millis) -> list[Ranked]:
    """The matches that count, best first, all rules before everything else."""
    told = [one for one in matches if one.lexical >= LEAST_LEXICAL]
    rules = [one for one in told if one.entry.note.kind == RULE]
    others = [one for one in told if one.entry.note.kind != RULE]
    return [*_weighed(rules, now), *_weighed(others, now)]


def without_near_duplicates(order: Sequence[Ranked], asked: frozenset[str], least: float) -> list[Ranked]:
    """The order without the notes that say all but the same as a better one, unless they hold a word of the query that the
    better one lacks. ``asked``: the query's terms; ``least``: the share of common terms (Jaccard)."""
    kept: list[Ranked] = []
    for one in order[:MOST_COMPARED]:
        if not any(_repeats(one.entry, other.entry, asked, least) for other in kept):
            kept.append(one)
    return [*kept, *order[MOST_COMPARED:]]


def _weighed(matches: Sequence[Match], now: Millis) -> list[Ranked]:
    best = nlargest(MOST_WEIGHED, matches, key=lambda one: one.lexical)
    found = [Ranked(one.entry, _score(one, now)) for one in best]
    return sorted(found, key=lambda one: (-one.score, -one.entry.note.created, one.entry.note.id))


def _score(match: Match, now: Millis) -> float:
    note = match.entry.note
    age = max(0, now - note.created)
    parts = {
        "lexical": match.lexical,
        "importance": IMPORTANCES.get(note.importance, IMPORTANCES["medium"]),
        "confidence": min(1.0, max(0.0, note.confidence)),
        "recency": math.exp2(-age / HALF_LIFE_MS),
        "kind": KIND_WEIGHTS.get(note.kind, KIND_WEIGHTS["fact"]),
    }
    return sum(SHARES[name] * value for name, value in parts.items())


def _repeats(worse: Entry, better: Entry, asked: frozenset[str], least: float) -> bool:
    if asked & (worse.terms - better.terms):
        return False
    return nearly_same(worse.terms, better.terms, least)
