"""The coding dialogues through the product's own chunker, index, encoder and funnel, scored by an outside scorer.

    python benchmarks/coding/measure.py BENCH [--stages lexical,dense,fused] [--scope global] [--json OUT]

BENCH: a folder with ``locomo_eval.py`` (not part of this repository). Every session of the corpus is a session of the
store, every turn keeps its time; a window counts as one rank and covers its turns. ``--scope conv`` asks each question
of its own project only, ``global`` of all projects in one store. Prints one JSON object: recall@k, hit@k and MRR by
stage and type, and how many unanswerable questions got an answer all the same.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.encode.registry import encoder as encoder_of
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.store.reader import Scope

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.stored import Stored

FOLDER = Path(__file__).parent
WEIGHTS = {"lexical": 0.0, "dense": 1.0, "fused": None}


@cache
def encoder() -> Encoder:
    return encoder_of("embedded")


@dataclass
class System:
    """The interface that the scorer asks for: one store."""

    stage: str
    turns: list[list[str]] = field(default_factory=list)
    """The ids of each session's turns, in the order of the sessions' row ids."""

    def index(self, docs: list[dict[str, Any]]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = Stored(Path(self.folder.name))
        for (conversation, session), said in groupby(docs, key=lambda doc: (doc["conv"], doc["session"])):
            rows = list(said)
            self.turns.append([row["id"] for row in rows])
            self.store.add_session(f"{conversation}-{session}", map(spoken, rows), cwd=f"/{conversation}")
        self.store.index(self.encoder)
        search = Settings().search
        weight = WEIGHTS[self.stage]
        chosen = search if weight is None else search.model_copy(update={"dense_weight": weight})
        self.funnel = Funnel(self.store.home, lambda: self.store.reader, self.encoder, chosen)

    def encoder(self) -> Encoder | None:
        return encoder() if self.stage != "lexical" else None

    def search(self, query: str, k: int) -> list[list[str]]:
        ranking, chunks = self.funnel.rank(query, Scope(), self.store.reader)
        found = [chunks[chunk_id] for chunk_id, _ in ranking.order[:k]]
        return [self.turns[chunk.session_id - 1][chunk.first_turn - 1 : chunk.last_turn] for chunk in found]

    def close(self) -> None:
        self.store.connection.close()
        self.folder.cleanup()


def spoken(row: dict[str, Any]) -> tuple[Role, str, int]:
    role = Role.USER if row["speaker"] == "user" else Role.ASSISTANT
    return role, row["text"], int(datetime.fromisoformat(row["date"]).timestamp() * 1000)


def rounded(row: dict[str, float]) -> dict[str, float]:
    return {key: round(value, 4) for key, value in row.items()}


def answered(stage: str, docs: list[dict[str, Any]]) -> dict[str, int]:
    """How many of the unanswerable questions bring anything up, in one store of all projects."""
    lines = (FOLDER / "unanswerable.jsonl").read_text("utf-8").splitlines()
    system = System(stage)
    system.index(docs)
    found = [bool(system.search(json.loads(line)["query"], 15)) for line in lines]
    system.close()
    return {"asked": len(found), "answered": sum(found)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", type=Path)
    parser.add_argument("--stages", default="lexical,dense,fused")
    parser.add_argument("--scope", default="global", choices=["conv", "global"])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    sys.path.insert(0, str(asked.bench))
    scorer = importlib.import_module("locomo_eval")
    docs, queries, skipped = scorer.load_folder(str(FOLDER))
    found: dict[str, Any] = {"turns": len(docs), "questions": len(queries), "left_out": skipped, "scope": asked.scope}
    for stage in asked.stages.split(","):
        result = scorer.evaluate(
            lambda stage=stage: System(stage), docs, queries, scope=asked.scope, ks=(1, 3, 5, 10, 15)
        )
        types = {kind: rounded(row) for kind, row in result["by_type"].items()}
        found[stage] = {**rounded(result["overall"]), "unanswerable": answered(stage, docs), "by_type": types}
    text = json.dumps(found, indent=1)
    if asked.json:
        asked.json.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
