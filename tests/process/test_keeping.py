"""What stays, what passes and what is protected, seen by real processes that share one store."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.process.memory_client import command, new_home
from tests.process.processes import RAW_RAG, environment_of, run
from tests.process.watching import Home, wait_for

pytestmark = pytest.mark.process

CHAT = """
import json, sys
from agent_raw_rag.models import Actor, Capture, Role
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.ending import end_idle_sessions
session, said, flags = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
runtime, actor = Runtime.load(), Actor("owner", "chat")
end_idle_sessions(runtime)
memory = runtime.memory
with memory.live_session(session):
    done = memory.raw.capture_all([
        Capture(said, "chat", "chat", session, Role.USER, **flags),
        Capture("I see: " + said, "chat", "chat", session, Role.ASSISTANT, **flags),
    ], actor)
    print(json.dumps([one.recorded for one in done]), flush=True)
    sys.stdin.readline()
print(memory.end_session("chat", session, actor), flush=True)
"""
SAID = "Remember: the platypus sleeps until Tuesday"
Environment = dict[str, str]


def chat(environment: Environment, session: str, said: str = SAID, **flags: bool) -> subprocess.Popen[str]:
    """A process that holds a session, and has captured two turns of it."""
    talking = subprocess.Popen(
        [sys.executable, "-c", CHAT, session, said, json.dumps(flags)], env=environment_of(environment), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert talking.stdout and talking.stdout.readline() == "[true, true]\n"
    return talking


def over(talking: subprocess.Popen[str]) -> bool:
    """End a chat; whether it forgot what it had stored."""
    said, _ = talking.communicate("\n", timeout=110)
    return said.strip() == "True"


def found(environment: Environment) -> dict[str, Any]:
    """What each way of searching gives."""
    return {
        "search_raw": command(environment, "search-raw", "platypus")["events"],
        "recall": command(environment, "recall", "platypus", "--include-raw")["memories"],
        "search": command(environment, "search", "platypus", "--project", "*")["passages"],
        "recent": command(environment, "recent", "--project", "*")["turns"],
        "sessions": command(environment, "sessions", "--project", "*"),
    }


def shown(environment: Environment, session: str) -> list[str]:
    return [turn["text"] for turn in command(environment, "show", session)["turns"]]


def live(home: Home) -> int:
    """Turns that hold text."""
    with closing(sqlite3.connect(home.store / "raw_rag.db")) as store:
        return int(store.execute("SELECT count(*) FROM turns WHERE status = 0").fetchone()[0])


@pytest.mark.line("G8")
def test_a_passing_session_is_hidden_from_every_search_and_gone_when_its_chat_ends(tmp_path: Path) -> None:
    environment = new_home(tmp_path)
    talking = chat(environment, "one", passing=True)
    assert not any(found(environment).values())
    command(environment, "sweep", "--now")
    assert not any(found(environment).values())
    assert shown(environment, "chat:one")[0] == SAID and command(environment, "status")["passing"] == 1
    assert over(talking)
    assert shown(environment, "chat:one") == [] and command(environment, "status")["turns"] == 0
    home = Path(environment["RAW_RAG_HOME"])
    assert [file.name for file in home.rglob("*") if file.is_file() and b"platypus" in file.read_bytes()] == []
    acts = [row["action"] for row in command(environment, "journal")["rows"]]
    assert acts.count("forget") == 1 and acts.count("capture") == 2
    assert command(environment, "journal", "verify")["ok"]


@pytest.mark.line("G8")
def test_of_two_chats_at_once_neither_ends_the_other_and_one_that_was_killed_is_ended_later(tmp_path: Path) -> None:
    environment = new_home(tmp_path)
    one, two = chat(environment, "one", passing=True), chat(environment, "two", passing=True)
    silent = "UPDATE sessions SET heard = 0"
    again = f"""from agent_raw_rag.runtime import Runtime
with Runtime.load().memory.store.write() as connection: connection.execute({silent!r})"""
    assert run(again, environment).returncode == 0
    assert over(chat(environment, "three", passing=True))  # it looks for silent sessions first
    assert len(shown(environment, "chat:one")) == 2 and len(shown(environment, "chat:two")) == 2
    one.kill()
    one.communicate(timeout=60)
    assert not over(chat(environment, "four"))
    assert shown(environment, "chat:one") == [] and len(shown(environment, "chat:two")) == 2
    assert over(two)


@pytest.mark.line("G8")
def test_what_is_stored_for_good_stays_and_what_is_kept_is_shielded(tmp_path: Path) -> None:
    environment = new_home(tmp_path)
    assert not over(chat(environment, "good"))
    assert not over(chat(environment, "kept", "the platypus is kept", kept=True))
    assert {one["session_id"] for one in found(environment)["search_raw"]} == {"good", "kept"}
    flags = {one["session"]: one["kept"] for one in command(environment, "sessions", "--project", "*")}
    assert flags == {"chat:good": False, "chat:kept": True}
    done = command(environment, "forget", "--agent", "chat", "--after", "1970-01-01", "--dry-run")
    assert done["turns"] == 0  # a captured turn without a time is in no stretch of time
    told = run(RAW_RAG, environment, "forget", "--session", "chat:kept", "--yes", "--json")
    assert told.returncode == 1 and json.loads(told.stdout or told.stderr)["error"]["code"] == "protected"
    assert command(environment, "keep", "--off", "chat:kept") == {"id": "chat:kept", "kept": False, "changed": True}
    assert command(environment, "keep", "chat:good")["kept"]
    assert command(environment, "forget", "--session", "chat:kept", "--yes")["turns"] == 2
    assert run(RAW_RAG, environment, "forget", "--session", "chat:good", "--yes").returncode == 1
    assert command(environment, "forget", "--session", "chat:good", "--kept", "--yes")["turns"] == 2


def test_the_daemon_ends_what_fell_silent(tmp_path: Path) -> None:
    home = Home.of(tmp_path, logs=False)
    talking = chat(home.variables, "one", passing=True)
    talking.kill()
    talking.communicate(timeout=60)
    with closing(sqlite3.connect(home.store / "raw_rag.db")) as store, store:
        store.execute("UPDATE sessions SET heard = 0")
    with home.watching():
        wait_for(lambda: live(home) == 0, "the end of the session")
    assert shown(home.variables, "chat:one") == []


def test_a_protected_note_is_refused_by_the_command_and_let_go(tmp_path: Path) -> None:
    environment = new_home(tmp_path)
    note = command(environment, "save", "Deploy on Friday", "--tag", "keep")["node_id"]
    told = run(RAW_RAG, environment, "deprecate", note, "--reason", "old")
    assert told.returncode == 1 and "protected" in told.stderr and f"keep --off {note}" in told.stderr
    assert command(environment, "keep", "--off", note)["changed"]
    assert command(environment, "deprecate", note, "--reason", "old")["id"] == note
