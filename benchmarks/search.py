"""Search, end to end: latency of the warm funnel with filters, memory, and peers' weak spot, questions asked verbatim.

    python benchmarks/search.py LOGS [--chunks 100000] [--home FOLDER]

Text is real: LOGS, as ``layout.py`` describes, goes through the product until there are 20,000 chunks; those are then copied
under other sessions, each with a word of its own. Chunks' vectors are drawn by chance; the query's comes from the embedded
encoder, whose time is told apart (``encode_ms``) and is in the times but those named ``without_encoding``. ``--home`` keeps
the store for a second run. ``rss_anon_mb`` is the process's own memory, ``rss_file_mb`` its share of the page cache. Prints
one JSON object. Bars: 100,000 chunks p95 40 ms without encoding, resident 300 MB in all; 1,000,000 chunks p95 120 ms with
encoding, private 400 MB.
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
from agent_raw_rag.evals.corpus import Stored
from tests.naive_reader import everything

DAY = 86_400_000
START = 1_767_225_600_000
QUESTIONS = Path(__file__).with_name("questions.txt")


SPACE = Space("synthetic", "1", 384)
BASE_CHUNKS = 20_000
SESSION_TURNS = 60
PROJECTS = 40
DAYS = 300


class Asking:
    """The embedded encoder under the name of the synthetic space, with a clock."""

    space = SPACE
    english_only = True
    unrelated_cosine = (0.56, 0.65)

    def __init__(self) -> None:
        self._encoder = EmbeddedEncoder()
        self.spent_ms: list[float] = []

    def encode_passages(self, texts: Any) -> Any:
        return self._encoder.encode_passages(texts)

    def encode_query(self, text: str) -> Any:
        began = time.perf_counter()
        made = self._encoder.encode_query(text)
        self.spent_ms.append((time.perf_counter() - began) * 1000)
        return made


def fill(store: Stored, logs: Path, chunks: int) -> None:
    """Bring a store to so many chunks, and its derived files up."""
    speak(store, logs, min(chunks, BASE_CHUNKS))
    base = store.connection.execute("SELECT max(id), count(*) FROM sessions WHERE native NOT LIKE '%copy%'").fetchone()
    copies = store.connection.execute("SELECT count(*) FROM sessions").fetchone()[0] // base[1]
    while store.chunks() < chunks:
        copy_all(store, base[0], copies)
        copies += 1
    draw_vectors(store)
    feed_lexical(store.reader, store.home)
    feed_cache(store.connection, store.home, SPACE.name, SPACE.dim)


def speak(store: Stored, logs: Path, chunks: int) -> None:
    """Sessions through the product: sanitizer, chunker, committer."""
    said = [(Role(role), text) for _, role, _, text in everything(logs)]
    chance, number = random.Random(1), 0
    while store.chunks() < chunks:
        turns = []
        for place in range(SESSION_TURNS):
            role, text = said[chance.randrange(len(said))]
            turns.append((role, f"{text}\nrun{number}x{place}", START + number % DAYS * DAY + place * 60_000))
        store.add_session(f"session-{number}", turns, cwd=f"/home/dev/project-{number % PROJECTS}")
        number += 1


def copy_all(store: Stored, last: int, copy: int) -> None:
    """The first ``last`` sessions once more, on another day of another project."""
    new = f"id + {last * copy}"
    day = f"+ {copy % DAYS * DAY // 7}"
    statements = (
        f"""INSERT INTO sessions (id, agent, native, cwd, project, started, last, turns, exchange, tokens, source_id)
            SELECT {new}, agent, native || '-copy{copy}', '/home/dev/project-' || ((id + {copy}) % {PROJECTS}),
                   '/home/dev/project-' || ((id + {copy}) % {PROJECTS}), started {day}, last {day}, turns, exchange,
                   tokens, source_id FROM sessions WHERE id <= {last}""",
        f"""INSERT INTO turns (session_id, ordinal, exchange, role, time, text, text_hash, key, start_token, tokens,
                               source_id, start, end)
            SELECT session_{new}, ordinal, exchange, role, time {day}, text || ' copy{copy}x' || id, randomblob(16),
                   randomblob(16), start_token, tokens, source_id, start, end FROM turns WHERE session_id <= {last}""",
        f"""INSERT INTO chunks (session_id, place, text, hash, start_token, end_token, first_turn, last_turn, stable,
                                started, ended, roles)
            SELECT session_{new}, place, text || ' copy{copy}x' || id, randomblob(16), start_token, end_token,
                   first_turn, last_turn, stable, started {day}, ended {day}, roles
            FROM chunks WHERE session_id <= {last} ORDER BY id""",
    )
    with transaction(store.connection):
        for statement in statements:
            store.connection.execute(statement)


def draw_vectors(store: Stored) -> None:
    """A vector for every chunk that has none: as spread out as any, at no cost."""
    vectors, after = Vectors(store.connection, SPACE.name), 0
    while batch := vectors.backlog(after, 20_000):
        drawn = np.random.default_rng(after).standard_normal((len(batch), SPACE.dim), dtype=np.float32)
        rows = to_half(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))
        with transaction(store.connection):
            vectors.put(list(zip([one.hash for one in batch], rows, strict=True)))
        after = batch[-1].chunk_id


def status_mb(field: str) -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(round(int(line.split()[1]) / 1024, 1) for line in status if line.startswith(field))


SCOPES = {
    "all": Scope(),
    "project": Scope(projects=("/home/dev/project-7",)),
    "dates": Scope(after=START + 100 * DAY, before=START + 130 * DAY),
    "agent": Scope(agents=("bench",)),
    "role": Scope(roles=(Role.USER,)),
}


def measure(store: Stored, questions: list[str]) -> dict[str, Any]:
    encoder = Asking()
    funnel = Funnel(store.home, lambda: store.reader, lambda: encoder, Settings().search)
    found: dict[str, Any] = {"chunks": store.chunks(), "questions": len(questions)}
    for name, scope in SCOPES.items():
        times, encoder.spent_ms, answered = [], [], 0
        for question in [*questions[:5], *questions]:
            began = time.perf_counter()
            result = funnel.search(
                question, scope, top_k=15, max_tokens=6000, zone=SYSTEM_ZONE, resume=lambda row: None
            )
            times.append((time.perf_counter() - began) * 1000)
            answered += bool(result.passages)
        without = [whole - part for whole, part in zip(times[5:], encoder.spent_ms[5:], strict=True)]
        found[name] = {
            **spread(times[5:]),
            **{f"{key}_without_encoding": each for key, each in spread(without).items()},
            "encode_ms": round(statistics.median(encoder.spent_ms), 2),
            "answered": answered - 5,
        }
    memory = {f"rss_{kind.lower()}_mb": status_mb(f"Rss{kind}") for kind in ("Anon", "File")}
    return {**found, **memory, "rss_mb": status_mb("VmRSS")}


def spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "p50_ms": round(statistics.median(ordered), 2),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)], 2),
    }


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
