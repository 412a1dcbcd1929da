"""Late interaction, end to end: what a search takes with and without it, and what a window costs.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/rerank.py LOGS [--chunks 2000] [--questions 40]

LOGS, as ``layout.py`` describes, goes through the product until there are so many chunks. Token states are never kept from one
question to the next. ``passage_ms``: the bare network over windows, two at a time. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from filling import fill

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.encode.late import Late, LateReader
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.store.reader import Scope

QUESTIONS = Path(__file__).with_name("questions.txt")


def times(funnel: Funnel, questions: list[str]) -> tuple[list[float], list[int]]:
    spent, reranked = [], []
    for question in questions:
        began = time.perf_counter()
        ranking, _ = funnel.rank(question, Scope(), funnel.reader())
        spent.append((time.perf_counter() - began) * 1000)
        reranked.append(len(ranking.rerank))
    return spent, reranked


def spread(spent: list[float]) -> dict[str, float]:
    ordered = sorted(spent)
    return {"p50_ms": round(statistics.median(ordered), 1), "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1)}


def measure(store: Stored, questions: list[str]) -> dict[str, Any]:
    encoder, search = EmbeddedEncoder(), Settings().search
    late = Late(lambda: encoder)
    found: dict[str, Any] = {"chunks": store.chunks(), "questions": len(questions)}
    for name, budget in (("without", 0), ("budget_500", 500), ("budget_1000", 1000), ("budget_4000", 4000)):
        settings = search.model_copy(update={"rerank_budget_ms": budget})
        funnel = Funnel(store.home, lambda: store.reader, lambda: encoder, settings, lambda: late)
        times(funnel, questions[:2])
        spent, reranked = times(funnel, questions[2:])
        found[name] = {**spread(spent), "reranked_mean": statistics.mean(reranked), "reranked_least": min(reranked)}
    texts = [facts.chunk.text for facts in store.reader.chunks_after(0, 80)]
    began = time.perf_counter()
    LateReader(encoder).passages(texts, lambda states: len(states.vectors))
    found["passage_ms"] = round((time.perf_counter() - began) * 1000 / len(set(texts)), 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path)
    parser.add_argument("--chunks", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=40)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        store = Stored(Path(temporary))
        fill(store, asked.logs, asked.chunks)
        encoder = EmbeddedEncoder()
        store.index(lambda: encoder)
        questions = QUESTIONS.read_text("utf-8").splitlines()[: asked.questions]
        print(json.dumps(measure(store, questions), indent=1))


if __name__ == "__main__":
    main()
