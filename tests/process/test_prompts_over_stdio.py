"""Prompts, resources and completions of a real server process, through the official client, on names that are hard to write."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from tests.cli.commands import Environment, run_ingest
from tests.process.test_stdio import parameters
from tests.samples import sample_environment

pytestmark = pytest.mark.process
T = TypeVar("T")
FOLDERS = ["/w/plain", "/w/a b/100% é", "/w/記憶/x%2Fy", "/w/#1?q=2&r", "/w/{curly}+plus", "C:\\Users\\me\\repo"]


def session(folder: str, number: int, turns: int) -> str:
    lines = [
        {"type": "session", "version": 3, "id": f"s-{number}", "timestamp": "2026-11-20T13:00:00Z", "cwd": folder},
        *(
            {"type": "message", "id": f"{number:04x}{turn:04x}", "parentId": f"{number:04x}{turn - 1:04x}" if turn else None,
             "timestamp": f"2026-11-20T{13 + turn // 3600:02}:{turn // 60 % 60:02}:{turn % 60:02}Z",
             "message": {"role": "user", "content": f"Question {turn} of folder {number}. " + "word " * 30}}
            for turn in range(turns)
        ),
    ]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder: Path = tmp_path_factory.mktemp("stdio")
    made = sample_environment(folder, logs=False)
    logs = folder / "home/.pi/agent/sessions/--w--"
    logs.mkdir(parents=True)
    for number, name in enumerate(FOLDERS):
        log = logs / f"2026-11-20T13-00-00-000Z_s-{number}.jsonl"
        log.write_text(session(name, number, 3000 if number == 0 else 3), "utf-8")
    assert run_ingest(made, "--quiet").exit_code == 0
    return made


def talked(environment: Environment, use: Callable[[Client], Awaitable[T]]) -> T:
    async def talk() -> T:
        with anyio.fail_after(90):
            async with Client(stdio_client(parameters(environment, "--no-catch-up"))) as client:
                return await use(client)

    return anyio.run(talk)


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


def test_a_project_of_any_name_is_read_by_its_address(environment: Environment) -> None:
    async def use(client: Client) -> list[str]:
        return [await read(client, f"project://{quote(folder, safe='/')}/recent") for folder in FOLDERS]

    for number, shown in enumerate(talked(environment, use)):
        last = 2999 if number == 0 else 2
        assert f"Question {last} of folder {number}." in shown
        assert not any(f"of folder {other}." in shown for other in range(len(FOLDERS)) if other != number)


def test_a_project_of_windows_is_found_by_its_name_in_wsl(environment: Environment) -> None:
    shown = talked(environment, lambda client: read(client, "project:///mnt/c/Users/me/repo/recent"))
    assert "Question 2 of folder 5." in shown


def test_a_huge_session_is_bounded_and_says_what_is_left_out(environment: Environment) -> None:
    shown = talked(environment, lambda client: read(client, "session://omp:s-0"))
    assert "Question 2999 of folder 0." in shown and "Question 0 of folder 0." not in shown
    assert len(shown) < 150_000 and "raw_rag_context" in shown


def test_prompts_and_completions_answer_over_the_wire(environment: Environment) -> None:
    async def use(client: Client) -> None:
        assert {one.name for one in (await client.list_prompts()).prompts} == {"recall", "resume-context"}
        assert len((await client.list_resource_templates()).resource_templates) == 2
        arguments = {"question": "Question 2999", "project_path": "/w/plain"}
        for name, given in (("recall", arguments), ("resume-context", {"project_path": "/w/plain"})):
            (message,) = (await client.get_prompt(name, given)).messages
            assert isinstance(message.content, TextContent) and "of folder 0." in message.content.text
            assert len(message.content.text) < 60_000
        template = ResourceTemplateReference(type="ref/resource", uri="project://{+path}/recent")
        for folder in FOLDERS:
            found = await client.complete(template, {"name": "path", "value": folder[:6]})
            assert folder in found.completion.values
        prompt = PromptReference(type="ref/prompt", name="recall")
        assert (await client.complete(prompt, {"name": "no-such", "value": "x"})).completion.values == []

    talked(environment, use)


REFUSED: list[tuple[str, Callable[[Client], Awaitable[object]], str]] = [
    ("unknown prompt", lambda client: client.get_prompt("no-such", {}), "no prompt 'no-such'"),
    ("missing argument", lambda client: client.get_prompt("recall", {}), "needs question"),
    ("empty argument", lambda client: client.get_prompt("recall", {"question": ""}), "needs question"),
    ("unknown session", lambda client: client.read_resource("session://pi:nope"), "no session"),
    ("unknown scheme", lambda client: client.read_resource("nope://x"), "nope://x"),
    ("a path with a NUL", lambda client: client.read_resource("project:///w%00x/recent"), ""),
    ("a path that climbs", lambda client: client.read_resource("session://../../etc/passwd"), ""),
]


def test_what_is_unknown_is_a_protocol_error_in_words(environment: Environment) -> None:
    async def use(client: Client) -> list[tuple[str, str]]:
        said = []
        for name, ask, _ in REFUSED:
            try:
                await ask(client)
                said.append((name, "nothing was refused"))
            except MCPError as error:
                said.append((name, str(error)))
        assert (await client.list_prompts()).prompts, "the server lives"
        return said

    for (name, text), (_, _, wanted) in zip(talked(environment, use), REFUSED, strict=True):
        assert text != "nothing was refused", name
        assert wanted.lower() in text.lower() and "Traceback" not in text, (name, text)


def test_a_project_without_history_is_told_so(environment: Environment) -> None:
    shown = talked(environment, lambda client: read(client, "project:///no/where/recent"))
    assert "/no/where" in shown and "of folder" not in shown
