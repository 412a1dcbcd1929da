"""The hook that an agent runs when it has finished a turn: taken in once, whatever becomes of its log."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.connect.stop import Way, take
from agent_raw_rag.errors import UsageError
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.lock import DAEMON, lock
from tests.ingest.claude_log import AGENT, folder, lines
from tests.process.memory_client import command
from tests.process.processes import RAW_RAG, environment_of, run
from tests.samples import sample_environment

pytestmark = pytest.mark.process

START = "from agent_raw_rag.cli.start import main; main()"
Environment = dict[str, str]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return sample_environment(tmp_path, logs=False)


def payload(transcript: Path | str, **more: Any) -> dict[str, Any]:
    return {
        "session_id": "s1", "transcript_path": str(transcript), "cwd": "/w/proj", "hook_event_name": "Stop",
        "stop_hook_active": False, "last_assistant_message": "s1 says 3", **more,
    }  # fmt: skip


def stopped(environment: Environment, sent: str, *words: str) -> None:
    """Run the hook, and wait for what it has begun in the background: it writes to the hook's log until it ends."""
    log = Path(environment["RAW_RAG_HOME"]) / "hook.log"
    log.unlink(missing_ok=True)
    os.mkfifo(log)
    reading = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    done = subprocess.run(
        [sys.executable, "-c", START, "hook", *(words or (f"{AGENT}-stop",))], input=sent.encode(), timeout=110,
        env=environment_of({**environment, "RAW_RAG_HOOK_MS": "60000"}), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"") and b"Traceback" not in done.stderr
    os.set_blocking(reading, True)
    with open(reading, "rb") as stream:
        assert b"Traceback" not in stream.read()


def turns(environment: Environment) -> list[tuple[str, str]]:
    """(session, text) of what is stored."""
    path = Path(environment["RAW_RAG_HOME"]) / "raw_rag.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as store:
        rows = store.execute(
            """SELECT s.agent || ':' || s.native, t.text FROM turns t JOIN sessions s ON s.id = t.session_id
               WHERE t.status = 0 ORDER BY s.id, t.ordinal"""
        )
        return [(row[0], row[1]) for row in rows]


def said(session: str, count: int) -> list[tuple[str, str]]:
    return [(session, f"s1 says {number}") for number in range(count)]


@pytest.mark.line("H6")
@pytest.mark.skipif(os.name == "nt", reason="needs a named pipe")
def test_a_finished_turn_is_read_from_the_agents_own_log_once(environment: Environment) -> None:
    log = folder(Path(environment["HOME"])) / "s1.jsonl"
    log.write_text("".join(lines(4)), "utf-8")
    for _ in range(2):
        stopped(environment, json.dumps(payload(log)))
    assert turns(environment) == said(f"{AGENT}:s1", 4)
    log.write_text("".join(lines(6)), "utf-8")
    stopped(environment, json.dumps(payload(log)), "stop", "--agent", AGENT)
    assert turns(environment) == said(f"{AGENT}:s1", 6)
    assert command(environment, "search-raw", "says 5")["count"] > 0


