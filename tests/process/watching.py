"""A real `raw-rag-ingest --watch` over sample logs of its own, and what agents do meanwhile."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import Runtime, heartbeat
from agent_raw_rag.runtime.heartbeat import DaemonState
from tests.process.processes import environment_of
from tests.process.support import BIN
from tests.samples import sample_environment

CONFIG = '[encoder]\nname = "hashing"\n[reranker]\nname = "none"\n[daemon]\nbusy_load = 0\non_battery = true\n'
DEADLINE_SECONDS = 60.0
"""For a machine that is busy with other things; nothing is said about how fast it is."""
LINES = ".claude/projects/-home-dev-uploader/7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001.jsonl"
DATABASE = ".local/share/opencode/opencode.db"
Found = TypeVar("Found")


def wait_for(question: Callable[[], Found], what: str) -> Found:
    """Ask until the answer is true."""
    deadline, pause = time.monotonic() + DEADLINE_SECONDS, threading.Event()
    while not (answer := question()):
        assert time.monotonic() < deadline, f"{what}: not within {DEADLINE_SECONDS:.0f} s"
        pause.wait(0.05)
    return answer


@dataclass
class Home:
    """A home folder with sample logs."""

    variables: dict[str, str]

    @classmethod
    def of(cls, folder: Path, config: str = CONFIG, **options: Any) -> Home:
        return cls(sample_environment(folder, config=config, **options))

    @property
    def path(self) -> Path:
        return Path(self.variables["HOME"])

    @property
    def store(self) -> Path:
        return Path(self.variables["RAW_RAG_HOME"])

    @contextmanager
    def watching(self, *options: str) -> Iterator[subprocess.Popen[str]]:
        """The daemon, from the moment on that it has read everything. It is killed if the test did not end it."""
        before = self.state().heartbeat
        process = self.start(*options)
        try:
            wait_for(lambda: self._has_begun(process, before), "the first heartbeat")
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(BIN / "raw-rag-ingest"), "--watch", *options], env=environment_of(self.variables),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def _has_begun(self, process: subprocess.Popen[str], before: heartbeat.Heartbeat | None) -> bool:
        assert process.poll() is None, process.communicate()
        state = self.state()
        beat = state.heartbeat
        return state.running and beat is not None and beat.pid == process.pid and beat != before and beat.caught_up

    def state(self) -> DaemonState:
        return heartbeat.state(str(self.store))

    def beat(self) -> heartbeat.Heartbeat:
        beat = self.state().heartbeat
        assert beat is not None
        return beat

    def finds(self, text: str) -> bool:
        """Whether a search finds a turn that says this, word for word."""
        result = Runtime.load(None, self.variables).search(text, Ask())
        return any(text in passage.text for passage in result.passages)

    def finds_soon(self, text: str) -> None:
        wait_for(lambda: self.finds(text), f"finding {text!r}")

    def turns(self) -> int:
        """Turns that are stored; 0 without a store."""
        try:
            with closing(sqlite3.connect(f"file:{self.store}/raw_rag.db?mode=ro", uri=True)) as connection:
                return int(connection.execute("SELECT count(*) FROM turns").fetchone()[0])
        except sqlite3.Error:
            return 0

    def log(self) -> str:
        return (self.store / "log" / "daemon.log").read_text(encoding="utf-8")


def say_in_lines(log: Path, *texts: str) -> None:
    """Prompts appended to a log of lines."""
    *_, last = (json.loads(line) for line in log.read_bytes().splitlines() if b'"uuid"' in line)
    before, rows = last["uuid"], []
    for text in texts:
        rows.append({
            "parentUuid": before, "isSidechain": False, "type": "user", "uuid": str(uuid.uuid4()),
            "message": {"role": "user", "content": text}, "timestamp": "2026-11-30T10:00:00.000Z", "userType": "external",
            "entrypoint": "cli", "cwd": last["cwd"], "sessionId": last["sessionId"], "version": last["version"],
        })  # fmt: skip
        before = rows[-1]["uuid"]
    with log.open("a", encoding="utf-8") as stream:
        stream.write("".join(f"{json.dumps(row)}\n" for row in rows))


def say_in_database(database: Path, text: str) -> None:
    """A prompt as its agent writes it: rows in a database in write-ahead-log mode."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        say_in_rows(connection, text)


def say_in_rows(connection: sqlite3.Connection, text: str) -> None:
    """The same over a connection that stays open."""
    (session,) = connection.execute("SELECT id FROM session").fetchone()
    (newest,) = connection.execute("SELECT max(time_created) FROM part").fetchone()
    now, name = newest + 1000, uuid.uuid4().hex[:12]
    with connection:
        connection.execute(
            "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)",
            (f"msg_z{now:x}{name}", session, now, now, json.dumps({"role": "user", "time": {"created": now}})),
        )
        connection.execute(
            "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?, ?)",
            (
                f"prt_z{now:x}{name}",
                f"msg_z{now:x}{name}",
                session,
                now,
                now,
                json.dumps({"type": "text", "text": text}),
            ),
        )
        connection.execute("UPDATE session SET time_updated = ? WHERE id = ?", (now, session))


def end(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> int:
    """The exit status after a signal."""
    os.kill(process.pid, number)
    return process.wait(timeout=DEADLINE_SECONDS)
