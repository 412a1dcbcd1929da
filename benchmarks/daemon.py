"""The daemon: how soon a line is found, what idling costs, how soon it ends, and whether memory grows over a day of work.

    python benchmarks/daemon.py latency [--lines 50]
    python benchmarks/daemon.py idle [--sources 2000] [--minutes 10]
    python benchmarks/daemon.py ending [--rounds 5] [--sources 2000]
    python benchmarks/daemon.py replay [--hours 24] [--speed 100] [--sessions 4]

Each starts a real ``raw-rag-ingest --watch`` over logs of its own in a temporary home, and prints one JSON object.

- ``latency``: a prompt is appended to a log of lines, or written as rows to a database in write-ahead-log mode, and a real stdio
  server is asked by ``raw_rag_search`` until it finds it: the median and the worst, in seconds. The search's own time is in it.
- ``idle``: the daemon reads so many sources, settles for a minute, and is then left alone. CPU time and bytes read are those of
  ``/proc/PID/stat`` and ``/proc/PID/io`` (``rchar``: what it asked for, from whatever cache).
- ``ending``: SIGTERM while the first read of so many sources runs, while vectors are made of it, and while nothing happens:
  seconds to the end of the process, and what a plain run afterwards finds to add. Bar: 5 s.
- ``replay``: so many sessions speak as agents do (a prompt, then an answer with actions, each 45 s on average), so much faster.
  Resident memory is taken 96 times; flat means: the largest of the last quarter is within 10 % of that of the second quarter.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil
from layout import environment
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from ingest import renewed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import Runtime, heartbeat
from tests.process.watching import DATABASE, LINES, Home, say_in_lines, say_in_rows

CONFIG = '[reranker]\nname = "none"\n[daemon]\nbusy_load = 0\non_battery = true\n[encoder]\nname = "{encoder}"\n'
WORDS = (
    "retry offset upload session cursor heron codec frame index vector commit branch schema socket timeout".split()  # noqa: SIM905
)
START_SECONDS = 1800.0
HOUR = 3600.0


@contextmanager
def daemon(home: Home, *options: str) -> Iterator[psutil.Process]:
    """A daemon that has read everything, until it is ended in good order."""
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "raw-rag-ingest"), "--watch", *options], env=environment(home.path, home.store),
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until(lambda: caught_up(home, process.pid), START_SECONDS)
        yield psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def caught_up(home: Home, pid: int) -> bool:
    beat = heartbeat.read(str(home.store))
    return beat is not None and beat.pid == pid and beat.caught_up


def until(question: Callable[[], bool], seconds: float, pause: float = 0.02) -> float:
    """Seconds until the answer was yes."""
    began = time.perf_counter()
    while not question():
        if time.perf_counter() - began > seconds:
            raise SystemExit(f"not within {seconds:.0f} s")
        time.sleep(pause)
    return time.perf_counter() - began


# ---------------------------------------------------------------- latency


def latency(home: Home, lines: int) -> dict[str, Any]:
    with daemon(home), closing(sqlite3.connect(home.path / DATABASE)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        found = anyio.run(
            both_found, environment(home.path, home.store), lines,
            lambda text: say_in_lines(home.path / LINES, text), lambda text: say_in_rows(connection, text),
        )  # fmt: skip
    return {name: spread(seconds) for name, seconds in found.items()}


async def both_found(variables: dict[str, str], lines: int, *ways: Callable[[str], None]) -> dict[str, list[float]]:
    """Seconds until a server finds what was said in either way."""
    start = StdioServerParameters(command=str(Path(sys.executable).parent / "agent-raw-rag-mcp"), env=variables)
    async with Client(stdio_client(start)) as client:
        await answer(client, "a first question")
        into = [[await found_after(client, say) for _ in range(lines)] for say in ways]
    return dict(zip(("lines", "database"), into, strict=True))


async def answer(client: Client, query: str) -> list[str]:
    """What the passages say."""
    found = await client.call_tool("raw_rag_search", {"query": query, "project_path": "*"})
    if found.is_error:
        raise SystemExit(found.content)
    return [one["text"] for one in (found.structured_content or {})["passages"]]


async def found_after(client: Client, say: Callable[[str], None]) -> float:
    mark = f"quokka{uuid.uuid4().hex[:10]}"
    await anyio.sleep(random.uniform(0.2, 1.2))  # at any phase of whatever is periodic in the daemon
    say(f"Remember the word {mark} for the {random.choice(WORDS)}.")
    began = time.perf_counter()
    while not any(mark in text for text in await answer(client, mark)):
        if time.perf_counter() - began > 60:
            raise SystemExit(f"{mark} is not found within 60 s")
        await anyio.sleep(0.02)
    return time.perf_counter() - began


def spread(seconds: list[float]) -> dict[str, float]:
    return {
        "count": len(seconds), "median_seconds": round(statistics.median(seconds), 3),
        "p95_seconds": round(sorted(seconds)[int(0.95 * (len(seconds) - 1))], 3), "worst_seconds": round(max(seconds), 3),
    }  # fmt: skip


# ---------------------------------------------------------------- idle


def idle(home: Home, sources: int, minutes: float) -> dict[str, Any]:
    copies(home, sources)
    with daemon(home) as process:
        until(lambda: heartbeat.read(str(home.store)).backlog == 0, START_SECONDS, pause=1.0)  # type: ignore[union-attr]
        time.sleep(60)
        before, began = taken(process), time.monotonic()
        time.sleep(minutes * 60)
        after, elapsed = taken(process), time.monotonic() - began
    used = {name: after[name] - before[name] for name in before}
    return {
        "sources": sources, "minutes": round(elapsed / 60, 2),
        "cpu_share_of_a_core": round(used["cpu"] / elapsed, 6),
        "read_bytes_an_hour": round(used["rchar"] / elapsed * HOUR),
        "from_disk_bytes_an_hour": round(used["read_bytes"] / elapsed * HOUR),
        "written_bytes_an_hour": round(used["wchar"] / elapsed * HOUR),
        "wakes_an_hour": round(used["switches"] / elapsed * HOUR),
        "rss_mb": round(after["rss"] / 1e6, 1),
    }  # fmt: skip


def taken(process: psutil.Process) -> dict[str, float]:
    io, times = process.io_counters(), process.cpu_times()
    return {
        "cpu": times.user + times.system, "rchar": io.read_chars, "wchar": io.write_chars, "read_bytes": io.read_bytes,
        "switches": process.num_ctx_switches().voluntary, "rss": process.memory_info().rss,
    }  # fmt: skip


def copies(home: Home, sources: int) -> None:
    """The sample session under so many ids, in folders of forty."""
    sample = (home.path / LINES).read_bytes().splitlines()
    for number in range(1, sources + 1):
        (session,) = renewed([Path(LINES).stem.encode()], number)
        folder = home.path / ".claude/projects" / f"-work-{number // 40}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{session.decode().strip()}.jsonl").write_bytes(b"".join(renewed(sample, number)))


# ---------------------------------------------------------------- ending


def ending(home: Home, rounds: int, sources: int) -> dict[str, Any]:
    copies(home, sources)
    reading = [ended(home, random.uniform(1.0, 4.0)) for _ in range(rounds)]
    Runtime.load(None, environment(home.path, home.store)).ingest(embed=False)
    embedding = [ended(home, random.uniform(6.0, 9.0)) for _ in range(rounds)]
    Runtime.load(None, environment(home.path, home.store)).ingest()
    idling = [ended(home, random.uniform(6.0, 9.0)) for _ in range(rounds)]
    after = Runtime.load(None, environment(home.path, home.store)).ingest(embed=False)
    parts = {"reading": reading, "embedding": embedding, "idling": idling}
    worst = max(max(one) for one in parts.values())
    return {
        **{name: spread(seconds) for name, seconds in parts.items()}, "bar_seconds": 5, "within_bar": worst <= 5,
        "new_turns_afterwards": sum(one.new_turns for one in after.agents.values()),
    }  # fmt: skip


def ended(home: Home, after_seconds: float) -> float:
    """Seconds from SIGTERM to the end of a daemon that has run so long."""
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "raw-rag-ingest"), "--watch"], env=environment(home.path, home.store),
        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(after_seconds)
    if process.poll() is not None:
        raise SystemExit(f"the daemon ended by itself, with status {process.returncode}")
    began = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    if process.wait(timeout=60) != 0:
        raise SystemExit(f"SIGTERM ended it with status {process.returncode}")
    return time.perf_counter() - began


# ---------------------------------------------------------------- replay


def replay(home: Home, hours: float, speed: float, sessions: int) -> dict[str, Any]:
    chance = random.Random(7)
    logs = [new_log(home, number) for number in range(sessions)]
    samples: list[tuple[float, int]] = []
    said = 0
    with daemon(home) as process:
        began, length = time.monotonic(), hours * HOUR / speed
        before, next_sample = taken(process), 0.0
        while (now := time.monotonic() - began) < length:
            if now >= next_sample:
                samples.append((round(now, 1), process.memory_info().rss))
                next_sample += length / 96
            place = chance.randrange(sessions)
            if chance.random() < 0.01:
                logs[place] = new_log(home, sessions + said)
            say_in_lines(logs[place], sentence(chance, said))
            said += 1
            time.sleep(chance.expovariate(sessions / (45 / speed)))
        used = taken(process)["cpu"] - before["cpu"]
        until(lambda: any(f"remark{said - 1}" in one.text for one in search(home, f"remark{said - 1}")), 60)
    quarters = [max(rss for at, rss in samples if part <= at / length * 4 < part + 1) / 1e6 for part in range(4)]
    return {
        "hours": hours, "speed": speed, "turns": said, "cpu_share_of_a_core": round(used / length, 4),
        "rss_mb_quarters": [round(one, 1) for one in quarters],
        "rss_growth": round(quarters[3] / quarters[1] - 1, 4), "samples": len(samples),
    }  # fmt: skip


def search(home: Home, text: str) -> list[Any]:
    return list(Runtime.load(None, environment(home.path, home.store)).search(text, Ask()).passages)


def new_log(home: Home, number: int) -> Path:
    first = next(line for line in (home.path / LINES).read_bytes().splitlines() if b'"uuid"' in line)
    ((session,), (line,)) = (list(renewed([one], 1 << 20 | number)) for one in (Path(LINES).stem.encode(), first))
    path = home.path / ".claude/projects" / f"-replay-{number % 7}" / f"{session.decode().strip()}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(line)
    return path


def sentence(chance: random.Random, number: int) -> str:
    return f"remark{number} " + " ".join(chance.choices(WORDS, k=chance.randrange(20, 200)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="auto", help="of the daemon (default: auto)")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("latency")
    one.add_argument("--lines", type=int, default=50)
    one = commands.add_parser("idle")
    one.add_argument("--sources", type=int, default=2000)
    one.add_argument("--minutes", type=float, default=10)
    one = commands.add_parser("ending")
    one.add_argument("--rounds", type=int, default=5)
    one.add_argument("--sources", type=int, default=2000)
    one = commands.add_parser("replay")
    one.add_argument("--hours", type=float, default=24)
    one.add_argument("--speed", type=float, default=100)
    one.add_argument("--sessions", type=int, default=4)
    asked = vars(parser.parse_args())
    command, encoder = asked.pop("command"), asked.pop("encoder")
    with tempfile.TemporaryDirectory() as folder:
        home = Home.of(Path(folder), config=CONFIG.format(encoder=encoder))
        measured = {"latency": latency, "idle": idle, "ending": ending, "replay": replay}[command](home, **asked)
    print(json.dumps({command: measured, "encoder": encoder}, indent=2))


if __name__ == "__main__":
    main()
