"""LoCoMo retrieval with the product's own chunker, index, encoder and funnel, scored by the benchmark's own scorer.

    python benchmarks/locomo.py BENCH [--stages lexical,dense,fused] [--json OUT]

BENCH: a folder with ``locomo_eval.py`` and ``locomo/locomo10.json`` (CC BY-NC 4.0, not part of this repository). A
conversation is one session, its turns ``Speaker: text``; a window counts as one rank and covers its turns. Prints one
JSON object: windows recall@k, hit@k, MRR over the 1,536 questions, per stage.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.store.reader import Scope

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.stored import Stored

WEIGHTS = {"lexical": 0.0, "dense": 1.0, "fused": None}


@cache
def encoder() -> Encoder:
    return EmbeddedEncoder()


@dataclass
class System:
    """The interface that the scorer asks for: one conversation each."""

    stage: str
    nearest: list[float]
    """The cosine of each question's nearest window: what abstention has to leave alone."""

    def index(self, docs: list[dict[str, Any]]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.ids = [doc["id"] for doc in docs]
        self.store = Stored(Path(self.folder.name))
        first = docs[0]["speaker"]
        said = [
            (Role.USER if doc["speaker"] == first else Role.ASSISTANT, f"{doc['speaker']}: {doc['text']}", None)
            for doc in docs
        ]
        self.store.add_session("conversation", said)
        self.store.index(lambda: encoder() if self.stage != "lexical" else None)
        search = Settings().search
        weight = WEIGHTS[self.stage]
        self.funnel = Funnel(
            self.store.home, lambda: self.store.reader,
            lambda: encoder() if self.stage != "lexical" else None,
            search if weight is None else search.model_copy(update={"dense_weight": weight}),
        )  # fmt: skip

    def search(self, query: str, k: int) -> list[list[str]]:
        ranking, chunks = self.funnel.rank(query, Scope(), self.store.reader)
        self.nearest += sorted(ranking.dense.values())[-1:]
        found = [chunks[chunk_id] for chunk_id, _ in ranking.order[:k]]
        return [self.ids[chunk.first_turn - 1 : chunk.last_turn] for chunk in found]

    def close(self) -> None:
        self.store.connection.close()
        self.folder.cleanup()


def rounded(row: dict[str, float]) -> dict[str, float]:
    return {key: round(value, 4) for key, value in row.items()}


def spread(cosines: list[float]) -> dict[str, float]:
    ordered = sorted(cosines)
    return {f"p{share}": round(ordered[len(ordered) * share // 100], 3) for share in (1, 5, 7, 10, 50) if ordered}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", type=Path)
    parser.add_argument("--stages", default="lexical,dense,fused")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.bench))
    scorer = importlib.import_module("locomo_eval")
    docs, queries, skipped = scorer.load_locomo()
    found: dict[str, Any] = {"turns": len(docs), "questions": len(queries), "left_out": skipped}
    for stage in asked.stages.split(","):
        nearest: list[float] = []
        result = scorer.evaluate(
            lambda stage=stage, nearest=nearest: System(stage, nearest), docs, queries, ks=(1, 3, 5, 10, 15)
        )
        types = {kind: rounded(row) for kind, row in result["by_type"].items()}
        times = {name: result[name] for name in ("search_ms_p50", "search_ms_p95")}
        found[stage] = {**rounded(result["overall"]), **times, "nearest": spread(nearest), "by_type": types}
    text = json.dumps(found, indent=1)
    if asked.json:
        asked.json.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
