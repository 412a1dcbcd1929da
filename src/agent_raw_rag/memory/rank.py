"""The order of what is recalled: rules first, and among equals by words, importance, confidence, age and kind. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agent_raw_rag.memory.note_index import Entry, Match
from agent_raw_rag.memory.statements import RULE, nearly_same
from agent_raw_rag.models import Millis

LEAST_LEXICAL = 0.1
"""Less of a query and a note in common is chance: one word of ten on both sides."""
MOST_COMPARED = 64
"""Notes in the answer that another one is compared with."""
HALF_LIFE_MS = 30 * 24 * 3600 * 1000
"""A note of this age counts half as new."""
LEXICAL, IMPORTANCE, CONFIDENCE, RECENCY, KIND = 0.40, 0.20, 0.15, 0.15, 0.10
"""Shares of a score."""
IMPORTANCES = {"high": 1.0, "medium": 0.6, "low": 0.2}
KIND_WEIGHTS = {RULE: 1.0, "decision": 0.9, "preference": 0.9, "lesson": 0.8, "fact": 0.8, "task": 0.6}

TURN_WEIGHT = 0.5
"""Of a raw turn, where a note has the weight of its kind."""


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


def without_near_duplicates(
    order: Sequence[Ranked], asked: frozenset[str], least: float, limit: int
) -> list[Ranked]:  # fmt: skip
    """The first ``limit`` of an order without the notes that say all but the same as a better one, unless they hold a word of
    the query that the better one lacks. ``asked``: the query's terms; ``least``: the share of common terms (Jaccard)."""
    kept: list[Ranked] = []
    for one in order:
        if len(kept) == limit:
            break
        if not any(_repeats(one.entry, other.entry, asked, least) for other in kept[:MOST_COMPARED]):
            kept.append(one)
    return kept


def _weighed(matches: Sequence[Match], now: Millis) -> list[Ranked]:
    found = [Ranked(one.entry, _score(one, now)) for one in matches]
    return sorted(found, key=lambda one: (-one.score, -one.entry.note.created, one.entry.note.id))


def _score(match: Match, now: Millis) -> float:
    note = match.entry.note
    return (
        LEXICAL * match.lexical
        + IMPORTANCE * IMPORTANCES.get(note.importance, IMPORTANCES["medium"])
        + CONFIDENCE * min(1.0, max(0.0, note.confidence))
        + RECENCY * _recency(note.created, now)
        + KIND * KIND_WEIGHTS.get(note.kind, KIND_WEIGHTS["fact"])
    )


def score_of_turn(lexical: float, time: Millis | None, now: Millis) -> float:
    """The score of a raw turn among notes, by the same shares: nobody said that it matters, and it was said for certain.

    Args:
        lexical: As ``Match.lexical``.
        time: When it was said; None counts as long ago.
    """
    recency = 0.0 if time is None else _recency(time, now)
    return LEXICAL * lexical + IMPORTANCE * IMPORTANCES["low"] + CONFIDENCE + RECENCY * recency + KIND * TURN_WEIGHT


def _recency(time: Millis, now: Millis) -> float:
    return math.exp2(-max(0, now - time) / HALF_LIFE_MS)


def _repeats(worse: Entry, better: Entry, asked: frozenset[str], least: float) -> bool:
    return nearly_same(worse.terms, better.terms, least) and not asked & (worse.terms - better.terms)
