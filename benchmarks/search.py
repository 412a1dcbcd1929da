"""Search at 100,000 chunks: latency of the warm funnel with filters, memory, and peers' weak spot, questions asked verbatim.

    python benchmarks/search.py LOGS [--chunks 100000] [--home FOLDER]

Text is real (LOGS, as ``layout.py`` describes, said again under other sessions with a word of its own each), vectors are
synthetic, the query's own embedding is timed apart. ``--home`` keeps the store for a second run. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.base import Space
from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.encode.half import to_half
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.ingest.feed_vectors import feed_cache
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.search.zone import SYSTEM_ZONE
from agent_raw_rag.store.connection import transaction
from agent_raw_rag.store.reader import Scope
from agent_raw_rag.store.vectors import Vectors

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.naive_reader import everything
from tests.stored import Stored

DAY = 86_400_000
START = 1_767_225_600_000
QUESTIONS = Path(__file__).with_name("questions.txt")


class Synthetic:
    """An encoder whose vectors are drawn from the text's hash: as spread out as any, at no cost."""

    space = Space("synthetic", "1", 384)
    english_only = True
    unrelated_cosine = (0.56, 0.65)

    def encode_passages(self, texts: Any) -> Any:
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> Any:
        vector = np.random.default_rng(abs(hash(text)) % (1 << 32)).standard_normal(384, dtype=np.float32)
        return vector / np.linalg.norm(vector)


def fill(store: Stored, logs: Path, chunks: int) -> None:
    said = [(Role(role) if role != "user" else Role.USER, text) for _, role, _, text in everything(logs)]
    chance = random.Random(1)
    number = 0
    while store.chunks() < chunks:
        turns = []
        for place in range(300):
            role, text = said[chance.randrange(len(said))]
            when = START + (number % 300) * DAY + place * 60_000
            turns.append((role, f"{text}\nrun{number}x{place}", when))
        store.add_session(f"session-{number}", turns, cwd=f"/home/dev/project-{number % 40}")
        number += 1
    feed_lexical(store.reader, store.home)
    vectors, after, encoder = Vectors(store.connection, Synthetic.space.name), 0, Synthetic()
    while batch := vectors.backlog(after, 4096):
        rows = to_half(encoder.encode_passages([one.text for one in batch]))
        with transaction(store.connection):
            vectors.put(list(zip([one.hash for one in batch], rows, strict=True)))
        after = batch[-1].chunk_id
    feed_cache(store.connection, store.home, Synthetic.space.name, Synthetic.space.dim)


def rss_mb() -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


SCOPES = {
    "all": Scope(),
    "project": Scope(projects=("/home/dev/project-7",)),
    "dates": Scope(after=START + 100 * DAY, before=START + 130 * DAY),
    "agent": Scope(agents=("bench",)),
    "role": Scope(roles=(Role.USER,)),
}


def measure(store: Stored, questions: list[str]) -> dict[str, Any]:
    encoder = Synthetic()
    funnel = Funnel(store.home, lambda: store.reader, lambda: encoder, Settings().search)
    found: dict[str, Any] = {"chunks": store.chunks()}
    answered = 0
    for name, scope in SCOPES.items():
        times = []
        for question in questions:
            began = time.perf_counter()
            result = funnel.search(
                question, scope, top_k=15, max_tokens=6000, zone=SYSTEM_ZONE, resume=lambda row: None
            )
            times.append((time.perf_counter() - began) * 1000)
            answered += name == "all" and bool(result.passages)
        times = sorted(times[5:])
        found[name] = {"p50_ms": statistics.median(times), "p95_ms": times[int(len(times) * 0.95)]}
    found["rss_mb"] = rss_mb()
    model = EmbeddedEncoder()
    model.encode_query("warm")
    began = time.perf_counter()
    for question in questions:
        model.encode_query(question)
    found["query_embedding_ms"] = (time.perf_counter() - began) * 1000 / len(questions)
    bars = {"bar_p95_ms": 40, "bar_rss_mb": 300}
    return {**found, "rss_with_model_mb": rss_mb(), "questions": len(questions), "answered": answered, **bars}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--child", action="store_true")
    asked = parser.parse_args()
    if asked.child:
        questions = QUESTIONS.read_text("utf-8").splitlines()
        print(json.dumps(measure(Stored(asked.home), questions), indent=1))
        return
    with tempfile.TemporaryDirectory() as temporary:
        home = asked.home or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        fill(Stored(home), asked.logs, asked.chunks)
        # Measured in a process of its own: filling leaves memory behind that searching does not need.
        import subprocess

        subprocess.run([sys.executable, __file__, str(asked.logs), "--home", str(home), "--child"], check=True)


if __name__ == "__main__":
    main()
