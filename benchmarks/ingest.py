"""Ingest: speed against a bare json + FTS5 loop, memory on a large log, the cost of one appended line, and of no change.

    python benchmarks/ingest.py LOGS [--megabytes 500] [--sources 1000]

LOGS: a folder of collected logs as ``layout.py`` describes. Prints one JSON object. Each measurement of the product is
a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from layout import environment

UUID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
NATIVE = re.compile(rb"\b(msg_|toolu_|req_)(\w+)")


def claude_lines(logs: Path) -> list[bytes]:
    lines = []
    for path in sorted((logs / "claude/projects").rglob("*.jsonl")):
        if not path.name.startswith("agent-"):
            lines += [line for line in path.read_bytes().split(b"\n") if _whole(line)]
    return lines


def _whole(line: bytes) -> bool:
    """The yardstick can read it: no torn lines, and objects only."""
    try:
        return isinstance(json.loads(line.decode("utf-8", "replace")), dict)
    except ValueError:
        return False


def renewed(lines: list[bytes], number: int) -> Iterator[bytes]:
    """The same lines under new ids."""
    mark = f"{number:08x}".encode()
    for line in lines:
        yield NATIVE.sub(rb"\g<1>\g<2>" + mark, UUID.sub(mark + rb"\g<1>", line)) + b"\n"


def big_log(lines: list[bytes], path: Path, megabytes: float) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    size = number = 0
    with path.open("wb") as stream:
        while size < megabytes * 1e6:
            number += 1
            for line in renewed(lines, number):
                size += stream.write(line)
    return size


def many_logs(lines: list[bytes], folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        part = lines[(number * 7) % len(lines) :][:8]
        name = f"{number:08x}-0000-4000-8000-000000000000.jsonl"
        (folder / name).write_bytes(b"".join(renewed(part, number + 1)))


def reference(path: Path, text_of: Callable[[Any], str]) -> float:
    """The yardstick: every line through ``json.loads``, its text into an FTS5 table."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(f"{folder}/fts.db")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
        with path.open("rb") as stream:
            for line in stream:
                connection.execute("INSERT INTO t VALUES (?)", (text_of(json.loads(line.decode("utf-8", "replace"))),))
        connection.commit()
        connection.close()
    return time.perf_counter() - began


def words(row: Any) -> str:
    """The text of a line: what a person said and what the model said."""
    content = row.get("message", {}).get("content", "") if isinstance(row.get("message"), dict) else ""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text") or "" for block in content if isinstance(block, dict))


def all_text(row: Any) -> str:
    """All text of a line's message, the output of tools too."""
    found: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list | dict):
            for item in value.values() if isinstance(value, dict) else value:
                collect(item)

    collect(row.get("message"))
    return "\n".join(found)


CHILD = """
import json, resource, sys, time
from agent_raw_rag.runtime import Runtime
runtime = Runtime.load()
runtime.tokenizer.encode("warm")
runtime.agents()
import agent_raw_rag.ingest.run, agent_raw_rag.lexical.index  # what an import costs is not ingest
began = time.perf_counter()
report = runtime.ingest(embed=False)
seconds = time.perf_counter() - began
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"seconds": seconds, "rss_mb": usage.ru_maxrss / 1024,
  "turns": sum(a.new_turns for a in report.agents.values()), "chunks": sum(a.chunks for a in report.agents.values())}))
"""


def product(home: Path, store: Path) -> dict[str, Any]:
    """An ingest in a process of its own: what it prints, and the peak of its whole process tree, sampled."""
    process = psutil.Popen([sys.executable, "-c", CHILD], env=environment(home, store), stdout=subprocess.PIPE)
    peak = 0
    while process.poll() is None:
        with suppress(psutil.Error):
            tree = [process, *process.children(recursive=True)]
            peak = max(peak, sum(one.memory_info().rss for one in tree))
        time.sleep(0.05)
    assert process.returncode == 0 and process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.read())
    return {**found, "tree_rss_mb": peak / (1 << 20)}


