"""The memory layer: how long its calls take.

    python benchmarks/memory.py raw [--turns 100000] [--calls 500] [--processes 4]
    python benchmarks/memory.py recall [--notes 10000] [--calls 500]

Makes a throw-away home, fills it, measures single calls in this process and then in several at once, and prints one JSON
object. Milliseconds; ``cpu`` is what the calls cost this process, on a machine that does other things too.
Bar of ``recall``: p95 10 ms at 10,000 notes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

from agent_raw_rag.memory.notes import Save
from agent_raw_rag.memory.raw_search import RawQuery
from agent_raw_rag.memory.recall import RecallAsk
from agent_raw_rag.memory.statements import KINDS, statement_hash
from agent_raw_rag.models import Actor, Capture, CleanText, Role
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.backlogs import feed_words
from agent_raw_rag.store.notes import NoteRow, NoteRows

ACTOR = Actor("owner", "cli")
START = 1_700_000_000_000
SESSION_TURNS = 50
BATCH = 2000
SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zu", "dal", "gor", "fen", "pim", "tus"]


class Prose:
    """Texts of made-up words, a few of them common and most of them rare, as in speech."""

    def __init__(self, seed: int, words: int = 20_000) -> None:
        chance = random.Random(11)
        self.words = sorted({"".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(words)})
        chance.shuffle(self.words)
        self.weights = [1 / (rank + 3) for rank in range(len(self.words))]
        self.chance = random.Random(seed)

    def text(self, least: int, most: int) -> str:
        return " ".join(self.chance.choices(self.words, self.weights, k=self.chance.randint(least, most)))


def captures(turns: int) -> Iterator[Capture]:
    prose = Prose(1)
    for number in range(turns):
        role = (Role.USER, Role.ASSISTANT)[number % 2]
        yield Capture(
            prose.text(8, 120), f"agent-{number % 7}", session=f"s{number // SESSION_TURNS}", role=role,
            host_turn_id=str(number), time=START + number * 1000,
        )  # fmt: skip


def fill(room: Runtime, turns: int) -> None:
    batch: list[Capture] = []
    for one in captures(turns):
        batch.append(one)
        if len(batch) == BATCH:
            room.memory.raw.capture_all(batch, ACTOR)
            batch = []
    if batch:
        room.memory.raw.capture_all(batch, ACTOR)
    feed_words(room)


def runtime(home: str) -> Runtime:
    return Runtime.load(environment={"HOME": home, "RAW_RAG_HOME": home})


Times = list[tuple[float, float]]
"""Milliseconds of each call: by the clock, and of this thread's own work, which other processes do not change."""


def timed(call: Callable[[int], Any], calls: int) -> Times:
    spent = []
    for number in range(calls):
        began, worked = time.perf_counter(), time.thread_time()
        call(number)
        spent.append(((time.perf_counter() - began) * 1000, (time.thread_time() - worked) * 1000))
    return spent


def summary(spent: Times) -> dict[str, float]:
    clock, work = sorted(one for one, _ in spent), sorted(one for _, one in spent)
    found = {"mean": statistics.fmean(clock), "max": clock[-1]}
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        found[name] = clock[min(len(clock) - 1, int(len(clock) * share))]
    found["work_p50"], found["work_p95"] = work[len(work) // 2], work[int(len(work) * 0.95)]
    return {name: round(value, 2) for name, value in found.items()}


def capture_calls(home: str, name: str, calls: int) -> Times:
    raw, prose = runtime(home).memory.raw, Prose(os.getpid())
    raw.capture(Capture("warm", name), ACTOR)
    return timed(
        lambda number: raw.capture(
            Capture(prose.text(8, 120), name, session=f"{name}-{number // 20}", host_turn_id=str(number), time=START),
            ACTOR,
        ),
        calls,
    )


def search_calls(home: str, name: str, calls: int) -> Times:
    raw, prose = runtime(home).memory.raw, Prose(os.getpid())
    raw.search(RawQuery("warm"))
    return timed(lambda number: raw.search(RawQuery(prose.text(2, 6))), calls)


def _work(what: str, home: str, name: str, calls: int, answers: Any) -> None:
    answers.put((what, {"capture": capture_calls, "search": search_calls}[what](home, name, calls)))


def together(home: str, processes: int, calls: int) -> dict[str, dict[str, float]]:
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    workers = [
        spawn.Process(target=_work, args=(what, home, f"{what}{number}", calls, answers))
        for number in range(processes) for what in ("capture", "search")
    ]  # fmt: skip
    for worker in workers:
        worker.start()
    spent: dict[str, Times] = {"capture": [], "search": []}
    for _ in workers:
        what, times = answers.get()
        spent[what] += times
    for worker in workers:
        worker.join()
    return {what: summary(times) for what, times in spent.items()}


def raw(turns: int, calls: int, processes: int) -> dict[str, Any]:
    """Captures and raw searches over so many turns."""
    with tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        fill(runtime(home), turns)
        filled = time.perf_counter() - began
        return {
            "turns": turns,
            "fill_seconds": round(filled, 1),
            "fill_turns_per_second": round(turns / filled),
            "capture": summary(capture_calls(home, "alone", calls)),
            "search": summary(search_calls(home, "alone", calls)),
            f"{processes}+{processes} processes": together(home, processes, calls),
        }


def fill_notes(room: Runtime, notes: int) -> None:
    prose, kinds = Prose(2), random.Random(3)
    with room.memory.store.write() as connection:
        rows = NoteRows(connection)
        for number in range(notes):
            text = CleanText(f"{prose.text(8, 25)} {number}")
            rows.add(
                NoteRow(
                    f"n{number:020x}", kinds.choice(KINDS), text, statement_hash(text), CleanText("bench"),
                    START + number * 1000, START + number * 1000, author="bench",
                )
            )  # fmt: skip


def recall(notes: int, calls: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        room, prose = runtime(home), Prose(4)
        fill_notes(room, notes)
        kept = room.memory.notes
        first = timed(lambda _: kept.recall(RecallAsk("warm")), 1)[0]

        def ask(least: int, most: int) -> Callable[[int], Any]:
            return lambda number: kept.recall(RecallAsk(prose.text(least, most), limit=(5, 20)[number % 2]))

        def save(number: int) -> Any:
            return kept.save(Save(f"{prose.text(8, 25)} new{number}", "bench", kind="fact"), ACTOR)

        def save_and_recall(number: int) -> Any:
            save(number)
            return ask(2, 8)(number)

        began = time.process_time()
        asked = timed(ask(2, 8), calls)
        cpu = (time.process_time() - began) * 1000 / calls
        return {
            "notes": notes,
            "first recall": round(first, 1),
            "recall, 2-8 words": {**summary(asked), "cpu": round(cpu, 2)},
            "recall, 40-80 words": summary(timed(ask(40, 80), calls)),
            "save": summary(timed(save, calls)),
            "save, then recall": summary(timed(save_and_recall, calls)),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["raw", "recall"])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--processes", type=int, default=4)
    given = parser.parse_args()
    told = raw(given.turns, given.calls, given.processes) if given.what == "raw" else recall(given.notes, given.calls)
    print(json.dumps(told, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
