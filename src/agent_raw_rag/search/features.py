"""What is measured of a pool of windows and of the turns in them, before anything is weighed. Pure.

A feature is one number a piece (a turn's stretch of a window) or a window. Each is on a scale of about 0 to 1 within its
pool; what a stage could not say is 0 for all, so that it changes no order. ``weights`` explains every one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.lexical.score import K1, B
from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.search.asked import Asked, names_in
from agent_raw_rag.search.pieces import Piece

Floats = NDArray[np.float64]
Counts = dict[str, int]

_name = re.compile(r"([\w .-]{1,32}): ").match
_TIMES = """
    january february march april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday yesterday today tomorrow tonight last next ago week weeks weekend month months year years day days
    hour hours minutes morning since recently summer winter spring fall
"""
_TIME_WORDS = frozenset(_TIMES.split())
_year = re.compile(r"\b(?:19|20)\d\d\b").search
_digit = re.compile(r"\d").search


@dataclass(frozen=True, slots=True)
class Window:
    """A candidate with what the coarse stages said of it."""

    pieces: Sequence[Piece]
    lexical: float = 0.0
    """BM25; 0 where the words do not occur."""
    cosine: float | None = None
    """None: not among the nearest, or there was no dense stage."""


@dataclass(slots=True)
class Features:
    """The features of a pool of n windows with p pieces."""

    owner: NDArray[np.intp]
    """[p]: the window of each piece."""
    turns: list[int]
    """[p]: the ordinal of its turn."""
    pieces: dict[str, Floats] = field(default_factory=dict)
    windows: dict[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Read:
    """A piece as it is counted."""

    counts: Counts
    """Of the query's terms only."""
    length: int
    pairs: int
    """How many of the query's pairs stand in it."""
    name: frozenset[str]
    """Words of the name that a turn's text begins with (``Ann: …``), as chats of several people have it."""
    is_question: bool
    body: str


def measure(windows: Sequence[Window], asked: Asked) -> Features:
    """The features that need no model beyond what the coarse stages have done."""
    read = [[_read(piece, asked) for piece in window.pieces] for window in windows]
    flat = [one for row in read for one in row]
    owner = np.repeat(np.arange(len(windows)), [len(row) for row in read])
    found = Features(owner, [piece.turn for window in windows for piece in window.pieces])
    lexical = over_best(np.array([window.lexical for window in windows], dtype=float))
    sense = _stretched([window.cosine for window in windows])
    total = sum(asked.weights.values()) or 1.0
    found.windows |= {"sense": sense, "covered": _covered([_together(row) for row in read], asked.weights, total)}
    found.pieces |= {
        "words_near": over_best(_bm25([near for row in read for near in _with_neighbours(row)], asked.weights)),
        "covered": _covered([one.counts for one in flat], asked.weights, total),
        "named": _numbers(not asked.words.isdisjoint(one.name) for one in flat),
        "pairs": _numbers(one.pairs / max(len(asked.pairs), 1) for one in flat),
        "asks": _numbers(one.is_question for one in flat),
        "answers": _numbers(place > 0 and row[place - 1].is_question for row in read for place in range(len(row))),
        "length": np.log1p(_numbers(max(one.length, 1) for one in flat)) / 5,
        "time": _numbers(asked.when and _has_time(one.body) for one in flat),
        "number": _numbers(asked.number and _digit(one.body) is not None for one in flat),
        "window_words": lexical[owner],
        "window_sense": sense[owner],
    }
    return found


def over_best(scores: Floats) -> Floats:
    """Scores on a scale that ends at the best: 1; all 0 if none is above 0."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else np.zeros_like(scores)


def _stretched(cosines: Sequence[float | None]) -> Floats:
    """From the farthest (0) to the nearest (1); what is not among them is as far as the farthest."""
    known = [cosine for cosine in cosines if cosine is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    span = high - low
    return _numbers(0.0 if cosine is None or span <= 0 else (cosine - low) / span for cosine in cosines)


def _read(piece: Piece, asked: Asked) -> _Read:
    text = piece.said
    name = _name(text) if piece.begins else None
    have = terms(text)
    return _Read(
        Counter(term for term in have if term in asked.weights),
        len(have),
        len(asked.pairs.intersection(pairwise(have))) if asked.pairs else 0,
        names_in(name[1]) if name else frozenset(),
        "?" in text,
        text[name.end() :] if name else text,
    )


def _together(reads: Sequence[_Read]) -> Counts:
    found: Counts = {}
    for one in reads:
        for term, count in one.counts.items():
            found[term] = found.get(term, 0) + count
    return found


def _with_neighbours(row: Sequence[_Read]) -> list[tuple[Counts, int]]:
    """Each piece of a window joined with the one before and the one after: (counts, length)."""
    near = [row[max(place - 1, 0) : place + 2] for place in range(len(row))]
    return [(_together(some), max(sum(one.length for one in some), 1)) for some in near]


def _bm25(texts: Sequence[tuple[Counts, int]], weights: Mapping[str, float]) -> Floats:
    """The index's formula, with the pool's own mean length: a short turn beside long ones keeps its say."""
    mean = sum(length for _, length in texts) / max(len(texts), 1)
    scores = []
    for counts, length in texts:
        norm = K1 * (1 - B + B * length / mean)
        scores.append(sum(weights[term] * (K1 + 1) * count / (count + norm) for term, count in counts.items()))
    return np.array(scores, dtype=float)


def _covered(counts: Sequence[Counts], weights: Mapping[str, float], total: float) -> Floats:
    return _numbers(sum(weights[term] for term in have) / total for have in counts)


def _has_time(text: str) -> bool:
    return not names_in(text).isdisjoint(_TIME_WORDS) or _year(text) is not None


def _numbers(values: Iterable[float]) -> Floats:
    return np.array([float(value) for value in values], dtype=float)
