"""Captures in real processes: an acknowledged one survives a kill, and nobody who writes at the same time is in the way."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from agent_raw_rag.models import Capture
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.journal import Journal
from tests.dump import differences, dump
from tests.memory.rooms import OWNER, runtime
from tests.process.support import BIN, environment, run
from tests.process.test_kill import lay_out
from tests.process.watching import Home, end, wait_for

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.process


def capturing(home: Path, session: str, name: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.memory.capturing_process", str(home), session, name, str(count)]
    return subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )


def sound(home: Path) -> Runtime:
    room = runtime(home)
    connection = room.reader.connection
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert connection.execute("PRAGMA foreign_key_check").fetchone() is None
    assert Journal(connection).broken() is None
    return room


def test_what_was_acknowledged_before_a_kill_is_there(tmp_path: Path) -> None:
    chance, acknowledged = random.Random(3), dict[str, str]()
    for turn in range(5):
        process = capturing(tmp_path, "deploys", f"worker {turn}", 10_000)
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(chance.randint(1, 60))]
        process.send_signal(signal.SIGKILL)
        rest, errors = process.communicate()
        assert not errors
        whole = [line for line in [*lines, *rest.splitlines(keepends=True)] if line.endswith("\n")]
        acknowledged |= {
            line.split()[0]: f"worker {turn} says number {line.split()[1]} of the deploys" for line in whole
        }
    room = sound(tmp_path)
    assert acknowledged
    for event, text in acknowledged.items():
        assert room.memory.raw.event(event).text == text
    stored = room.reader.connection.execute("SELECT count(*) FROM turns").fetchone()[0]
    assert len(acknowledged) <= stored <= len(acknowledged) + 5


def test_two_processes_capture_into_one_session_while_logs_are_read(tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    for home in (calm, tmp_path):
        lay_out(home)
    run(calm, "raw-rag-ingest", "--no-embed", "--quiet")
    ingest = subprocess.Popen(
        [str(BIN / "raw-rag-ingest"), "--no-embed", "--quiet"], env=environment(tmp_path), stdin=subprocess.DEVNULL
    )
    workers = [capturing(tmp_path, "shared", name, 60) for name in ("one", "two")]
    for worker in workers:
        printed, errors = worker.communicate(timeout=100)
        assert (len(printed.splitlines()), errors, worker.returncode) == (60, "", 0)
    assert ingest.wait(timeout=100) == 0
    connection = sound(tmp_path).reader.connection
    ordinals = connection.execute(
        "SELECT t.ordinal, t.start_token, t.tokens FROM turns t JOIN sessions s ON s.id = t.session_id"
        " WHERE s.agent = 'mcp' ORDER BY t.ordinal"
    ).fetchall()
    assert [row[0] for row in ordinals] == list(range(1, 121))
    assert all(row[1] + row[2] == after[1] for row, after in pairwise(ordinals))
    alone = sqlite3.connect(calm / "store/raw_rag.db")
    logs = {name: [row for row in rows if "shared" not in row] for name, rows in dump(connection).items()}
    assert differences(dump(alone), logs) == []
    alone.close()


def test_the_first_captures_of_many_processes_make_one_store(tmp_path: Path) -> None:
    workers = [capturing(tmp_path, "shared", f"p{number}", 3) for number in range(8)]
    for worker in workers:
        printed, errors = worker.communicate(timeout=100)
        assert (len(printed.splitlines()), errors, worker.returncode) == (3, "", 0)
    assert sound(tmp_path).reader.connection.execute("SELECT count(*) FROM turns").fetchone()[0] == 24


def test_the_daemon_makes_vectors_of_what_others_capture_in_any_space(tmp_path: Path) -> None:
    home = Home.of(tmp_path, logs=False)
    with home.watching("--interval", "1") as daemon:
        root = Runtime.load(None, home.variables)
        for space in ("default", "proj"):
            root.in_space(space).memory.raw.capture(Capture(f"tea for {space}", "tester"), OWNER)
        for space in ("default", "proj"):
            room = root.in_space(space)
            wait_for(lambda room=room: room.spaces.backlog() == 0, f"vectors of {space}")  # type: ignore[misc]
        assert end(daemon) == 0