@pytest.mark.skipif(os.name == "nt", reason="needs a named pipe, and there are no modes")
def test_whatever_a_hook_makes_is_the_users_alone(environment: Environment, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        command(environment, "sweep", "--now")
        elsewhere = tmp_path / "elsewhere.jsonl"
        elsewhere.write_text("".join(lines(4)), "utf-8")
        stopped(environment, json.dumps(payload(elsewhere)))
    finally:
        os.umask(before)
    made = [one for one in Path(environment["RAW_RAG_HOME"]).rglob("*") if "lexical" in one.parts]
    assert made and [one for one in made if stat.S_IMODE(one.stat().st_mode) & 0o077] == []


@pytest.mark.line("H6")
@pytest.mark.skipif(os.name == "nt", reason="needs a named pipe")
def test_a_log_that_lies_elsewhere_is_read_as_if_it_lay_in_its_place(environment: Environment, tmp_path: Path) -> None:
    log = tmp_path / "elsewhere" / "s1.jsonl"
    log.parent.mkdir()
    log.write_text("".join(lines(4)), "utf-8")
    for _ in range(2):
        stopped(environment, json.dumps(payload(log)))
    assert turns(environment) == said(f"{AGENT}:s1", 4)
    (folder(Path(environment["HOME"])) / "s1.jsonl").write_text("".join(lines(4)), "utf-8")
    assert run("from agent_raw_rag.cli.ingest import main; main()", environment, "-q").returncode == 0
    assert turns(environment) == said(f"{AGENT}:s1", 4)


@pytest.mark.line("H6")
@pytest.mark.skipif(os.name == "nt", reason="needs a named pipe")
def test_without_a_log_the_words_that_the_hook_was_told_are_captured_once(environment: Environment) -> None:
    told = payload("/no/such/log.jsonl", prompt="what is new?", prompt_id="p1")
    for _ in range(2):
        stopped(environment, json.dumps(told))
    assert turns(environment) == [("mcp:s1", "what is new?"), ("mcp:s1", "s1 says 3")]


@pytest.mark.line("H6")
@pytest.mark.skipif(os.name == "nt", reason="needs a named pipe")
@pytest.mark.parametrize(
    "sent",
    [
        json.dumps(payload("/no/such/log.jsonl", stop_hook_active=True)), "{}", "", "[1]", "not json",
        json.dumps({"session_id": 3, "transcript_path": ["x"], "last_assistant_message": {}, "cwd": None}),
        json.dumps(payload("/dev/zero", last_assistant_message="")), json.dumps(payload("a\0b", last_assistant_message=" ")),
    ],
)  # fmt: skip
def test_what_tells_of_no_finished_turn_stores_nothing_and_ends_well(environment: Environment, sent: str) -> None:
    stopped(environment, sent)
    assert turns(environment) == []


@pytest.mark.line("H6")
def test_an_input_that_never_ends_holds_up_nobody(environment: Environment) -> None:
    command_line = [sys.executable, "-c", START, "hook", f"{AGENT}-stop"]
    with subprocess.Popen(command_line, stdin=subprocess.PIPE, env=environment_of(environment)) as process:
        assert process.wait(timeout=100) == 0, "its own limit ends it, while its input is open"
    assert turns(environment) == []


@pytest.mark.skipif(os.name == "nt", reason="needs a named pipe")
@pytest.mark.parametrize("words", [("stop",), ("stop", "--agent", "nobody"), ("nobody-stop",), ("-stop",)])
def test_an_agent_that_nobody_knows_stores_nothing(environment: Environment, words: tuple[str, ...]) -> None:
    stopped(environment, json.dumps(payload("/no/such/log.jsonl")), *words)
    assert turns(environment) == []


def test_a_daemon_reads_the_log_anyway(environment: Environment) -> None:
    log = folder(Path(environment["HOME"])) / "s1.jsonl"
    log.write_text("".join(lines(2)), "utf-8")
    runtime = Runtime.load(environment=environment)
    with lock(runtime.home, DAEMON, wait_seconds=0, purpose="test"):
        assert take(runtime, AGENT, payload(log)) is Way.DAEMON
    assert turns(environment) == []
    assert take(runtime, AGENT, payload(log)) is Way.LOG
    assert take(runtime, AGENT, payload(log, stop_hook_active=True)) is Way.NOTHING


def test_a_log_of_nobody_is_not_read(environment: Environment, tmp_path: Path) -> None:
    other = tmp_path / "notes.jsonl"
    other.write_text('{"password": "nothing of an agent"}\n', "utf-8")
    runtime = Runtime.load(environment=environment)
    assert take(runtime, AGENT, payload(other)) is Way.CAPTURED
    assert turns(environment) == [("mcp:s1", "s1 says 3")]
    with pytest.raises(UsageError):
        take(runtime, "nobody", payload(other))


@pytest.mark.line("H7")
def test_hooks_are_installed_once_with_a_dated_backup_and_taken_out_again(environment: Environment) -> None:
    settings = Path(environment["HOME"]) / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(
        '{\n  "model": "x",  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}\n}\n'
    )
    before = settings.read_bytes()
    (first,) = command(environment, "hook", "install", AGENT)["agents"]
    (second,) = json.loads(run(START, environment, "hook", "install", AGENT, "--json").stdout)["agents"]
    assert (first["change"], second["change"]) == ("added", "unchanged")
    assert Path(first["backup"]).read_bytes() == before and second["backup"] is None
    assert re.search(r"\.raw-rag-\d{8}-\d{6}(-\d+)?\.bak$", first["backup"])
    mine, ours = json.loads(settings.read_text("utf-8"))["hooks"]["Stop"]
    assert mine["hooks"][0]["command"] == "mine" and ours["hooks"][0]["command"].endswith(f" hook stop --agent {AGENT}")
    assert not (Path(environment["HOME"]) / ".claude.json").exists(), "no server was connected"
    (undone,) = command(environment, "hook", "uninstall", AGENT)["agents"]
    assert undone["change"] == "restored" and settings.read_bytes() == before
    assert [file.name for file in settings.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("words", [("install",), ("install", "emacs"), ("uninstall", "../../etc")])
def test_hooks_of_nobody_are_refused(environment: Environment, words: tuple[str, ...]) -> None:
    done = run(RAW_RAG, environment, "hook", *words)
    assert done.returncode == 2 and "Traceback" not in done.stderr
