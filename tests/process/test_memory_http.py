"""The memory tools over a spawned HTTP server, by the official client: spaces, scopes, restarts, many at once."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult

from agent_raw_rag.runtime import Runtime
from tests.process.watching import wait_for
from tests.servers.memory_http import FIVE, Home, Served, home_in, serving

pytestmark = pytest.mark.process
WORDS = "the release window is Tuesday at noon"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = home_in(tmp_path_factory.mktemp("memory"))
    home.token("first")
    with serving(home) as running:
        yield running


@pytest.fixture(scope="module")
def secret(served: Served) -> str:
    return served.home.token("tester")


def save(served: Served, secret: str, text: str, space: str = "proj") -> dict[str, Any]:
    return served.answer("memory_save", {"content": text, "source": "tests"}, secret, space)


def recall(served: Served, secret: str, query: str, space: str = "proj") -> dict[str, Any]:
    return served.answer("memory_recall", {"query": query}, secret, space)


def code(result: CallToolResult) -> str | None:
    assert result.is_error
    return (result.structured_content or {}).get("code")


@pytest.mark.line("B1", "E1")
@pytest.mark.parametrize("path", ["/mcp/memory/", "/mcp/memory"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_finds_five_tools_and_calls_them(served: Served, secret: str, path: str, mode: str) -> None:
    async def use(client: Client) -> tuple[list[str], CallToolResult]:
        listed = sorted(tool.name for tool in (await client.list_tools()).tools)
        return listed, await client.call_tool("memory_recall", {"query": "anything at all"})

    listed, answered = served.with_client(use, secret, path=path, mode=mode)
    assert listed == FIVE
    assert not answered.is_error
    assert answered.structured_content == {"memories": [], "count": 0, "rendered": ""}


@pytest.mark.line("D12")
def test_what_one_space_is_told_no_other_knows(served: Served, secret: str) -> None:
    note = save(served, secret, "Deploys go out on Tuesdays.")["node_id"]
    captured = served.answer("memory_capture", {"content": WORDS, "source": "tests"}, secret)
    assert recall(served, secret, "deploys on Tuesdays")["count"] == 1
    assert recall(served, secret, "deploys on Tuesdays", "other")["count"] == 0
    assert recall(served, secret, "deploys on Tuesdays", "default")["count"] == 0
    for space, count in (("proj", 1), ("other", 0), ("default", 0)):
        assert served.answer("memory_search_raw", {"query": "release window"}, secret, space)["count"] == count
    change = {"atom_id": note, "new_content": "On Fridays.", "source": "tests"}
    assert served.refused("memory_update", change, secret, "other") == "not_found"
    leaning = {"content": "By the window.", "source": "tests", "evidence": [captured["event_id"]]}
    assert served.refused("memory_save", leaning, secret, "other") == "not_found"
    assert recall(served, secret, "deploys on Tuesdays")["count"] == 1


@pytest.mark.line("D13")
def test_a_token_that_may_only_read_writes_nothing_and_that_is_written_down(served: Served) -> None:
    home, reader = served.home, served.home.token("reader", space="proj", scope="read")
    assert recall(served, reader, "anything") is not None
    before = served.ask("/health", method="GET", secret=reader, space="proj").json()
    write = {"content": "Never on Fridays.", "source": "tests"}
    for tool in ("memory_save", "memory_capture"):
        assert served.refused(tool, write, reader) == "forbidden"
    change = {"atom_id": "n" + "0" * 20, "new_content": "x", "source": "tests"}
    assert served.refused("memory_update", change, reader) == "forbidden"
    assert served.ask("/health", method="GET", secret=reader, space="proj").json() == before
    denied = [row for row in home.journal("proj") if row["action"] == "denied" and row["actor"] == "reader"]
    assert {row["target"] for row in denied} == {"memory_save", "memory_capture", "memory_update"}
    assert {(row["transport"], row["token"]) for row in denied} == {("http", reader[:8])}


def test_writes_are_written_down_with_the_tokens_label(served: Served) -> None:
    secret = served.home.token("scribbler", space="other")
    note = save(served, secret, "Branches are named after issues.", "other")["node_id"]
    (row,) = [one for one in served.home.journal("other") if one["target"] == note]
    assert (row["action"], row["actor"], row["token"], row["transport"], row["source"]) == (
        "save", "scribbler", secret[:8], "http", "tests",
    )  # fmt: skip


def test_bad_arguments_are_refused_in_the_one_shape_and_write_nothing(served: Served, secret: str) -> None:
    for arguments in (
        {"content": " ", "source": "tests"}, {"content": "x", "source": ""}, {"content": "x"}, {"content": 5, "source": []},
        {"content": "x", "source": "y", "kind": "law"}, {"content": "x", "source": "y", "surprise": 1},
    ):  # fmt: skip
        assert served.refused("memory_save", arguments, secret) == "bad_argument"


def test_a_tool_that_is_not_offered_is_unknown(served: Served, secret: str) -> None:
    for tool in ("raw_rag_search", "memory_promote", "nonsense"):
        result = served.call(tool, {"query": "x"}, secret)
        assert result.is_error
        assert "Unknown tool" in str(result.content)
        assert code(result) == "not_found"


@pytest.mark.line("E5")
def test_a_client_goes_on_after_the_server_was_started_anew(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop")

    async def use() -> None:
        with serving(home) as first:
            port = int(first.url.rpartition(":")[2])
            async with first.client(secret) as client:
                saved = await client.call_tool("memory_save", {"content": "Tabs, not spaces.", "source": "tests"})
                assert not saved.is_error
                first.process.kill()
                first.process.communicate()
                with serving(home, port=port):
                    found = await client.call_tool("memory_recall", {"query": "tabs or spaces"})
                    assert (found.structured_content or {})["count"] == 1

    anyio.run(use)


@pytest.mark.line("E6")
def test_interleaved_calls_of_two_spaces_each_get_their_own(served: Served, secret: str) -> None:
    for space in ("proj", "other"):
        save(served, secret, f"The codename of this project is {space}{space}.", space)

    async def ask(client: Client, space: str, answers: list[tuple[str, str]]) -> None:
        found = await client.call_tool("memory_recall", {"query": "codename of this project"})
        answers.append((space, json.dumps(found.structured_content)))

    async def use() -> list[tuple[str, str]]:
        answers: list[tuple[str, str]] = []
        async with served.client(secret, "proj") as one, served.client(secret, "other") as two:
            for _ in range(5):
                async with anyio.create_task_group() as group:
                    for _ in range(5):
                        group.start_soon(ask, one, "proj", answers)
                        group.start_soon(ask, two, "other", answers)
        return answers

    answers = anyio.run(use)
    assert len(answers) == 50
    for space, said in answers:
        assert f"{space}{space}" in said
        assert {"proj": "otherother", "other": "projproj"}[space] not in said


@pytest.mark.line("E8")
def test_a_call_that_waits_holds_up_no_other(served: Served, secret: str) -> None:
    """A write waits for a store that is locked; meanwhile others are answered."""
    from agent_raw_rag.store.connection import connect, transaction

    path = Runtime.load(None, served.home.environment).in_space("proj").settings.store_path()
    order: list[str] = []

    async def write(client: Client) -> None:
        saved = await client.call_tool("memory_save", {"content": "It had to wait.", "source": "tests"})
        assert not saved.is_error
        order.append("write")

    async def use() -> None:
        async with served.client(secret, "proj") as client:
            await client.call_tool("memory_recall", {"query": "warm"})
            async with anyio.create_task_group() as group:
                with transaction(connect(path, write=True)):
                    group.start_soon(write, client)
                    for _ in range(3):
                        found = await client.call_tool("memory_recall", {"query": "waiting"})
                        assert not found.is_error
                        order.append("read")

    anyio.run(use)
    assert order == ["read", "read", "read", "write"]


def test_sixteen_writers_and_readers_at_once_lose_nothing(served: Served, secret: str) -> None:
    served.home.space("busy")

    async def act(client: Client, number: int) -> None:
        written = await client.call_tool("memory_capture", {"content": f"event number {number}", "source": "tests"})
        assert not written.is_error, written
        read = await client.call_tool("memory_recall", {"query": "event"})
        assert not read.is_error, read

    async def use() -> int:
        async with served.client(secret, "busy") as client:
            async with anyio.create_task_group() as group:
                for number in range(16):
                    group.start_soon(act, client, number)
            found = await client.call_tool("memory_search_raw", {"query": "event number", "limit": 100})
            return int((found.structured_content or {})["count"])

    assert anyio.run(use) == 16


def test_the_rule_channel_can_be_switched_off(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop")
    with serving(home, more={"RAW_RAG_RULES_ENABLED": "0"}) as served:
        assert served.tools(secret) == ["memory_capture", "memory_recall", "memory_search_raw"]


def test_the_search_in_the_logs_is_offered_where_it_is_switched_on(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.configure("[mcp]\nraw_tools = true\n")
    secret, reader = home.token("laptop"), home.token("reader", scope="read")
    with serving(home) as served:
        raw = [name for name in served.tools(secret) if name.startswith("raw_rag_")]
        assert raw == ["raw_rag_context", "raw_rag_ingest", "raw_rag_recent", "raw_rag_search", "raw_rag_status"]
        served.answer("memory_capture", {"content": WORDS, "source": "tests"}, secret)
        found = served.answer("raw_rag_search", {"query": "release window"}, secret)
        assert "Tuesday" in json.dumps(found)
        assert served.answer("raw_rag_search", {"query": "release window"}, secret, "other")["passages"] == []
        limited = home.token("limited", space="proj")
        assert served.refused("raw_rag_status", {}, limited) == "forbidden", "it names the home's folders"
        assert served.answer("raw_rag_status", {}, secret)["store"]
        assert served.refused("raw_rag_ingest", {}, secret, "proj") == "forbidden"
        assert served.refused("raw_rag_ingest", {}, reader, "default") == "forbidden"
        assert served.answer("raw_rag_ingest", {}, secret, "default")["agents"]


@pytest.mark.line("C15")
def test_curation_is_offered_to_a_token_with_its_scope_where_it_is_switched_on(served: Served, tmp_path: Path) -> None:
    assert served.tools(served.home.token("would-be", scope="read,write,curate")) == FIVE
    home = home_in(tmp_path)
    home.configure("[mcp]\ncuration = true\n")
    curator, other = home.token("curator", scope="read,write,curate"), home.token("other")
    with serving(home) as running:
        more = set(running.tools(curator)) - set(FIVE)
        assert more == {
            f"memory_{name}" for name in ("propose", "candidates", "promote", "reject", "history", "journal")
        }
        assert running.tools(other) == FIVE
        event = running.answer("memory_capture", {"content": "We moved the store to WAL.", "source": "tests"}, curator)
        proposal = {
            "statement": "The store is in WAL mode.",
            "quote": "moved the store to WAL",
            "evidence": [event["event_id"]],
        }
        candidate = running.answer("memory_propose", proposal, curator)["candidate_id"]
        running.answer("memory_promote", {"ids": [candidate]}, curator)
        assert recall(running, other, "store in WAL mode")["count"] == 1
        acts = running.answer("memory_journal", {}, curator)["rows"]
        assert [row["actor"] for row in acts if row["action"] == "promote"] == ["curator"]
        assert running.call("memory_promote", {"ids": [candidate]}, other).is_error


@pytest.mark.line("D19")
def test_neither_a_secret_nor_a_word_that_was_said_gets_into_a_log(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop")
    marker = "zweiundvierzig"
    with serving(home, more={"RAW_RAG_LOG": "INFO"}) as served:
        save(served, secret, f"{marker} is the answer.")
        served.answer("memory_capture", {"content": f"he said {marker}", "source": marker}, secret)
        recall(served, secret, marker)
        for text in (f'{{"{marker}"', json.dumps({"jsonrpc": "2.0", "id": marker, "method": marker, "params": marker})):
            served.ask(secret=secret, space="proj", body=text.encode())
        served.ask(f"/{marker}?{marker}={secret}", secret=f"{secret}{marker}", space=marker)
        served.ask(secret=secret, space="proj", headers={"mcp-protocol-version": marker, "mcp-session-id": marker})
        served.ask(secret=secret, headers={"host": marker, "origin": marker})
        served.refused("memory_save", {"content": [marker], "source": "x", marker: marker}, secret)
        served.call(marker, {"query": marker}, secret)
        served.end()
    written = "".join(path.read_text(encoding="utf-8") for path in (home.store / "log").iterdir()) + "".join(
        served.said
    )
    assert '"status":200' in written
    assert marker not in written
    assert secret not in written


def test_a_secret_stands_nowhere_on_the_disk_after_use(tmp_path: Path) -> None:
    """Database, write-ahead log, logs, journal, locks: while the server runs, and after it was killed."""
    home = home_in(tmp_path)
    secret = home.token("laptop")
    new = home.command("token", "rotate", "laptop", "--grace", "1h").stdout.strip()
    with serving(home) as served:
        for one in (secret, new):
            save(served, one, f"Something for {one[:6]}.")
            served.answer("memory_capture", {"content": "words", "source": "tests"}, one)
            served.refused("memory_update", {"atom_id": "n0", "new_content": "x", "source": "y"}, one)
        home.command("token", "list")
        assert places_of(tmp_path, [secret, new]) == []
        served.process.kill()
        served.process.communicate()
    assert places_of(tmp_path, [secret, new]) == []


def places_of(folder: Path, secrets: list[str]) -> list[str]:
    """Files that hold a secret, as grep finds them."""
    words = [word for one in secrets for word in ("-e", one[8:])]
    done = subprocess.run(["grep", "-rlaF", *words, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("how", ["TERM", "KILL"])
def test_what_was_acknowledged_is_there_after_the_end(tmp_path: Path, how: str) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop")
    with serving(home) as served:
        ids = [
            served.answer("memory_capture", {"content": f"line {n}", "source": "tests"}, secret)["event_id"]
            for n in range(5)
        ]
        notes = [save(served, secret, f"Rule number {n} of five.")["node_id"] for n in range(3)]
        if how == "TERM":
            assert served.end() == 0
        else:
            served.process.kill()
            served.process.communicate()
    with serving(home) as again:
        for number, event in enumerate(ids):
            found = again.answer("memory_search_raw", {"query": f"line {number}"}, secret)
            assert event in [one["event_id"] for one in found["events"]]
        recalled = again.answer("memory_recall", {"query": "rule number of five", "limit": 20}, secret)
        assert set(notes) <= {one["source_id"] for one in recalled["memories"]}


def test_one_process_serves_and_watches(tmp_path: Path) -> None:
    home = Home(sample_home(tmp_path))
    home.configure("[mcp]\nraw_tools = true\n")
    secret = home.token("laptop")
    with serving(home, "--watch") as served:
        wait_for(lambda: home.read("status")["turns"] > 0, "stored turns")
        assert served.answer("raw_rag_search", {"query": "upload"}, secret, "default")["passages"]
        status = home_daemon(home)
        assert (status["daemon"]["running"], status["daemon"]["heartbeat"]["pid"]) == (True, served.process.pid)
        assert served.end() == 0


def test_without_a_daemon_the_server_makes_words_and_vectors_and_sweeps(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    (home.store / "config.toml").write_text('[encoder]\nname = "hashing"\ndim = 32\n', encoding="utf-8")
    secret = home.token("laptop")
    told = "Remember: the release window is Tuesday."
    home.command("capture", told, "--source", "tests", "--role", "user", "--space", "proj")
    room = Runtime.load(None, home.environment).in_space("proj")
    assert room.spaces.items() == []
    with serving(home) as served:
        wait_for(lambda: recall(served, secret, "release window")["count"] == 1, "the note")
        wait_for(lambda: bool(room.spaces.items()) and room.spaces.backlog() == 0, "all vectors")
        assert served.end() == 0


def sample_home(folder: Path) -> dict[str, str]:
    from tests.samples import sample_environment

    return sample_environment(folder)


def home_daemon(home: Home) -> dict[str, Any]:
    from tests.process.processes import INGEST, run

    found: dict[str, Any] = json.loads(run(INGEST, home.environment, "--daemon-status", "--json").stdout)
    return found