def first_ingest(lines: list[bytes], folder: Path, megabytes: float) -> dict[str, Any]:
    home = folder / "home-big"
    log = home / ".claude/projects/-big/00000000-0000-4000-8000-00000000000b.jsonl"
    size = big_log(lines, log, megabytes)
    ours = product(home, folder / "store-big")
    said, everything = reference(log, words), reference(log, all_text)
    return {
        "megabytes": size / 1e6, **ours, "megabytes_per_second": size / 1e6 / ours["seconds"],
        "reference_said_seconds": said, "ratio_to_said": said / ours["seconds"],
        "reference_all_text_seconds": everything, "ratio_to_all_text": everything / ours["seconds"],
        "bar_speed_ratio": 0.5, "bar_rss_mb": 250,
        "bar_megabytes_per_second": 27,
    }  # fmt: skip


def append_one(lines: list[bytes], folder: Path) -> dict[str, Any]:
    """What one appended line costs in a running process: reading, storing, cutting and indexing it."""
    home, store = folder / "home-append", folder / "store-append"
    log = home / ".claude/projects/-append/00000000-0000-4000-8000-00000000000a.jsonl"
    big_log(lines, log, 20)
    done = subprocess.run(
        [sys.executable, __file__, "--append", str(log)],
        env=environment(home, store),
        check=True,
        stdout=subprocess.PIPE,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def append_in_process(log: Path) -> dict[str, Any]:
    from agent_raw_rag.runtime import Runtime

    runtime = Runtime.load()
    runtime.ingest(embed=False)
    times, rewritten, written = [], 0, 0
    for number in range(20):
        line = {
            "type": "user", "uuid": f"00000000-0000-4000-8000-{number:012}", "cwd": "/x",
            "timestamp": f"2026-11-30T10:00:{number:02}Z",
            "message": {"role": "user", "content": f"one more question, number {number}"},
        }  # fmt: skip
        with log.open("ab") as stream:
            stream.write(json.dumps(line).encode() + b"\n")
        before = rows(Path(runtime.home))
        began = time.perf_counter()
        runtime.ingest(["claude"], embed=False)
        times.append((time.perf_counter() - began) * 1000)
        after = rows(Path(runtime.home))
        written += len(after - before)
        rewritten += len(before - after)
    times.sort()
    return {
        "median_ms": times[10], "slowest_ms": times[-1], "bar_ms": 50,
        "rows_written_per_line": written / 20, "old_rows_changed_per_line": rewritten / 20,
    }  # fmt: skip


def rows(store: Path) -> set[tuple[Any, ...]]:
    connection = sqlite3.connect(store / "raw_rag.db")
    found = {
        tuple(row) for row in connection.execute("SELECT id, session_id, ordinal, text, start_token, tokens FROM turns")
    }
    found |= {tuple(row) for row in connection.execute("SELECT id, place, text, hash FROM chunks")}
    connection.close()
    return found


def no_change(lines: list[bytes], folder: Path, count: int) -> dict[str, Any]:
    home, store = folder / "home-many", folder / "store-many"
    many_logs(lines, home / ".claude/projects/-many", count)
    first = product(home, store)
    again = [product(home, store)["seconds"] for _ in range(3)]
    return {"sources": count, "first_seconds": first["seconds"], "again_seconds": sorted(again), "bar_seconds": 0.5}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path, nargs="?")
    parser.add_argument("--append", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--sources", type=int, default=1000)
    asked = parser.parse_args()
    if asked.append:
        print(json.dumps(append_in_process(asked.append)))
        return
    lines = claude_lines(asked.logs)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = {
            "first": first_ingest(lines, folder, asked.megabytes),
            "append": append_one(lines, folder),
            "no_change": no_change(lines, folder, asked.sources),
            "self_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
