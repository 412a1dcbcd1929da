"""Features and weights -> scores: one sum a piece, their log-sum a window, one sum a window. Pure.

Scores are logits: only their differences within one pool mean something, and they are no probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent_raw_rag.search.features import Features, Floats

POOLED = "pieces"
"""The window feature that sums up its pieces: a quarter of the log of the sum of their scores' exponentials."""
STATES_SCALE = 5.0
"""MaxSim differs by some 0.2 within a pool; this brings it to the scale of the other features."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts, by name."""

    pieces: Mapping[str, float]
    windows: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scores:
    """Of n windows and p pieces; higher is better."""

    windows: Floats
    pieces: Floats


def score(features: Features, weights: Weights) -> Scores:
    """Weighted sums. A feature that was not measured counts nothing."""
    pieces = _sum(features.pieces, weights.pieces, len(features.owner))
    count = _windows_in(features)
    pooled = pooled_pieces(pieces, features.owner, count)
    return Scores(_sum({**features.windows, POOLED: pooled}, weights.windows, count), pieces)


def pooled_pieces(scores: Floats, owner: NDArray[np.intp], windows: int) -> Floats:
    """[windows]: near the best piece's score, and more if several are good. A window without pieces gets what is below all."""
    total = np.full(windows, -np.inf)
    np.logaddexp.at(total, owner, scores)
    lowest = scores.min(initial=0.0)
    return np.where(np.isfinite(total), total, lowest) / 4


def with_states(features: Features, windows: Floats, pieces: Floats) -> Features:
    """The features with late interaction: MaxSim of each window and of each piece by itself."""
    count = _windows_in(features)
    near, own = _states(windows), _states(pieces)
    best = np.full(count, own.min(initial=0.0))
    np.maximum.at(best, features.owner, own)
    return Features(
        features.owner, features.turns,
        {**features.pieces, "states": own, "window_states": near[features.owner]},
        {**features.windows, "states": near, "best_states": best},
    )  # fmt: skip


def only(features: Features, kept: NDArray[np.bool_]) -> Features:
    """The features of some of the windows, on the scale of the whole pool. ``kept``: [n]."""
    place = np.cumsum(kept) - 1
    mine = kept[features.owner]
    return Features(
        place[features.owner[mine]], [turn for turn, is_kept in zip(features.turns, mine, strict=True) if is_kept],
        {name: values[mine] for name, values in features.pieces.items()},
        {name: values[kept] for name, values in features.windows.items()},
    )  # fmt: skip


def spliced(coarse: Floats, late: Floats, reranked: NDArray[np.bool_]) -> Floats:
    """Scores of all, where some have a better one: these come first, the rest follow in their coarse order.

    The rest keep their distances: the best of them stands below the worst reranked one by as much as it stands below the
    best of all coarsely.
    """
    scores = np.empty(len(coarse))
    scores[reranked] = late
    scores[~reranked] = (
        late.min(initial=np.inf) - (coarse.max(initial=-np.inf) - coarse[~reranked]) if len(late) else coarse
    )
    return scores


def _sum(features: Mapping[str, Floats], weights: Mapping[str, float], count: int) -> Floats:
    total = np.zeros(count)
    for name, weight in weights.items():
        if name in features:
            total += weight * features[name]
    return total


def _states(similarities: Floats) -> Floats:
    scaled: Floats = STATES_SCALE * (similarities - similarities.max(initial=-1.0))
    return scaled


def _windows_in(features: Features) -> int:
    return next((len(values) for values in features.windows.values()), 0)
