"""Lexical index at a million chunks: latency of natural-language questions, unfiltered and narrowed, and memory.

    python benchmarks/lexical.py LOGS [--chunks 1000000] [--home FOLDER]

Text is real: pieces of 1,000 characters from anywhere in LOGS, each with a word of its own, so that few are alike. Forty
projects, sessions of 100 chunks, 300 days. Questions are those of ``questions.txt`` with 6 to 20 words. ``--home`` keeps the
index for a second run; ``cpu_ms`` is what a question costs on a machine that does other things too. Prints one JSON object.
Bar: p95 20 ms at 1,000,000 chunks, filters on project or dates included.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_raw_rag.lexical.documents import LexicalDoc, LexicalFilter
from agent_raw_rag.lexical.index import LexicalIndex
from agent_raw_rag.lexical.queries import query_terms

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.naive_reader import everything

DAY = 86_400_000
START = 1_767_225_600_000
SLICE = 20_000
SESSION_CHUNKS = 100
CHUNK_CHARS = 1000
QUESTIONS = Path(__file__).with_name("questions.txt")
FILTERS = {
    "all": LexicalFilter(),
    "project": LexicalFilter(projects=["/home/dev/project-7"]),
    "project_and_folder": LexicalFilter(projects=["/home/dev/project-7", "/home/dev/project-7/src"]),
    "agent": LexicalFilter(agents=["one"]),
    "role": LexicalFilter(roles=["user"]),
    "30_days": LexicalFilter(after=START + 100 * DAY, before=START + 130 * DAY),
    "since": LexicalFilter(after=START + 200 * DAY),
    "project_and_30_days": LexicalFilter(
        projects=["/home/dev/project-7"], after=START + 100 * DAY, before=START + 130 * DAY
    ),
}


def docs(logs: Path, count: int) -> Iterator[LexicalDoc]:
    whole = "\n".join(text for _, _, _, text in everything(logs))
    chance = random.Random(1)
    for n in range(count):
        session = n // SESSION_CHUNKS
        low = chance.randrange(len(whole) - CHUNK_CHARS)
        when = START + session % 300 * DAY + n % SESSION_CHUNKS * 60_000
        yield LexicalDoc(
            n + 1, f"{whole[low : low + CHUNK_CHARS]} run{n}", session, "one",
            (f"/home/dev/project-{session % 40}",), "main", ("user",) if n % 3 else ("assistant",), when, when + 60_000,
        )  # fmt: skip


def fill(logs: Path, count: int, folder: Path) -> float:
    index, began = LexicalIndex.open(folder, "g", writable=True), time.perf_counter()
    if index.high_water == count:
        index.close()
        return 0.0
    batch: list[LexicalDoc] = []
    for doc in docs(logs, count):
        batch.append(doc)
        if len(batch) == SLICE or doc.chunk_id == count:
            index.add(batch)
            index.commit(doc.chunk_id)
            batch = []
    index.close()
    return time.perf_counter() - began


def status_mb(field: str) -> float:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith(field))


def measure(folder: Path) -> dict[str, Any]:
    asked = [line for line in QUESTIONS.read_text("utf-8").splitlines() if 6 <= len(line.split()) <= 20]
    index = LexicalIndex.open(folder, "g")
    builds = [path for path in folder.iterdir() if path.is_dir()]
    found: dict[str, Any] = {
        "chunks": len(index),
        "questions": len(asked),
        "mean_terms": round(sum(len(query_terms(line)) for line in asked) / len(asked), 1),
        "folder_mb": sum(path.stat().st_size for build in builds for path in build.iterdir()) >> 20,
    }
    for name, narrowed in FILTERS.items():
        for line in asked:
            index.search(line, narrowed)
        times, before = [], time.process_time()
        for line in asked:
            began = time.perf_counter()
            index.search(line, narrowed)
            times.append((time.perf_counter() - began) * 1000)
        cpu = (time.process_time() - before) * 1000 / len(asked)
        times.sort()
        found[name] = {
            "p50_ms": round(times[len(times) // 2], 2),
            "p95_ms": round(times[int(len(times) * 0.95)], 2),
            "cpu_ms": round(cpu, 2),
        }
    return {**found, "rss_anon_mb": status_mb("RssAnon"), "rss_file_mb": status_mb("RssFile"), "bar_p95_ms": 20}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--child", action="store_true")
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure(given.home), indent=1))
        return
    with tempfile.TemporaryDirectory() as temporary:
        home = given.home or Path(temporary)
        seconds = fill(given.logs, given.chunks, home)
        print(f"filled in {seconds:.0f} s", file=sys.stderr)
        subprocess.run([sys.executable, __file__, str(given.logs), "--home", str(home), "--child"], check=True)


if __name__ == "__main__":
    main()
