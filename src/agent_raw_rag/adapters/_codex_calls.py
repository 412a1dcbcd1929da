"""Codex's tool calls and what reports their results: items of a rollout -> parts of a message. Pure, no state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from agent_raw_rag.adapters._codex_outcome import (
    result_of_change,
    result_of_command,
    result_of_dynamic,
    result_of_mcp,
    result_of_output,
    result_of_status,
)
from agent_raw_rag.adapters.base import digest, mapping, sequence, string
from agent_raw_rag.models import Outcome, ToolCall, ToolResult

Item = dict[str, Any]

NESTED = "exec-"
"""How the ids of calls begin that a code-mode script made. They have no call of their own in the rollout."""


def call_id(item: Item) -> str | None:
    """What joins a call and its result."""
    return string(item.get("call_id")) or string(item.get("callId")) or string(item.get("id"))


def call_parts(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    """The call that a response item makes; with its result where no other record will bring one. () if it is no call."""
    build = _CALLS.get(string(item.get("type")) or "")
    return build(item) if build else ()


def output_parts(item: Item, *, reported: bool) -> tuple[ToolResult, ...]:
    """The result that an output item brings; () while its process still runs and its end will be ``reported``."""
    known = call_id(item)
    if known is None:
        return ()
    if item.get("type") == "tool_search_output":
        return (result_of_status(item, known),)
    result = result_of_output(known, item.get("output"), reported=reported)
    return (result,) if result else ()


def report_parts(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    """What an event or a completed turn item says about a call: its result, and the call itself where a code-mode
    script made it, as no other record tells of that one."""
    known = call_id(item)
    kind = string(item.get("type")) or ""
    if known is None or kind not in _REPORTS:
        return ()
    result = _REPORTS[kind](item, known)
    if not known.startswith(NESTED):
        return (result,) if result else ()
    return (_nested_call(kind, item, known), result or ToolResult(known, Outcome.OK))


# ---------------------------------------------------------------- calls


def _function_call(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    name = string(item.get("name"))
    if name is None:
        return ()
    space = string(item.get("namespace")) or ""
    if space.startswith("mcp__"):
        name = f"{space}__{name.lstrip('_')}"
    return (ToolCall(name, _arguments(item.get("arguments")), call_id(item)),)


def _custom_call(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    name = string(item.get("name"))
    return (ToolCall(name, _arguments(item.get("input")), call_id(item)),) if name else ()


def _shell_call(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    action = mapping(item.get("action"))
    args = {"command": action.get("command"), "workdir": action.get("working_directory")}
    return (ToolCall("local_shell", {key: value for key, value in args.items() if value}, call_id(item)),)


def _search_call(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    return (ToolCall("tool_search", _arguments(item.get("arguments")), call_id(item)),)


def _web_call(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    return _answered("web_search", _web_target(item), item)


def _image_call(item: Item) -> tuple[ToolCall | ToolResult, ...]:
    return _answered("image_generation", {"prompt": string(item.get("revised_prompt")) or ""}, item)


def _answered(name: str, args: dict[str, Any], item: Item) -> tuple[ToolCall | ToolResult, ...]:
    """A call that the model's provider ran itself: no output follows in the rollout."""
    known = call_id(item) or digest(name, *args.values())
    return ToolCall(name, args, known), result_of_status(item, known)


def _web_target(item: Item) -> dict[str, Any]:
    action = mapping(item.get("action"))
    queries = [query for query in sequence(action.get("queries")) if string(query)]
    query = string(action.get("query")) or string(item.get("query")) or "; ".join(queries)
    args = {"query": query, "url": action.get("url"), "pattern": action.get("pattern")}
    return {key: value for key, value in args.items() if string(value)}


def _arguments(value: object) -> dict[str, Any] | str:
    """Arguments as an object where the log holds one, also as JSON text; else the text itself."""
    if isinstance(value, dict):
        return value
    text = string(value) or ""
    if not text.startswith("{"):
        return text
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return parsed if isinstance(parsed, dict) else text


_CALLS: dict[str, Callable[[Item], tuple[ToolCall | ToolResult, ...]]] = {
    "function_call": _function_call,
    "custom_tool_call": _custom_call,
    "local_shell_call": _shell_call,
    "tool_search_call": _search_call,
    "web_search_call": _web_call,
    "image_generation_call": _image_call,
}

_REPORTS: dict[str, Callable[[Item, str], ToolResult | None]] = {
    "CommandExecution": result_of_command,
    "exec_command_end": result_of_command,
    "FileChange": result_of_change,
    "patch_apply_end": result_of_change,
    "McpToolCall": result_of_mcp,
    "mcp_tool_call_end": result_of_mcp,
    "DynamicToolCall": result_of_dynamic,
    "dynamic_tool_call_response": result_of_dynamic,
    "CollabAgentToolCall": result_of_status,
    "WebSearch": result_of_status,
}


# ---------------------------------------------------------------- calls inside a code-mode script


def _nested_call(kind: str, item: Item, known: str) -> ToolCall:
    if kind in ("CommandExecution", "exec_command_end"):
        return ToolCall(
            "exec_command", {"cmd": _command(item.get("command")), "workdir": _folder(item.get("cwd"))}, known
        )
    if kind in ("FileChange", "patch_apply_end"):
        return ToolCall("apply_patch", {"path": ", ".join(mapping(item.get("changes")))}, known)
    if kind in ("McpToolCall", "mcp_tool_call_end"):
        made = mapping(item.get("invocation")) or item
        return ToolCall(f"mcp__{made.get('server')}__{made.get('tool')}", _arguments(made.get("arguments")), known)
    if kind == "WebSearch":
        return ToolCall("web_search", _web_target(item), known)
    args = item.get("arguments") or {"prompt": string(item.get("prompt")) or ""}
    return ToolCall(string(item.get("tool")) or "tool", _arguments(args), known)


def _command(value: object) -> str:
    """A command line; the script alone where a shell was called with one."""
    words = [str(word) for word in sequence(value)]
    if len(words) == 3 and words[1] in ("-lc", "-c"):
        return words[2]
    return " ".join(words) if words else string(value) or ""


def _folder(value: object) -> str:
    return (string(value) or "").removeprefix("file://")
