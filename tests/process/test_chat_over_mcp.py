"""The tool ``chat``, over stdio and over HTTP, as real processes."""

from __future__ import annotations

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp_types import CallToolResult

from tests.process.chatting import stored
from tests.process.memory_client import over_stdio, text
from tests.servers.memory_http import FIVE, Home, serving
from tests.servers.talking import Talk

pytestmark = pytest.mark.process


@pytest.mark.line("G2")
@pytest.mark.line("G3")
def test_the_tool_answers_goes_on_with_a_session_and_knows_the_memory(home: Home, talk: Talk) -> None:
    async def use(client: Client) -> None:
        saved = await client.call_tool("memory_save", {"content": "Deploys happen on Tuesdays", "source": "me"})
        note = (saved.structured_content or {})["node_id"]
        first = await client.call_tool("chat", {"message": "when are deploys?"})
        told = first.structured_content or {}
        assert not first.is_error and told["text"] == "You said: when are deploys?" and not told["partial"]
        assert told["memories_used"] == [note] and told["captured"] and told["model"] == "echo"
        assert told["session_id"] in text(first) and told["text"] in text(first)
        await client.call_tool("chat", {"message": "sure?", "session_id": told["session_id"]})

    over_stdio(home.environment, use)
    assert [one["role"] for one in talk.asked()[1]] == ["user", "assistant", "user"]
    assert "happen on Tuesdays" in talk.systems()[0]


@pytest.mark.line("G4")
def test_without_a_model_the_tool_is_not_there(home: Home) -> None:
    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert "chat" in over_stdio(home.environment, names)
    home.configure("")
    assert "chat" not in over_stdio(home.environment, names)


@pytest.mark.line("G5")
@pytest.mark.parametrize("model", ["hold", "silent", "never"])
def test_the_tool_gives_what_came_in_time_and_tells_progress(home: Home, talk: Talk, model: str) -> None:
    notices: list[str | None] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        notices.append(message)

    async def use(client: Client) -> CallToolResult:
        await client.call_tool("chat", {"message": "before"})  # what is loaded once costs no time of the other's
        arguments = {"message": "hi", "model": model, "timeout_s": 2, "session_id": "s1"}
        return await client.call_tool("chat", arguments, progress_callback=heard)

    result = over_stdio(home.environment, use)
    told = result.structured_content or {}
    assert not result.is_error and told["partial"] and told["session_id"] == "s1"
    assert told["text"] == ("You" if model == "hold" else "")
    assert "session s1" in notices
    assert stored(home, "s1")[0] == ("user", "hi", False)


def test_the_tools_failures_have_codes_and_the_question_stays(home: Home) -> None:
    async def use(client: Client) -> list[str]:
        codes = []
        for more in ({"model": "500", "session_id": "s1"}, {"message": " "}, {"timeout_s": 0}, {"model": "dies"}):
            result = await client.call_tool("chat", {"message": "hi", **more})
            assert result.is_error and "Traceback" not in text(result)
            codes.append((result.structured_content or {})["code"])
        return codes

    assert over_stdio(home.environment, use) == ["upstream", "bad_argument", "bad_argument", "upstream"]
    assert stored(home, "s1") == [("user", "hi", False)]


def test_a_held_chat_holds_up_no_other_call(home: Home, talk: Talk) -> None:
    async def use(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "chat", {"message": "hi", "model": "hold"})
            await anyio.to_thread.run_sync(talk.wait_held)
            assert not (await client.call_tool("memory_recall", {"query": "anything"})).is_error
            talk.release()

    over_stdio(home.environment, use)


def test_over_http_the_tool_is_there_for_tokens_that_may_chat_and_tells_progress(home: Home, talk: Talk) -> None:
    notices: list[str | None] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        notices.append(message)

    async def use(client: Client) -> CallToolResult:
        return await client.call_tool(
            "chat", {"message": "hi", "model": "hold", "timeout_s": 1}, progress_callback=heard
        )

    plain, chatty = home.token("plain"), home.token("chatty", scope="read,write,chat")
    with serving(home) as served:
        assert served.tools(plain) == FIVE
        assert served.tools(chatty) == sorted([*FIVE, "chat"])
        assert served.refused("chat", {"message": "hi"}, plain) == "not_found"
        told = served.answer("chat", {"message": "hi", "session_id": "s1"}, chatty)
        assert told["text"] == "You said: hi"
        assert (served.with_client(use, chatty).structured_content or {})["partial"]
    assert notices
    assert [one[0] for one in stored(home, "s1", "proj")] == ["user", "assistant"]
    assert stored(home, "s1") == []
