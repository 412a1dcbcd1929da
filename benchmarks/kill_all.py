"""Kill test of everything at once: stdio servers that search, the daemon that reads, agents that write; one dies every 2 s.

    python benchmarks/kill_all.py [LOGS] [--rounds 100] [--every 2] [--servers 8] [--logs-made 300] [--megabytes 30]

Eight real servers are asked by the official client without a pause, one real ``raw-rag-ingest --watch`` follows the sample logs
of five agents, to which threads of prompts are appended all the while (lines, torn ones too, and rows of a database). Every
so many seconds one of the nine, taken by chance, gets ``kill -9`` and is started again at once. So that there is work to be cut
off, the home also holds a backlog: so many logs of prompts and one long log, or with LOGS (see ``layout.py``) those logs.

Prints one JSON object; Prints one JSON object; ``cpu_share_of_others`` is what somebody else used of the machine. Bars: the
``integrity_check`` is ok; no turn is lost or doubled, and nothing differs from a store that is made of the same logs in one go;
vectors, vector cache and lexical index hold exactly the chunks after the last catch-up; no error that a kill does not explain;
no answered call over 5 s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import anyio
import psutil
from layout import lay_out

from agent_raw_rag.runtime import Runtime
from daemon import CONFIG, new_log, sentence
from ingest import renewed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.process.aftermath import aftermath
from tests.process.pens import WORDS, LinePen, Writing, linked, pens
from tests.process.processes import environment_of
from tests.process.unrest import DAEMON, Unrest
from tests.process.watching import LINES, Home

BAR_SECONDS = 5.0
TURNS_OF_A_LOG = 8
LARGE = 1 << 20
QUESTIONS = [
    *(one for one in Path(__file__).with_name("questions.txt").read_text(encoding="utf-8").splitlines() if one.strip()),
    *(f"What was said about the {one} and the {other}?" for one, other in zip(WORDS, WORDS[3:], strict=False)),
]


async def unrest(home: Home, asked: argparse.Namespace, stderr: Path) -> dict[str, Any]:
    """All rounds; what was heard."""
    chance, killed = random.Random(asked.seed), dict.fromkeys(("the daemon", "a server"), 0)
    with stderr.open("w", encoding="utf-8") as log:
        going = Unrest(environment_of(home.variables), QUESTIONS, log)
        async with going.going_on(asked.servers):
            await going.settled(lambda: len(going.seats) == asked.servers + 1)
            for _ in range(asked.rounds):
                await going.pause(asked.every)
                going.kill(name := chance.choice(sorted(going.seats)))
                killed["the daemon" if name == DAEMON else "a server"] += 1
            await going.pause(asked.every)
    heard = going.heard
    return {
        "killed": killed, "answered_calls": len(heard.seconds), "calls_cut_by_a_kill": heard.cut,
        "errors_no_kill_explains": heard.errors, "answers_without_a_passage": heard.empty,
        "call_seconds": spread(heard.seconds), "first_call_seconds": spread(heard.firsts),
        "handshake_seconds": spread(heard.starts),
    }  # fmt: skip


def spread(seconds: list[float]) -> dict[str, float]:
    if not seconds:
        return {}
    return {
        "p50": round(statistics.median(seconds), 3), "p99": round(sorted(seconds)[int(0.99 * (len(seconds) - 1))], 3),
        "slowest": round(max(seconds), 3),
    }  # fmt: skip


def backlog(home: Home, asked: argparse.Namespace, folder: Path) -> None:
    """A store that can be searched, and work for the daemon to be cut off in."""
    Runtime.load(None, home.variables).ingest(embed=False)
    if asked.logs is not None:
        lay_out(asked.logs, folder / "given")
        subprocess.run(["cp", "-rn", f"{folder / 'given'}/.", home.path], check=False)
        return
    chance = random.Random(asked.seed)
    for number in range(asked.logs_made):
        log = new_log(home, number)
        LinePen(log, linked(log)).say(*(sentence(chance, at) for at in range(TURNS_OF_A_LOG)))
    large(home, asked.megabytes)


def large(home: Home, megabytes: float) -> None:
    """One log so long that it is read ahead by a process of its own: mostly output of tools, of which little is kept."""
    log = new_log(home, LARGE)
    told = next(line for line in (home.path / LINES).read_bytes().splitlines() if b'"tool_result"' in line)
    row = json.loads(told)
    row["message"]["content"][0]["content"] = "all is well " * 2000
    with log.open("wb") as stream:
        for number in range(round(megabytes * 1e6 / len(json.dumps(row)))):
            stream.writelines(renewed([json.dumps(row).encode()], 1 << 24 | number))


def used() -> tuple[float, float, float]:
    """Seconds of all cores so far: busy, of these by this process and all it started and saw the end of, and idle."""
    times, own = psutil.cpu_times(), os.times()
    idle = times.idle + times.iowait
    return sum(times[:8]) - idle, sum(own[:4]), idle


def complaints(home: Home, stderr: Path) -> dict[str, int]:
    """Tracebacks, by where they were written."""
    logs = {"stderr": [stderr], "daemon_log": sorted((home.store / "log").glob("*"))}
    texts = {name: [one.read_text(encoding="utf-8", errors="replace") for one in files] for name, files in logs.items()}
    return {name: sum(text.count("Traceback") for text in found) for name, found in texts.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--every", type=float, default=2.0)
    parser.add_argument("--servers", type=int, default=8)
    parser.add_argument("--logs-made", type=int, default=300)
    parser.add_argument("--megabytes", type=float, default=30)
    parser.add_argument("--encoder", default="embedded")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="a new folder for all files, to look at afterwards")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        home = Home.of(
            folder / "h", config=CONFIG.format(encoder=asked.encoder).replace('[reranker]\nname = "none"\n', "")
        )
        backlog(home, asked, folder)
        writing, began, before = Writing(pens(home.path), seed=asked.seed), time.perf_counter(), used()
        writing.start()
        try:
            heard = anyio.run(unrest, home, asked, folder / "stderr")
        finally:
            said = writing.end()
        seconds, (busy, own, idle) = (
            time.perf_counter() - began,
            (now - then for now, then in zip(used(), before, strict=True)),
        )
        others = round((busy - own) / (busy + idle), 3)
        after = aftermath(home.variables, said, folder / "once")
        found = {
            "rounds": asked.rounds, "every_seconds": asked.every, "servers": asked.servers, "encoder": asked.encoder,
            "seconds": round(seconds), "cpu_share_of_others": others, "said_meanwhile": len(said), **heard,
            "tracebacks": complaints(home, folder / "stderr"),
            "last_catch_up_seconds": round(time.perf_counter() - began - seconds),
            **asdict(replace(after, differences=after.differences[:20])), "differing_rows": len(after.differences),
        }  # fmt: skip
    slowest = found["call_seconds"].get("slowest", 0.0)
    quiet = not found["errors_no_kill_explains"] and not any(found["tracebacks"].values())
    found["within_bar"] = after.is_sound and quiet and slowest <= BAR_SECONDS
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0 if found["within_bar"] else 1


if __name__ == "__main__":
    sys.exit(main())
