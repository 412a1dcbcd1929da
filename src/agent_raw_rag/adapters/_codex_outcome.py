"""How a Codex tool call ended, read from the text of its output or from the event that reports it. Pure, no state."""

from __future__ import annotations

import re
from typing import Any

import orjson

from agent_raw_rag.adapters.base import mapping, string
from agent_raw_rag.models import Outcome, ToolResult

_HEADER_CHARS = 400
_HEADERS = ("Chunk ID:", "Wall time", "Exit code:", "Process ", "Script ")
_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_RUNNING = re.compile(r"^(Process running with session ID|Script running with cell ID) ", re.MULTILINE)
_METADATA = re.compile(r'"metadata"\s*:\s*\{\s*"exit_code"\s*:\s*(-?\d+)')
_INTERRUPTED = re.compile(r"^(?:command was )?aborted\b|^Script terminated", re.MULTILINE)
_REJECTED = re.compile(r"(?:rejected|cancelled) by user\b|^user (?:rejected|cancelled) MCP tool call", re.MULTILINE)
_FINE = ("Plan updated", "Success. Updated the following files", "attached local image path")
_FAULTS = (
    "apply_patch verification failed",
    "failed to ",
    "Failed to ",
    "execution error:",
    "exec_command failed",
    "write_stdin failed",
    "tool call error:",
    "tool call failed",
    "unsupported call:",
    "unsupported custom tool call:",
    "unable to locate image",
    "Script failed",
    "sandbox error",
    "command timed out",
    "Rejected(",
    "err: ",
)
_STATUS = {"declined": Outcome.REJECTED, "failed": Outcome.FAILED, "completed": Outcome.OK}


def output_text(output: object) -> str:
    """The text of an output: a string, a list of content items, or an object around either."""
    if isinstance(output, str):
        return output
    if isinstance(output, list):
        return "\n".join(text for part in output if (text := string(mapping(part).get("text"))))
    content = mapping(output).get("content")
    return string(mapping(output).get("text")) or (output_text(content) if isinstance(content, str | list) else "")


def result_of_output(call_id: str, output: object, *, reported: bool) -> ToolResult | None:
    """The result that an output text tells. None while its process still runs, where the end of processes is
    ``reported`` by a record of its own."""
    text = output_text(output)
    head = _header(text)
    running = _RUNNING.search(head) if head else None
    if running:
        return None if reported and running[1].startswith("Process") else ToolResult(call_id, Outcome.UNKNOWN)
    code = _exit_code(text, head)
    if code is not None:
        return _with_code(call_id, code, _body(text, head) if code else "")
    outcome = _told(text, head)
    return ToolResult(call_id, outcome, _body(text, head) if outcome is Outcome.FAILED else "")


def result_of_command(item: dict[str, Any], call_id: str) -> ToolResult:
    """The result of a ``CommandExecution`` item or an ``exec_command_end`` event."""
    code, status = item.get("exit_code"), string(item.get("status")) or ""
    output = string(item.get("aggregated_output")) or string(item.get("formatted_output")) or ""
    if status == "declined":
        return ToolResult(call_id, Outcome.REJECTED)
    if isinstance(code, int) and not isinstance(code, bool):
        return _with_code(call_id, code, output)
    outcome = _STATUS.get(status, Outcome.UNKNOWN)
    return ToolResult(call_id, outcome, output if outcome is Outcome.FAILED else "")


def result_of_change(item: dict[str, Any], call_id: str) -> ToolResult | None:
    """The result of a ``FileChange`` item or a ``patch_apply_end`` event that did not succeed. None if it did: the
    output that follows knows the exit code."""
    status = string(item.get("status")) or ""
    if status == "declined":
        return ToolResult(call_id, Outcome.REJECTED)
    if status == "failed" or item.get("success") is False:
        output = string(item.get("stderr")) or string(item.get("stdout")) or ""
        return ToolResult(call_id, Outcome.REJECTED if _REJECTED.search(output) else Outcome.FAILED, output)
    return None


def result_of_mcp(item: dict[str, Any], call_id: str) -> ToolResult:
    """The result of an ``McpToolCall`` item or an ``mcp_tool_call_end`` event."""
    result = mapping(item.get("result"))
    error = item.get("error") or result.get("Err")
    answer = mapping(result.get("Ok")) or result
    if error or answer.get("isError") is True or item.get("status") == "failed":
        told = string(error) or string(mapping(error).get("message")) or output_text(answer.get("content"))
        return ToolResult(call_id, Outcome.REJECTED if _REJECTED.search(told) else Outcome.FAILED, told)
    return ToolResult(call_id, Outcome.OK)


def result_of_status(item: dict[str, Any], call_id: str) -> ToolResult:
    """The result of a call that reports nothing but a status."""
    return ToolResult(call_id, _STATUS.get(string(item.get("status")) or "", Outcome.UNKNOWN))


def result_of_dynamic(item: dict[str, Any], call_id: str) -> ToolResult:
    """The result of a client's own tool."""
    if item.get("success") is False or item.get("error"):
        told = string(item.get("error")) or output_text(item.get("content_items"))
        return ToolResult(call_id, Outcome.FAILED, told)
    return ToolResult(call_id, Outcome.OK if item.get("success") is True else Outcome.UNKNOWN)


def _with_code(call_id: str, code: int, output: str) -> ToolResult:
    failed = code != 0
    return ToolResult(call_id, Outcome.FAILED if failed else Outcome.OK, output if failed else "", code)


def _header(text: str) -> str:
    """The lines that Codex puts before an output; "" if there are none."""
    return text[:_HEADER_CHARS].partition("\nOutput:")[0] if text.startswith(_HEADERS) else ""


def _exit_code(text: str, head: str) -> int | None:
    found = _CODE.search(head) if head else None
    if found is None and text.startswith("{"):
        found = _METADATA.search(text, max(0, len(text) - _HEADER_CHARS))
    return int(found[1]) if found else None


def _body(text: str, head: str) -> str:
    """The output without the lines or the JSON around it."""
    if head and text.startswith("\nOutput:", len(head)):
        return text[len(head) + len("\nOutput:") :].removeprefix("\n")
    if text.startswith("{"):
        try:
            return output_text(mapping(orjson.loads(text)).get("output")) or text
        except orjson.JSONDecodeError:
            return text
    return text


def _told(text: str, head: str) -> Outcome:
    """The outcome where no exit code is given."""
    start = text[:_HEADER_CHARS]
    if _REJECTED.search(start) and not head:
        return Outcome.REJECTED
    if _INTERRUPTED.search(head or start[:80]):
        return Outcome.INTERRUPTED
    if text.startswith(_FAULTS):
        return Outcome.FAILED
    return Outcome.OK if head or text.startswith(_FINE) else Outcome.UNKNOWN
