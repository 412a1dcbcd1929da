"""Exactly once, on a folder of logs: whole, in pieces of 1 byte to 64 KB, and line by line give the same store; three more
runs add nothing.

    python benchmarks/laws_on_logs.py LOGS

Each log grows in a HOME of its own, all agents that append. Prints one JSON object; ``differences`` must be empty.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layout import lay_out

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.dump import differences, dump
from tests.store_support import Ingest

MOST_STEPS = 150
"""Runs over one log at most; the last step takes the rest."""


def whole(data: bytes) -> Iterator[int]:
    yield len(data)


def pieces(data: bytes) -> Iterator[int]:
    """1 byte to 64 KB, small ones as likely as large ones."""
    chance, place = random.Random(len(data)), 0
    for _ in range(MOST_STEPS):
        place += int(2 ** chance.uniform(0, 16))
        if place < len(data):
            yield place
    yield len(data)


def by_line(data: bytes) -> Iterator[int]:
    ends = [place + 1 for place, byte in enumerate(data) if byte == 10][:MOST_STEPS]
    yield from ends
    yield len(data)


def grow(name: str, data: bytes, steps: Iterator[int]) -> tuple[dict[str, list[tuple[Any, ...]]], int]:
    """The store after a log has grown in steps, and how much three more runs added."""
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary) / "home"
        path = home / name
        path.parent.mkdir(parents=True)
        ingest = Ingest(home, Path(temporary) / "store")
        held = 0
        for place in steps:
            with path.open("ab") as stream:
                stream.write(data[held:place])
            held = place
            ingest.run()
        more = sum(ingest.added().turns for _ in range(3))
        found = dump(ingest.connection)
        ingest.connection.close()
    return found, more


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path)
    asked = parser.parse_args()
    found: dict[str, list[str]] = {}
    logs = added = 0
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        lay_out(asked.logs, home)
        for path in sorted(home.rglob("*.jsonl")):
            name, data = path.relative_to(home).as_posix(), path.read_bytes()
            logs += 1
            expected, more = grow(name, data, whole(data))
            added += more
            for way in (pieces, by_line):
                got, more = grow(name, data, way(data))
                added += more
                if rows := differences(expected, got):
                    found[f"{name} {way.__name__}"] = rows[:5]
    print(json.dumps({"logs": logs, "added_by_more_runs": added, "differences": found}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
