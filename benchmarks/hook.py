"""Hooks: from the start of the process to its end, as the agent that waits for it sees it.

    python benchmarks/hook.py [HOME] [--runs 100] [--sessions 2000]

HOME is a folder with a store (a big one, say); without it one is made, of so many sessions of one project. ``raw-rag hook`` is
started as an agent starts it, with JSON on stdin: ``session-start`` after a compaction, while nobody writes, while a process
holds the writer's lock and an open transaction, while the whole database is locked, and while two processes keep the machine
busy; ``pre-compact`` and ``stop`` too. ``bare_python`` does nothing, to compare. Milliseconds. Prints one JSON object.
Bar: every exit status 0, and no run over 300 ms, nor over a second after a turn (``stop``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from daemon import new_log, sentence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.store.lock import WRITER, lock
from tests.process.pens import LinePen, linked
from tests.process.processes import environment_of
from tests.process.support import BIN
from tests.process.watching import Home
from tests.samples import PROJECT

BAR_MS = 300
STOP_BAR_MS = 1000
HOOK = str(BIN / "raw-rag")
TURNS_OF_A_SESSION = 8


def measure(words: list[str], environment: dict[str, str], project: str, runs: int) -> dict[str, Any]:
    """Wall time of so many runs, one after the other; the first one warms the file cache."""
    payload = json.dumps({"session_id": "none", "cwd": project, "hook_event_name": "SessionStart", "source": "compact"})
    took, statuses, answers = [], [], 0
    for _ in range(runs + 1):
        began = time.perf_counter()
        done = subprocess.run(words, env=environment, input=payload.encode(), capture_output=True, check=False)
        took.append((time.perf_counter() - began) * 1000)
        statuses.append(done.returncode)
        answers += bool(done.stdout)
    ordered = sorted(took[1:])
    return {
        "runs": runs, "p50": round(statistics.median(ordered), 1), "p95": round(ordered[int(0.95 * (runs - 1))], 1),
        "slowest": round(ordered[-1], 1), "over_300": sum(one > BAR_MS for one in ordered),
        "answers": answers, "statuses": sorted(set(statuses)),
    }  # fmt: skip


@contextmanager
def writing(home: str) -> Iterator[None]:
    """Another writer in the middle of a transaction."""
    with lock(home, WRITER, wait_seconds=10, purpose="a benchmark"), opened(home) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE meta SET value = value")
        yield
        connection.execute("ROLLBACK")


@contextmanager
def locked(home: str) -> Iterator[None]:
    """Nobody else can even read: SQLite does so while it recovers or checkpoints, for an instant."""
    with opened(home) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("UPDATE meta SET value = value")
        yield
        connection.execute("ROLLBACK")


@contextmanager
def opened(home: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"{home}/raw_rag.db", isolation_level=None)) as connection:
        yield connection


@contextmanager
def busy() -> Iterator[None]:
    """As many processes as there are cores, that do nothing else."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for one in spinning:
            one.kill()
            one.wait()


def made(folder: Path, sessions: int) -> dict[str, str]:
    """A home whose store holds so many sessions of one project."""
    home, chance = Home.of(folder), random.Random(4)
    for number in range(sessions):
        log = new_log(home, number)
        LinePen(log, linked(log)).say(*(sentence(chance, at) for at in range(TURNS_OF_A_SESSION)))
    ingest = [str(BIN / "raw-rag-ingest"), "--quiet", "--no-embed"]
    subprocess.run(ingest, env=environment_of(home.variables), check=True, stdout=subprocess.DEVNULL)
    return home.variables


def facts(home: str) -> dict[str, Any]:
    with opened(home) as connection:
        counts = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("sessions", "turns")
        }
    return {**counts, "megabytes": round(Path(home, "raw_rag.db").stat().st_size / 1e6, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("home", nargs="?", metavar="HOME")
    parser.add_argument("--project", default=PROJECT)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--sessions", type=int, default=2000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        variables = {"HOME": folder, "RAW_RAG_HOME": asked.home} if asked.home else made(Path(folder), asked.sessions)
        home, environment = variables["RAW_RAG_HOME"], environment_of(variables)
        start = [HOOK, "hook", "session-start"]
        found: dict[str, Any] = {"store": facts(home)}
        found["bare_python"] = measure([sys.executable, "-c", "pass"], environment, asked.project, asked.runs)
        for name, meanwhile in (
            ("session_start", nullcontext()), ("while_another_writes", writing(home)), ("database_locked", locked(home)),
            ("machine_busy", busy()),
        ):  # fmt: skip
            with meanwhile:
                found[name] = measure(start, environment, asked.project, asked.runs)
        with lock(
            home, WRITER, wait_seconds=10, purpose="a benchmark"
        ):  # what it starts in the background then has to wait
            compact = [HOOK, "hook", "pre-compact"]
            found["pre_compact"] = measure(compact, environment, asked.project, min(asked.runs, 20))
            stop = [HOOK, "hook", "stop", "--agent", next(iter(adapters()))]
            found["stop"] = measure(stop, environment, asked.project, min(asked.runs, 20))
    bars = {name: STOP_BAR_MS if name == "stop" else BAR_MS for name in found if name not in ("store", "bare_python")}
    found["within_bar"] = all(
        found[name]["statuses"] == [0] and found[name]["slowest"] <= bar for name, bar in bars.items()
    )
    print(json.dumps(found, indent=2))
    return 0 if found["within_bar"] else 1


if __name__ == "__main__":
    sys.exit(main())
