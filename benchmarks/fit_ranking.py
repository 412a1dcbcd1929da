"""Fit the ranking's weights, and print what both halves of the conversations say of them.

    python benchmarks/fit_ranking.py BENCH CODING [--pools FILE] [--without NAME ...] [--json OUT]

BENCH: a folder with ``locomo_eval.py`` and ``locomo/locomo10.json`` (CC BY-NC 4.0, not part of this repository); CODING: a
folder with ``corpus.jsonl`` and ``queries.jsonl``. A model is fitted on one half of LoCoMo's conversations (A: 0 to 4, B: 5
to 9) together with the coding questions whose evidence is in an even session, and scored on all the rest. What is shipped
(``search/weights.py``) is ``B``: conversations 0 to 4 were never seen by it. ``--without`` leaves features out (an ablation).

Loss: for each piece of evidence, minus the log of the softmax mass on what covers it; first over pieces, then over windows.
Full gradients, fixed start and steps: the same numbers on every run.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pools import Pool, folder, locomo, pools

from agent_raw_rag.search.features import Features
from agent_raw_rag.search.learned import POOLED, Weights, only, pooled_pieces, score, spliced

OF_PIECES = """
    words_near covered named pairs asks answers length time number window_words window_sense
"""
WORDS = Weights(dict.fromkeys(OF_PIECES.split(), 0.0), dict.fromkeys(("sense", "covered", POOLED), 0.0))
STATES = Weights({**WORDS.pieces, "window_states": 0.0, "states": 0.0}, dict.fromkeys(("best_states", POOLED), 0.0))
"""Names only; the fit puts the numbers."""
KS = (1, 5, 10, 15)
CODING_SHARE = 0.5
"""What all coding questions weigh together, beside LoCoMo's half as 1."""
RIDGE = 1e-3
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass
class Row:
    """What the fit sees of a question: items with features, and which groups of evidence each covers."""

    items: Floats
    covers: Bools


def matrix(values: dict[str, Floats], names: Sequence[str]) -> Floats:
    return np.stack([values[name] for name in names], axis=1)


def piece_rows(found: Sequence[Pool], view: str, names: Sequence[str]) -> list[Row]:
    covers = [np.array([[one in group for one in pool.ids] for group in pool.gold]) for pool in found]
    return [Row(matrix(getattr(pool, view).pieces, names), c) for pool, c in zip(found, covers, strict=True)]


def window_rows(found: Sequence[Pool], view: str, pieces: dict[str, float], names: Sequence[str]) -> list[Row]:
    rows = []
    for pool in found:
        features: Features = getattr(pool, view)
        scores = matrix(features.pieces, list(pieces)) @ np.array(list(pieces.values()))
        values = {**features.windows, POOLED: pooled_pieces(scores, features.owner, len(pool.covers))}
        rows.append(Row(matrix(values, names), window_gold(pool)))
    return rows


def window_gold(pool: Pool) -> Bools:
    return np.array([[not group.isdisjoint(ids) for ids in pool.covers] for group in pool.gold])


def fitted(rows: Sequence[Row], share: Floats, steps: int = 250, rate: float = 0.3) -> Floats:
    """Weights by Adam over full gradients."""
    count, most = len(rows[0].items[0]), max(len(row.items) for row in rows)
    groups = max(len(row.covers) for row in rows)
    items, real = np.zeros((len(rows), most, count), np.float32), np.zeros((len(rows), most), bool)
    covers, part = np.zeros((len(rows), groups, most), np.float32), np.zeros((len(rows), groups))
    for place, row in enumerate(rows):
        items[place, : len(row.items)], real[place, : len(row.items)] = row.items, True
        covers[place, : len(row.covers), : len(row.items)] = row.covers
        reached = row.covers.any(axis=1)  # evidence outside the pool teaches nothing
        part[place, : len(reached)] = share[place] * reached / len(reached)
    weights, mean, spread = np.ones(count), np.zeros(count), np.zeros(count)
    for step in range(1, steps + 1):
        logits = np.where(real, items @ weights.astype(np.float32), -1e9)
        mass = np.exp(logits - logits.max(axis=1, keepdims=True))
        mass /= mass.sum(axis=1, keepdims=True)
        on_gold = np.einsum("qgi,qi->qg", covers, mass) + 1e-9
        wanted = mass * np.einsum("qg,qgi->qi", part / on_gold, covers)
        pull = mass * part.sum(axis=1, keepdims=True) - wanted
        slope = np.einsum("qi,qid->d", pull, items) / part.sum() + RIDGE * weights
        mean, spread = 0.9 * mean + 0.1 * slope, 0.99 * spread + 0.01 * slope**2
        step_size = rate * (1.0 if step < 0.6 * steps else 0.2)
        weights = weights - step_size * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    return weights


def fit(half: Sequence[Pool], coding: Sequence[Pool], view: str, names: Weights) -> Weights:
    found = [*half, *coding]
    share = np.concatenate([np.ones(len(half)), np.full(len(coding), CODING_SHARE * len(half) / max(len(coding), 1))])
    own = fitted(piece_rows(found, view, list(names.pieces)), share)
    pieces = dict(zip(names.pieces, map(float, own), strict=True))
    whole = fitted(window_rows(found, view, pieces, list(names.windows)), share)
    return Weights(pieces, dict(zip(names.windows, map(float, whole), strict=True)))


