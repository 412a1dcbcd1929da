"""The commands as real processes: streams, exit statuses, interruption, and what a cold start loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_raw_rag.store.lock import WRITER, lock
from tests.process.processes import INGEST, RAW_RAG, environment_of, loaded_after, run
from tests.samples import PROJECT, sample_environment

pytestmark = pytest.mark.process

HEAVY = {"mcp", "numpy", "tantivy", "tiktoken", "onnxruntime", "tokenizers", "sqlite_utils"}


def test_an_ingest_in_an_empty_home_says_where_it_looked(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path, logs=False)
    shown = run(INGEST, environment)
    assert shown.returncode == 0 and "No logs found" in shown.stdout
    report = json.loads(run(INGEST, environment, "--json").stdout)
    assert report["embedded"] == 0 and report["agents"]["codex"]["sources"] == 0


def test_from_ingest_to_an_answer(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path)
    assert run(INGEST, environment, "-q").returncode == 0
    shown = run(RAW_RAG, environment, "search", "why did we drop the retry", "--json")
    assert shown.returncode == 0 and shown.stderr == ""
    assert any("idempotent makes duplicates" in one["text"] for one in json.loads(shown.stdout)["passages"])


def test_the_store_is_for_its_owner_only(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path)
    assert run(INGEST, environment, "-q").returncode == 0
    store = Path(environment["RAW_RAG_HOME"])
    assert [path for path in [store, *store.rglob("*")] if path.stat().st_mode & 0o077] == []


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path)
    assert run(INGEST, environment, "-q").returncode == 0
    process = subprocess.Popen(
        [sys.executable, "-c", RAW_RAG, "recent", "--json"], env=environment_of(environment),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc to know when the process waits")
def test_an_interrupted_command_ends_quietly(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path)
    with lock(environment["RAW_RAG_HOME"], WRITER, wait_seconds=0, purpose="a test"):
        process = subprocess.Popen(
            [sys.executable, "-c", INGEST, "-q"], env=environment_of(environment), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        _wait_until_it_waits(process.pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def _wait_until_it_waits(pid: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if any(entry.readlink().name == "writer.lock" for entry in Path(f"/proc/{pid}/fd").iterdir()):
                return
        except OSError:  # a file that was closed meanwhile
            continue
    raise AssertionError("it never came to the lock")


def test_a_second_writer_says_who_holds_the_store(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path)
    with lock(environment["RAW_RAG_HOME"], WRITER, wait_seconds=0, purpose="a test"):
        shown = run(INGEST, environment, "-q", "--json")
    assert shown.returncode == 1 and shown.stdout == ""
    error = json.loads(shown.stderr)["error"]
    assert error["code"] == "store_busy" and str(os.getpid()) in error["message"]


@pytest.mark.parametrize("program", [RAW_RAG, INGEST])
def test_help_loads_nothing_heavy(tmp_path: Path, program: str) -> None:
    shown = f"import sys\nsys.argv = ['x', '--help']\ntry:\n    exec({program!r})\nexcept SystemExit: pass"
    assert not loaded_after(shown, sample_environment(tmp_path)) & HEAVY


@pytest.mark.parametrize("program", [RAW_RAG, INGEST])
def test_completion_is_offered_for_the_usual_shells(tmp_path: Path, program: str) -> None:
    environment = {**sample_environment(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = run(program, environment, "--show-completion", "zsh")
    assert shown.returncode == 0 and "compdef" in shown.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_passages_come_in_panels_and_progress_as_a_bar(tmp_path: Path) -> None:
    environment = {**sample_environment(tmp_path), "TERM": "xterm-256color", "COLUMNS": "100"}
    assert "━" in _on_a_terminal(INGEST, environment)
    shown = _on_a_terminal(RAW_RAG, environment, "search", "why did we drop the retry?")
    assert "╭" in shown and "\x1b[1;33mretry" in shown
    narrow = _on_a_terminal(RAW_RAG, {**environment, "COLUMNS": "40"}, "status")
    assert "  last project: " in narrow and PROJECT in narrow


def _on_a_terminal(program: str, environment: dict[str, str], *arguments: str) -> str:
    """Everything that a program writes to its terminal."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], env=environment_of(environment), stdin=theirs, stdout=theirs,
        stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0
    return written.decode()
