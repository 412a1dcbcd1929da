"""Kill test: an ingest of a folder of logs, killed at random moments, ends up as an undisturbed one.

    python benchmarks/kill.py LOGS [--kills 50]

Prints one JSON object; ``differences`` must be empty.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from layout import environment, lay_out

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.dump import differences, dump

COMMAND = [str(Path(sys.executable).parent / "raw-rag-ingest"), "--quiet", "--no-embed"]


def held(store: Path) -> tuple[dict[str, list[tuple[Any, ...]]], str]:
    connection = sqlite3.connect(store / "raw_rag.db")
    found = dump(connection), connection.execute("PRAGMA integrity_check").fetchone()[0]
    connection.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("logs", type=Path)
    parser.add_argument("--kills", type=int, default=50)
    asked = parser.parse_args()
    chance = random.Random(50)
    with tempfile.TemporaryDirectory() as temporary:
        home, calm, wild = (Path(temporary) / name for name in ("home", "calm", "wild"))
        lay_out(asked.logs, home)
        began = time.perf_counter()
        subprocess.run(COMMAND, env=environment(home, calm), check=True, stdout=subprocess.DEVNULL)
        whole = time.perf_counter() - began
        killed = number = 0
        while killed < asked.kills:
            number += 1
            again = ["--rebuild"] if number >= 10 else []  # later rounds would find nothing new
            process = subprocess.Popen(
                [*COMMAND, *again], env=environment(home, wild), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                process.wait(timeout=chance.uniform(0.3, max(0.5, 0.8 * whole)))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
        subprocess.run(COMMAND, env=environment(home, wild), check=True, stdout=subprocess.DEVNULL)
        (undisturbed, _), (found, sound) = held(calm), held(wild)
    print(
        json.dumps(
            {
                "runs": number,
                "killed": killed,
                "undisturbed_seconds": whole,
                "turns": len(found["turns"]),
                "chunks": len(found["chunks"]),
                "integrity_check": sound,
                "differences": differences(undisturbed, found),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
