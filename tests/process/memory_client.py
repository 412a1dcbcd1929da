"""The memory tools of a spawned stdio server, over the official client."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, TextContent

from tests.process.processes import RAW_RAG, SERVER, environment_of, run
from tests.samples import sample_environment

Result = TypeVar("Result")
CONFIG = '[encoder]\nname = "none"\n'


def new_home(folder: Path, config: str = CONFIG, **variables: str) -> dict[str, str]:
    """The environment of a home without logs."""
    return {**sample_environment(folder, config=config, logs=False), **variables}


def over_stdio(environment: dict[str, str], use: Callable[[Client], Awaitable[Result]], *arguments: str) -> Result:
    """What ``use`` makes of a client that is connected to a new server process."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", SERVER, "--no-catch-up", *arguments], env=environment_of(environment)
    )

    async def talk() -> Result:
        with anyio.fail_after(90):
            async with Client(stdio_client(parameters)) as client:
                return await use(client)

    return anyio.run(talk)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured content of a call that succeeds."""
    result = await client.call_tool(f"memory_{tool}", arguments)
    assert not result.is_error, text(result)
    assert result.structured_content is not None
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, str]:
    """The error of a call that is refused: code, message, hint."""
    result = await client.call_tool(f"memory_{tool}", arguments)
    assert result.is_error, result
    assert result.structured_content is not None and set(result.structured_content) == {"code", "message", "hint"}
    assert result.structured_content["code"] in text(result)
    return result.structured_content


def text(result: CallToolResult) -> str:
    """The readable text of a result."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def command(environment: dict[str, str], *words: str, expect: int = 0) -> Any:
    """What a command prints with ``--json``: on stdout, or on stderr if it fails."""
    done = run(RAW_RAG, environment, *words, "--json")
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout if expect == 0 else done.stderr)
