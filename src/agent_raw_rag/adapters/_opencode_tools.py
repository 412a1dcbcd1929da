"""OpenCode's tool calls, of both generations: arguments, and how the call ended.

A command that failed is *completed*: its exit code is in the metadata. Status *error* means the tool itself failed,
was rejected by the human, or was cut off.
"""

from __future__ import annotations

import re
from typing import Any

from agent_raw_rag.adapters.base import mapping, sequence, string
from agent_raw_rag.models import Outcome, ToolCall, ToolResult

COMMANDS = frozenset({"bash", "shell"})
"""Their success is an exit code; without one the log does not say how they ended."""

SETTLED = frozenset({"completed", "success", "error"})

_REJECTED = re.compile(r"user (?:rejected|denied|dismissed)|permission.{0,9}reject", re.IGNORECASE)
_CUT_OFF = re.compile(
    r"(?:tool execution |the operation )?(?:was )?(?:aborted|interrupted|cancell?ed)"
    r"(?: before v2 migration| by (?:the )?user)?\.?",
    re.IGNORECASE,
)
_TIMED_OUT = re.compile(r"terminated (?:command )?after exceeding timeout", re.IGNORECASE)


def tool_call(name: object, state: dict[str, Any], call_id: str) -> ToolCall:
    """The call as the log has it; while its arguments are still being written they are a text."""
    arguments = state.get("input")
    return ToolCall(string(name) or "tool", arguments if isinstance(arguments, str) else mapping(arguments), call_id)


def tool_result(name: object, state: dict[str, Any], call_id: str) -> ToolResult | None:
    """How it ended; None: it has not, or nobody will ever know."""
    if string(state.get("status")) not in SETTLED:
        return None
    exit_code = _exit_code(state)
    outcome = _outcome(name, state, exit_code)
    return ToolResult(call_id, outcome, _output(state) if outcome is Outcome.FAILED else "", exit_code)


def _exit_code(state: dict[str, Any]) -> int | None:
    for place in ("metadata", "structured"):
        code = mapping(state.get(place)).get("exit")
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    return None


def _outcome(name: object, state: dict[str, Any], exit_code: int | None) -> Outcome:
    if state.get("status") == "error":
        return _failure(state)
    if exit_code is not None:
        return Outcome.FAILED if exit_code else Outcome.OK
    if string(name) not in COMMANDS:
        return Outcome.OK
    tail = _output(state)[-500:]
    if _TIMED_OUT.search(tail):
        return Outcome.FAILED
    return Outcome.INTERRUPTED if "User aborted the command" in tail else Outcome.UNKNOWN


def _failure(state: dict[str, Any]) -> Outcome:
    error = state.get("error")
    words, kind = _words(error), str(mapping(error).get("type"))
    if _REJECTED.search(f"{kind} {words}"):
        return Outcome.REJECTED
    cut_off = kind in ("aborted", "tool.interrupted") or _CUT_OFF.fullmatch(words.strip())
    return Outcome.INTERRUPTED if cut_off else Outcome.FAILED


def _output(state: dict[str, Any]) -> str:
    """What the call wrote, then what went wrong."""
    return "\n".join(text for text in (_written(state), _words(state.get("error"))) if text)


def _written(state: dict[str, Any]) -> str:
    texts = [string(mapping(item).get("text")) for item in sequence(state.get("content"))]
    found = "\n".join(text for text in texts if text)
    return found or string(state.get("output")) or string(mapping(state.get("metadata")).get("output")) or ""


def _words(error: object) -> str:
    if isinstance(error, str):
        return error
    return string(mapping(error).get("message")) or string(mapping(mapping(error).get("data")).get("message")) or ""
