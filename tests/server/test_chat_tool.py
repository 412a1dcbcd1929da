"""Notices of progress of the tool ``chat``, without waiting for seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer

from agent_raw_rag.models import Actor
from agent_raw_rag.server.chat_tool import chat_tool
from tests.samples import empty_runtime
from tests.servers.talking import Talk, talking_server


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with talking_server() as url:
        yield url


def test_notices_come_again_and_again_and_only_go_forward(tmp_path: Path, root: str) -> None:
    talk = Talk(root)
    runtime = empty_runtime(tmp_path, config='[encoder]\nname = "none"\n' + talk.config("hold"), logs=False)
    tool = chat_tool(lambda context: runtime.chat, lambda context: Actor("me", "stdio"), every_seconds=0.01)
    told: list[tuple[float, str | None]] = []
    enough = anyio.Event()

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))
        if message == "3 characters so far" and len(told) > 3:
            enough.set()

    async def use() -> None:
        async with Client(MCPServer("t", tools=[tool])) as client, anyio.create_task_group() as tasks:

            async def ask() -> None:
                result = await client.call_tool("chat", {"message": "hi"}, progress_callback=heard)
                assert (result.structured_content or {})["text"] == "You said: hi"

            tasks.start_soon(ask)
            with anyio.fail_after(60):
                await enough.wait()
            await anyio.to_thread.run_sync(talk.release)

    anyio.run(use)
    assert any((message or "").startswith("session chat-") for _, message in told)
    assert [one[0] for one in told] == sorted({one[0] for one in told})
