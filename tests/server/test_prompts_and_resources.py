"""Prompts, resource templates and completions, over the official client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import Runtime
from tests.samples import PROJECT, empty_runtime
from tests.server.calls import with_client


def prompt(runtime: Runtime, name: str, **arguments: str) -> str:
    async def use(client: Client) -> str:
        (message,) = (await client.get_prompt(name, arguments)).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    return with_client(runtime, use)


def read(runtime: Runtime, uri: str) -> str:
    async def use(client: Client) -> str:
        (content,) = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    return with_client(runtime, use)


def complete(runtime: Runtime, ref: Any, name: str, typed: str) -> list[str]:
    async def use(client: Client) -> list[str]:
        return list((await client.complete(ref, {"name": name, "value": typed})).completion.values)

    return with_client(runtime, use)


def refusal(runtime: Runtime, use: Callable[[Client], Awaitable[object]]) -> str:
    """The words of the protocol error that a request ends in."""

    async def asked(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await use(client)
        return str(refused.value)

    return with_client(runtime, asked)


def test_the_server_lists_two_prompts_and_two_templates(runtime: Runtime) -> None:
    async def use(client: Client) -> tuple[set[str], set[str]]:
        prompts, templates = await client.list_prompts(), await client.list_resource_templates()
        return {one.name for one in prompts.prompts}, {one.uri_template for one in templates.resource_templates}

    assert with_client(runtime, use) == (
        {"recall", "resume-context"}, {"session://{id}", "project://{+path}/recent"}
    )  # fmt: skip


def test_recall_brings_the_passages_and_fences_them(runtime: Runtime) -> None:
    shown = prompt(runtime, "recall", question="Why does the upload retry?")
    assert "Answer this question" in shown and "Why does the upload retry?" in shown
    assert "untrusted history" in shown and "session" in shown


def test_recall_takes_another_project(runtime: Runtime) -> None:
    assert "Nothing in /nowhere answers" in prompt(runtime, "recall", question="retry", project_path="/nowhere")


def test_resume_context_is_the_last_exchange_and_nothing_before(runtime: Runtime) -> None:
    turns = runtime.recent(Ask(project=PROJECT), limit=1000, max_tokens=100_000).turns
    last = turns[-1]
    shown = prompt(runtime, "resume-context")
    assert last.text in shown
    others = [turn.text for turn in turns if (turn.session, turn.exchange) != (last.session, last.exchange)]
    assert others and not any(text in shown for text in others if len(text) > 40)


def test_a_session_is_read_by_its_address(runtime: Runtime) -> None:
    session = runtime.sessions(Ask(project="*"))[0]
    shown = read(runtime, f"session://{session.session}")
    assert runtime.show(session.session).turns[-1].text in shown and "untrusted history" in shown


def test_a_projects_last_turns_are_read_by_its_path(runtime: Runtime) -> None:
    assert runtime.recent(Ask(project=PROJECT)).turns[-1].text in read(runtime, f"project://{PROJECT}/recent")


@pytest.mark.parametrize("uri", ["session://nope", "session://claude:0000"])
def test_an_unknown_session_is_refused_in_words(runtime: Runtime, uri: str) -> None:
    assert "no session" in refusal(runtime, lambda client: client.read_resource(uri)).lower()


def test_a_prompt_without_a_store_says_so(tmp_path: Path) -> None:
    bare = empty_runtime(tmp_path)
    assert "There is no store" in refusal(bare, lambda client: client.get_prompt("recall", {"question": "retry"}))


def test_arguments_complete_to_what_is_stored(runtime: Runtime) -> None:
    recall = PromptReference(type="ref/prompt", name="recall")
    template = ResourceTemplateReference(type="ref/resource", uri="session://{id}")
    assert complete(runtime, recall, "project_path", "upload") == [PROJECT]
    assert "claude" in complete(runtime, recall, "agent", "cla")
    sessions = [item.session for item in runtime.sessions(Ask(project="*"))]
    assert set(complete(runtime, template, "id", "")) == set(sessions)
    assert complete(runtime, template, "id", sessions[0]) == [sessions[0]]
    assert complete(runtime, recall, "question", "x") == []
