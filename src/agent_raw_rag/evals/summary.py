"""What came of the questions -> one object of JSON values: means, intervals, differences, curves, times. Shares are fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agent_raw_rag.evals.asking import Asked
from agent_raw_rag.evals.bootstrap import intervals, table
from agent_raw_rag.evals.configurations import FULL, Configuration
from agent_raw_rag.evals.metrics import Found, mean, measures, percentile, recall
from agent_raw_rag.evals.run import Answers

UNITS: dict[str, Callable[[Asked], Found]] = {
    "windows": lambda asked: asked.windows,
    "turns": lambda asked: asked.turns,
}
"""What is ranked: windows (a rank covers all turns of one), or turns."""
CURVE = 30
"""Ranks of a curve."""
NEAREST = (0.01, 0.05, 0.10, 0.50)
Json = dict[str, Any]


def summary(answers: Answers, configurations: Sequence[Configuration]) -> Json:
    """The figures of every configuration. The first level holds those of ``full``, or of the last one if that was not run."""
    main = FULL if FULL in answers else configurations[-1].name
    silent = {name: [one for one in asked if not one.windows.ranks] for name, asked in answers.items()}
    answers = answerable(answers)
    figures = {one.name: _figures(answers[one.name], answers[main], one.name != main) for one in configurations}
    for name, asked in silent.items():
        if asked:
            figures[name]["unanswerable"] = {"n": len(asked), "nothing_found": _empty(asked)}
    for one in configurations:
        figures[one.name] = {"changed": dict(one.changed), **figures[one.name]}
    shown = _shown(answers[main])
    return {
        "unit": "fraction",
        "configuration": main,
        **{unit: figures[main][unit] for unit in UNITS},
        "types": _types(answers[main]),
        "nearest_cosine": _nearest(answers[main]),
        **({"shown": shown} if shown else {}),
        "configurations": figures,
    }


def curves(answers: Answers) -> dict[str, dict[str, list[list[float]]]]:
    """Configuration -> unit -> for each k from 1 to ``CURVE``: recall, and the lower and upper end of its interval."""
    return {
        name: {unit: _curve([pick(one) for one in asked]) for unit, pick in UNITS.items()}
        for name, asked in answerable(answers).items()
    }


def answerable(answers: Answers) -> Answers:
    """Without the questions that the corpus does not answer: no metric of ranks means anything there."""
    return {name: [one for one in asked if one.windows.ranks] for name, asked in answers.items()}


def ranks(asked: Sequence[Asked]) -> list[Json]:
    """For each question, the rank at which each piece of its evidence was found; 0: it was not."""
    return [
        {"id": one.id, "types": list(one.kinds), **{unit: list(pick(one).ranks) for unit, pick in UNITS.items()}}
        for one in asked
    ]


def _figures(asked: list[Asked], main: list[Asked], differs: bool) -> Json:
    figures: Json = {unit: _means([measures(pick(one)) for one in asked]) for unit, pick in UNITS.items()}
    figures["intervals"] = {unit: _intervals([measures(pick(one)) for one in asked]) for unit, pick in UNITS.items()}
    if differs:
        figures["difference"] = {
            unit: _differences([measures(pick(one)) for one in asked], [measures(pick(one)) for one in main])
            for unit, pick in UNITS.items()
        }
    figures["latency_ms"] = _latency(asked)
    figures["nothing_found"] = _empty(asked)
    figures["reranked"] = {
        "mean": round(sum(one.reranked for one in asked) / len(asked), 1),
        "least": min(one.reranked for one in asked),
    }
    figures["skipped"] = dict(Counter(stage for one in asked for stage in one.skipped))
    return figures


def _empty(asked: Sequence[Asked]) -> int:
    return sum(not one.windows.chars for one in asked)


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    return {"n": len(rows), **_rounded(mean(rows))}


def _types(asked: list[Asked]) -> Json:
    kinds = sorted({kind for one in asked for kind in one.kinds})
    of = {kind: [one for one in asked if kind in one.kinds] for kind in kinds}
    return {
        kind: {unit: _means([measures(pick(one)) for one in of[kind]]) for unit, pick in UNITS.items()}
        for kind in kinds
    }


def _intervals(rows: list[dict[str, float]]) -> dict[str, list[float]]:
    names, values = table(rows)
    low, high = intervals(values)
    return {name: [round(float(low[place]), 4), round(float(high[place]), 4)] for place, name in enumerate(names)}


def _differences(rows: list[dict[str, float]], main: list[dict[str, float]]) -> dict[str, list[float]]:
    """[mean, lower end, upper end] of ``rows`` - ``main``, question by question."""
    names, values = table(rows)
    values = values - table(main)[1]
    low, high = intervals(values)
    ends = zip(names, values.mean(axis=0), low, high, strict=True)
    return {name: [round(float(one), 4) for one in found] for name, *found in ends}


def _curve(rows: list[Found]) -> list[list[float]]:
    values = np.array([[recall(one, k) for k in range(1, CURVE + 1)] for one in rows])
    low, high = intervals(values)
    return [[round(float(one), 4) for one in point] for point in zip(values.mean(axis=0), low, high, strict=True)]


def _latency(asked: list[Asked]) -> Json:
    stages = {stage: [1000 * one.seconds[stage] for one in asked] for stage in asked[0].seconds}
    return {
        stage: {"p50": round(percentile(times, 0.5), 2), "p95": round(percentile(times, 0.95), 2)}
        for stage, times in stages.items()
    }


def _nearest(asked: list[Asked]) -> dict[str, float]:
    cosines = [one.nearest for one in asked if one.nearest is not None]
    return {f"p{share * 100:g}": round(percentile(cosines, share), 3) for share in NEAREST} if cosines else {}


def _shown(asked: list[Asked]) -> Json:
    manners = list(asked[0].shown)
    found: Json = {}
    for name in manners:
        rows = [one.shown[name] for one in asked]
        found[name] = {**_means(rows), "intervals": _intervals(rows)}
        if name != manners[0]:
            found[name]["difference"] = _differences(rows, [one.shown[manners[0]] for one in asked])
    return found


def _rounded(row: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in row.items()}
