"""An ingest that is killed at any moment leaves a sound store, and the next one ends where an undisturbed one does."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.dump import differences, dump
from tests.process.support import BIN, environment, run

LOGS = Path(__file__).parents[1] / "logs"
ROUNDS = 12
pytestmark = pytest.mark.process


def lay_out(home: Path) -> None:
    for version in sorted((LOGS / "claude").iterdir()):
        if version.is_dir():
            shutil.copytree(version, home / ".claude", dirs_exist_ok=True)
    for version in sorted((LOGS / "codex").iterdir()):
        if version.is_dir():
            shutil.copytree(version, home / ".codex", dirs_exist_ok=True)


def held(home: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(home / "store/raw_rag.db")
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    found = dump(connection)
    connection.close()
    return found


def test_killed_again_and_again_the_store_ends_up_the_same(tmp_path: Path) -> None:
    calm, wild = tmp_path / "calm", tmp_path / "wild"
    for home in (calm, wild):
        lay_out(home)
    run(calm, "raw-rag-ingest", "--no-embed", "--quiet")
    chance = random.Random(7)
    for _ in range(ROUNDS):
        process = subprocess.Popen(
            [str(BIN / "raw-rag-ingest"), "--no-embed", "--quiet"], env=environment(wild),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(timeout=chance.uniform(0.3, 1.4))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    run(wild, "raw-rag-ingest", "--no-embed", "--quiet")
    assert differences(held(wild), held(calm)) == []