@dataclass
class Model:
    words: Weights
    states: Weights
    depth: int = 128
    """Windows, the best by words, that get token states."""

    def scores(self, pool: Pool) -> tuple[Floats, Floats]:
        by_words = score(pool.words, self.words)
        if not self.depth:
            return by_words.windows, by_words.pieces
        kept = np.zeros(len(pool.covers), bool)
        kept[np.argsort(-by_words.windows, kind="stable")[: self.depth]] = True
        late = score(only(pool.states, kept), self.states)
        inside = kept[pool.words.owner]
        return spliced(by_words.windows, late.windows, kept), spliced(by_words.pieces, late.pieces, inside)


Scorer = Callable[[Pool], tuple[Floats, Floats]]


def plain_fusion(pool: Pool) -> tuple[Floats, Floats]:
    return -np.arange(len(pool.covers), dtype=float), pool.words.pieces["words_near"]


def measured(found: Sequence[Pool], scorer: Scorer) -> dict[str, Any]:
    """Macro recall and any-evidence hit at k, in percent."""
    rows = [(*scorer(pool), pool) for pool in found]
    windows = np.mean([recall(np.argsort(-w, kind="stable"), window_gold(pool)) for w, _, pool in rows], axis=0)
    turns = np.mean([turn_recall(p, pool) for _, p, pool in rows], axis=0)
    names = [f"{kind}@{k}" for kind in ("recall", "hit") for k in KS]
    shown = {
        unit: dict(zip(names, np.round(100 * values, 2).tolist(), strict=True))
        for unit, values in (("windows", windows), ("turns", turns))
    }
    return {"n": len(rows), **shown}


def recall(order: NDArray[np.intp], gold: Bools) -> list[float]:
    seen = np.maximum.accumulate(gold[:, order[: max(KS)]], axis=1)
    at = [seen[:, min(k, seen.shape[1]) - 1] for k in KS]
    return [float(one.mean()) for one in at] + [float(one.any()) for one in at]


def turn_recall(scores: Floats, pool: Pool) -> list[float]:
    best: dict[str, float] = {}
    for turn, value in zip(pool.ids, scores.tolist(), strict=True):
        best[turn] = max(value, best.get(turn, value))
    ids = sorted(best, key=lambda turn: -best[turn])
    return recall(np.arange(len(ids)), np.array([[turn in group for turn in ids] for group in pool.gold]))


def even(pool: Pool) -> bool:
    return int(pool.session.rpartition("/")[2]) % 2 == 0


def without(names: Weights, left_out: Sequence[str]) -> Weights:
    return Weights(*({name: 0.0 for name in part if name not in left_out} for part in (names.pieces, names.windows)))


def report(data: dict[str, list[Pool]], left_out: Sequence[str], depths: Sequence[int]) -> dict[str, Any]:
    order = list(dict.fromkeys(pool.conversation for pool in data["locomo"]))
    halves = {
        "A": [pool for pool in data["locomo"] if order.index(pool.conversation) < 5],
        "B": [pool for pool in data["locomo"] if order.index(pool.conversation) >= 5],
    }
    learned = [pool for pool in data["together"] if even(pool)]
    sets = {
        **halves, "conversation 0": [pool for pool in data["locomo"] if pool.conversation == order[0]], "all": data["locomo"],
        "coding": data["coding"], "coding, odd sessions": [pool for pool in data["coding"] if not even(pool)],
        "coding, one store, odd sessions": [pool for pool in data["together"] if not even(pool)],
    }  # fmt: skip
    found: dict[str, Any] = {"plain fusion": {name: measured(some, plain_fusion) for name, some in sets.items()}}
    for half, some in halves.items():
        words = fit(some, learned, "words", without(WORDS, left_out))
        states = fit(some, learned, "states", without(STATES, left_out))
        found[half] = {"words": weights_json(words), "states": weights_json(states)}
        for depth in depths:
            model = Model(words, states, depth)
            found[half][f"{depth} reranked"] = {name: measured(mine, model.scores) for name, mine in sets.items()}
    return found


def weights_json(weights: Weights) -> dict[str, dict[str, float]]:
    return {
        part: {name: round(value, 2) for name, value in getattr(weights, part).items()}
        for part in ("pieces", "windows")
    }


def load(bench: Path, coding: Path, cache: Path | None) -> dict[str, list[Pool]]:
    if cache and cache.exists():
        found: dict[str, list[Pool]] = pickle.loads(cache.read_bytes())
        return found
    sources = {"locomo": locomo(bench), "coding": folder(bench, coding, False), "together": folder(bench, coding, True)}
    found = {name: list(pools(*source)) for name, source in sources.items()}
    if cache:
        cache.write_bytes(pickle.dumps(found))
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", type=Path)
    parser.add_argument("coding", type=Path)
    parser.add_argument("--pools", type=Path, help="keep the measured pools here, and use them if they are there")
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--depths", default="0,20,30,40,50,128")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data = load(given.bench, given.coding, given.pools)
    text = json.dumps(report(data, given.without, [int(depth) for depth in given.depths.split(",")]), indent=1)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
