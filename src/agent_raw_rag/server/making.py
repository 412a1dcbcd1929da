"""A function -> a tool: its schemas made short, its docstring what a model reads about it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from agent_raw_rag.server.schemas import slim, slim_output

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
APPENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)  # fmt: skip
"""Adds what is new, and nothing when it is called again."""
REPLACES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)  # fmt: skip
"""Takes something out of force."""


def tool_of(function: Callable[..., Any], title: str, annotations: ToolAnnotations) -> Tool:
    """The tool of a function, which a worker thread will call."""
    about = inspect.cleandoc(function.__doc__ or "")
    tool = Tool.from_function(function, title=title, description=about, annotations=annotations)
    assert tool.fn_metadata.output_schema is not None  # the SDK drops a schema it cannot make without a word
    tool.parameters = slim(tool.parameters)
    tool.fn_metadata.output_schema = slim_output(tool.fn_metadata.output_schema)
    return tool


def answer(text: str, content: dict[str, Any]) -> CallToolResult:
    """A tool's result: words for a model, the same as JSON values for programs."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)
