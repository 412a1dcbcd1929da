"""Tool calls over the official client, in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent

from agent_raw_rag.runtime import Runtime
from agent_raw_rag.server.app import build
from tests.samples import PROJECT

Result = TypeVar("Result")


def with_client(
    runtime: Runtime, use: Callable[[Client], Awaitable[Result]], *, folder: str = PROJECT, **options: Any
) -> Result:
    """What ``use`` makes of a client that is connected to a server over the runtime."""

    async def run() -> Result:
        with anyio.fail_after(60):
            async with Client(build(lambda: runtime, folder=folder), **options) as client:
                return await use(client)

    return anyio.run(run)


def call(runtime: Runtime, tool: str, arguments: dict[str, Any], **options: Any) -> CallToolResult:
    """The result of one call."""

    async def use(client: Client) -> CallToolResult:
        return await client.call_tool(f"raw_rag_{tool}", arguments)

    return with_client(runtime, use, **options)


def text(result: CallToolResult) -> str:
    """The readable text of a result."""
    assert [type(block) for block in result.content] == [TextContent]
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


def answer(runtime: Runtime, tool: str, arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The structured content of a call that succeeds."""
    result = call(runtime, tool, arguments, **options)
    assert not result.is_error, text(result)
    assert result.structured_content is not None
    return result.structured_content


def refusal(runtime: Runtime, tool: str, arguments: dict[str, Any]) -> str:
    """The text of a call that is refused."""
    result = call(runtime, tool, arguments)
    assert result.is_error, text(result)
    assert "Traceback" not in text(result)
    return text(result)
