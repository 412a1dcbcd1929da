"""The raw layer over real commands and a real server: logs and doors fill one store, which forgets only on demand."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.ingest.claude_log import folder, line, lines
from tests.process.memory_client import call, command, new_home, over_stdio, refused
from tests.process.processes import INGEST, RAW_RAG, environment_of, run

pytestmark = pytest.mark.process
HASHING = '[encoder]\nname = "hashing"\n[reranker]\nname = "none"\n'
KEY = "sk-ant-api03-" + "".join("Ab3dE6gH9"[n % 9] for n in range(93)) + "-AAAAAAAA"


def ingest(environment: dict[str, str], *words: str) -> dict[str, Any]:
    done = run(INGEST, environment, *words, "--json")
    assert done.returncode == 0, (done.stdout, done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def rows(environment: dict[str, str], sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(Path(environment["RAW_RAG_HOME"]) / "raw_rag.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.fixture
def logged(tmp_path: Path) -> dict[str, str]:
    """A home whose one log was read."""
    environment = new_home(tmp_path)
    log = folder(Path(environment["HOME"])) / "s1.jsonl"
    log.write_text("".join(lines(40)), encoding="utf-8")
    ingest(environment, "--agent", "claude")
    return environment


@pytest.mark.line("A1")
def test_a_log_that_is_read_again_adds_nothing(logged: dict[str, str]) -> None:
    before = rows(logged, "SELECT * FROM turns"), rows(logged, "SELECT * FROM chunks")
    report = ingest(logged, "--agent", "claude")
    assert report["agents"]["claude"]["new_turns"] == 0
    assert (rows(logged, "SELECT * FROM turns"), rows(logged, "SELECT * FROM chunks")) == before


@pytest.mark.line("A2")
def test_two_more_lines_add_two_turns_and_leave_the_stable_chunks(logged: dict[str, str]) -> None:
    stable = "SELECT id, place, text FROM chunks WHERE stable = 1 ORDER BY id"
    before = rows(logged, stable)
    assert before
    with (folder(Path(logged["HOME"])) / "s1.jsonl").open("a", encoding="utf-8") as log:
        log.write(line(40) + line(41))
    assert ingest(logged, "--agent", "claude")["agents"]["claude"]["new_turns"] == 2
    assert rows(logged, stable)[: len(before)] == before


@pytest.mark.line("A4")
@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE turns SET text = 'x'",
        "DELETE FROM turns",
        "INSERT OR REPLACE INTO turns (id, session_id, ordinal, exchange, role, text, text_hash, key)"
        " SELECT id, session_id, ordinal, exchange, role, 'x', text_hash, key FROM turns",
        "DELETE FROM captured",
        "UPDATE journal SET actor = 'x'",
    ],
)
def test_the_database_refuses_to_change_what_was_told(logged: dict[str, str], sql: str) -> None:
    command(logged, "capture", "The window is Tuesday.", "--source", "tester")
    before = rows(logged, "SELECT * FROM turns")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        rows(logged, sql)
    assert rows(logged, "SELECT * FROM turns") == before


@pytest.mark.line("A5", "A6")
def test_a_door_stands_beside_the_agents_in_status_and_search(tmp_path: Path) -> None:
    environment = new_home(tmp_path, HASHING)
    (folder(Path(environment["HOME"])) / "s1.jsonl").write_text("".join(lines(4)), encoding="utf-8")
    ingest(environment)

    async def use(client: Client) -> None:
        await call(client, "capture", content="The release window is Tuesday.", source="tester", role="user")
        for agent, turns in (("mcp", 1), ("claude", 4)):
            status = (await client.call_tool("raw_rag_status", {"agent": agent})).structured_content
            assert status and status["agents"][agent]["turns"] == turns
        everything = (await client.call_tool("raw_rag_status", {})).structured_content
        assert everything and set(everything["agents"]) == {"claude", "mcp"} and everything["sessions"] == 2

    over_stdio(environment, use)
    assert ingest(environment)["embedded"] > 0

    async def find(client: Client) -> None:
        found = (
            await client.call_tool("raw_rag_search", {"query": "release window", "agent": "mcp"})
        ).structured_content
        assert found and len(found["passages"]) == 1
        (passage,) = found["passages"]
        assert (passage["agent"], passage["session"]) == ("mcp", "mcp:ext:tester")
        assert "The release window is Tuesday." in passage["text"]
        recent = (await client.call_tool("raw_rag_recent", {"agent": "mcp"})).structured_content
        assert recent and [one["role"] for one in recent["turns"]] == ["user"]

    over_stdio(environment, find)
    shown = command(environment, "show", "mcp:ext:tester")
    assert [one["text"] for one in shown["turns"]] == ["The release window is Tuesday."]
    resumed = run(RAW_RAG, environment, "resume", "mcp:ext:tester")
    assert resumed.returncode == 1 and "No command reopens" in resumed.stderr


@pytest.mark.line("A7")
def test_what_came_by_its_log_and_by_a_door_is_two_turns_and_one_hit(tmp_path: Path) -> None:
    environment = new_home(tmp_path)
    said = "Where does the capybara sleep at night in the winter, and who feeds it then?"
    (folder(Path(environment["HOME"])) / "s1.jsonl").write_text(line(0, text=said), encoding="utf-8")
    ingest(environment)
    told = command(
        environment, "capture", said, "--source", "claude-code", "--role", "user", "--timestamp", "2026-10-05T10:00:30Z"
    )
    assert told["recorded"] and rows(environment, "SELECT count(*) FROM turns WHERE status = 0") == [(2,)]
    assert command(environment, "search-raw", "capybara winter")["count"] == 1
    assert len(command(environment, "search", "capybara winter", "--project", "*")["passages"]) == 1


@pytest.mark.line("A8")
def test_what_is_forgotten_is_gone_everywhere_but_for_its_place_and_the_journal(tmp_path: Path) -> None:
    environment = new_home(tmp_path, HASHING)
    secret = "zanzibar expedition"
    for number, session in enumerate(("gone", "kept")):
        words = f"The {secret if session == 'gone' else 'weekly meeting'} begins at {number}"
        command(environment, "capture", words, "--session", session, "--source", "tester")
    ingest(environment)
    home = Path(environment["RAW_RAG_HOME"])
    assert any(b"zanzibar" in file.read_bytes() for file in home.rglob("*") if file.is_file())
    done = command(environment, "forget", "--session", "mcp:gone", "--reason", "asked by its author", "--yes")
    assert (done["forgotten"], done["sessions"], done["turns"]) == (True, 1, 1)
    assert rows(environment, "SELECT id, ordinal, status, text <> '' FROM turns ORDER BY id") == [
        (1, 1, 2, 0),
        (2, 1, 0, 1),
    ]
    assert not any(b"zanzibar" in file.read_bytes() for file in home.rglob("*") if file.is_file())
    for words in (("search-raw", "zanzibar"), ("recall", "zanzibar", "--include-raw")):
        assert command(environment, *words)["count"] == 0
    found = command(environment, "search", "zanzibar expedition", "--agent", "mcp")["passages"]
    assert {one["session"] for one in found} <= {"mcp:kept"}
    assert rows(environment, "SELECT DISTINCT s.native FROM chunks c JOIN sessions s ON s.id = c.session_id") == [
        ("kept",)
    ]
    (row,) = rows(environment, "SELECT actor, transport, target, detail FROM journal WHERE action = 'forget'")
    assert row[:3] == ("owner", "cli", "mcp:gone")
    assert '"reason":"asked by its author"' in row[3] and '"turns":1' in row[3]
    again = command(environment, "capture", f"The {secret} begins at 0", "--session", "gone", "--source", "tester")
    assert (again["recorded"], again["event_id"], again["skipped"]) == (False, None, "forgotten")
    assert command(environment, "capture", "Something new", "--session", "gone", "--source", "tester")["recorded"]


@pytest.mark.line("A9")
def test_a_secret_is_stored_masked_unless_that_is_switched_off(tmp_path: Path) -> None:
    for name, config in (("masked", ""), ("verbatim", "[sanitize]\nredact = false\n")):
        environment = new_home(tmp_path / name, f'{config}[encoder]\nname = "none"\n')
        command(environment, "capture", f"use {KEY} for it", "--source", "tester")
        ((text,),) = rows(environment, "SELECT text FROM turns")
        assert (KEY in text) == (name == "verbatim") and text.startswith("use ")
        home = Path(environment["RAW_RAG_HOME"])
        held = any(KEY.encode() in file.read_bytes() for file in home.rglob("*") if file.is_file())
        assert held == (name == "verbatim")


@pytest.mark.line("H8")
def test_the_commands_say_what_the_tools_say(tmp_path: Path) -> None:
    environment = new_home(tmp_path)
    told = command(environment, "capture", "The banner is red.", "--source", "tester", "--session", "s1")
    found = command(environment, "search-raw", "red banner", "--session", "s1", "--source", "tester")

    async def use(client: Client) -> None:
        again = await call(client, "capture", content="The banner is red.", source="tester", session_id="s1")
        assert again.keys() == told.keys() and again == {**told, "duplicate": True, "note": again["note"]}
        assert await call(client, "search_raw", query="red banner", session_id="s1", source="tester") == found
        wrong = await refused(client, "capture", content=" ", source="tester")
        assert wrong == command(environment, "capture", " ", "--source", "tester", expect=2)["error"]

    over_stdio(environment, use)
    assert [one["event_id"] for one in found["events"]] == [told["event_id"]]


def test_standard_input_is_captured_whole(tmp_path: Path) -> None:
    environment = new_home(tmp_path)
    said = "first line\n\n  second line, 使用者\n"
    done = subprocess.run(
        [sys.executable, "-c", RAW_RAG, "capture", "-", "--source", "tester", "--json"], input=said, text=True,
        encoding="utf-8", env=environment_of(environment), capture_output=True, timeout=110, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["recorded"]
    assert rows(environment, "SELECT text FROM turns") == [(said.rstrip(),)]


def test_each_space_has_events_of_its_own_and_is_embedded_by_an_ingest(tmp_path: Path) -> None:
    environment = new_home(tmp_path, HASHING)
    command(environment, "space", "create", "one")
    command(environment, "space", "create", "two")
    for space in ("one", "two"):
        command(environment, "capture", f"tea for {space}", "--source", "tester", "--space", space)
    assert ingest(environment)["embedded"] == 2
    for space in ("one", "two"):
        events = command(environment, "search-raw", "tea", "--space", space)["events"]
        assert [one["content"] for one in events] == [f"tea for {space}"]
    assert command(environment, "search-raw", "tea")["count"] == 0
    assert ingest(environment)["embedded"] == 0
