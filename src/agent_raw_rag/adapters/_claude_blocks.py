"""Content blocks of Claude Code rows -> parts of messages, and how a tool call ended."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from agent_raw_rag.adapters._claude_text import between, said, without_reminders
from agent_raw_rag.adapters.base import digest, mapping, sequence, string
from agent_raw_rag.models import Event, Image, Outcome, Part, Text, Thinking, ToolCall, ToolResult, Unknown

_EXIT = re.compile(r"Exit code (-?\d+)[ \t\r]*(?:\n|\Z)")
_REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission for this tool use was denied. The tool use was rejected",
)
_INTERRUPTED = "[Request interrupted by user"
_WRAPPERS = (("<tool_use_error>", "</tool_use_error>"), ("<persisted-output>", "</persisted-output>"))
_FEEDBACK = "the user said:\n"
_AFTER_FEEDBACK = "\n\nNote: The user's next message may contain"
_CANNED_FEEDBACK = "The user wants to clarify these questions."
_NO_TEXT = ("", "(no content)")
_IGNORED = frozenset({"redacted_thinking", "tool_reference", "fallback"})


def human_parts(content: object, words: Callable[[str], str], events: list[Event]) -> tuple[Part, ...]:
    """Words and pictures of a ``user`` row; () if all its texts are the harness's."""
    blocks = [content] if isinstance(content, str) else sequence(content)
    parts: list[Part] = []
    texts = 0
    for block in blocks:
        part = _human_part(block, words, events)
        texts += isinstance(part, Text)
        if part is not None and part != Text(""):
            parts.append(part)
    return tuple(parts) if not texts or any(isinstance(part, Text) for part in parts) else ()


def assistant_parts(content: object, events: list[Event]) -> tuple[Part, ...]:
    """What the model said and did in one row. Usually one block; several are possible."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return tuple(part for block in sequence(content) if (part := _assistant_part(mapping(block), events)) is not None)


def part_mark(part: Part) -> str:
    """Kind and content of a part, the same in every copy of it."""
    if isinstance(part, ToolCall):
        return f"tool:{part.call_id or digest(part.name, part.args)}"
    if isinstance(part, ToolResult):
        return f"result:{part.call_id}"
    if isinstance(part, Image):
        return f"image:{part.label}"
    return f"{'text' if isinstance(part, Text) else 'thinking'}:{digest(part.text)}"


def result_blocks(content: object) -> list[dict[str, Any]]:
    """The tool results in a ``user`` row's content."""
    return [block for block in sequence(content) if mapping(block).get("type") == "tool_result"]


def tool_result(block: Mapping[str, Any], data: Mapping[str, Any]) -> ToolResult:
    """How the call ended that a ``tool_result`` block of the row ``data`` answers.

    ``is_error`` decides; the shape of ``toolUseResult`` does not (a string there is no failure). That a shell command exited
    with 0 is implied by its result being an object of the shell's shape: the harness makes an error of anything else.
    """
    call, echo = string(block.get("tool_use_id")), data.get("toolUseResult")
    if block.get("is_error"):
        return _failure(call, _output(block, echo), data)
    if isinstance(echo, dict):
        if echo.get("interrupted"):
            return ToolResult(call, Outcome.INTERRUPTED)
        return ToolResult(call, Outcome.OK, exit_code=0 if _is_finished_shell(echo) else None)
    code, rest = _exit_code(_text(block.get("content")))
    return ToolResult(call, Outcome.FAILED, rest, code) if code else ToolResult(call, Outcome.OK)


def feedback(block: Mapping[str, Any]) -> str:
    """What the human typed when refusing a tool call; "" if nothing. It stands nowhere else in the log."""
    text = _text(block.get("content")) if block.get("is_error") else ""
    if not text.startswith(_REJECTED) or _FEEDBACK not in text:
        return ""
    words = text.partition(_FEEDBACK)[2].partition(_AFTER_FEEDBACK)[0].strip()
    return "" if words.startswith(_CANNED_FEEDBACK) else said(words)


# ---------------------------------------------------------------- blocks


def _human_part(block: object, words: Callable[[str], str], events: list[Event]) -> Part | None:
    if isinstance(block, str):
        return Text(words(block))
    fields = mapping(block)
    kind = fields.get("type")
    if kind == "text":
        return Text(words(string(fields.get("text")) or ""))
    if kind in ("image", "document"):
        return Image(str(kind))
    if fields and kind != "tool_reference":
        events.append(Unknown(f"block:{kind}"))
    return None


def _assistant_part(block: dict[str, Any], events: list[Event]) -> Part | None:
    kind = string(block.get("type")) or "none"
    if kind == "text":
        text = string(block.get("text")) or ""
        return Text(text) if text.strip() not in _NO_TEXT else None
    if kind == "thinking":
        text = string(block.get("thinking")) or ""
        return Thinking(text) if text.strip() else None
    if kind.endswith("tool_use"):
        return ToolCall(string(block.get("name")) or "tool", _arguments(block.get("input")), string(block.get("id")))
    if kind.endswith("tool_result"):
        return _server_result(block)
    if kind in ("image", "document"):
        return Image(kind)
    if kind not in _IGNORED:
        events.append(Unknown(f"block:{kind}"))
    return None


def _arguments(value: object) -> Mapping[str, Any] | str:
    if isinstance(value, dict | str):
        return value
    return "" if value is None else str(value)


def _server_result(block: dict[str, Any]) -> ToolResult:
    """A call that the provider ran itself, such as a web search."""
    call, content = string(block.get("tool_use_id")), mapping(block.get("content"))
    if (string(content.get("type")) or "").endswith("_error") or block.get("is_error"):
        return ToolResult(call, Outcome.FAILED, string(content.get("error_code")) or _text(block.get("content")))
    return ToolResult(call, Outcome.OK)


# ---------------------------------------------------------------- outcomes


def _failure(call: str | None, output: str, data: Mapping[str, Any]) -> ToolResult:
    denial, echo = data.get("toolDenialKind"), data.get("toolUseResult")
    if denial == "user-rejected" or output.startswith(_REJECTED) or echo == "User rejected tool use":
        return ToolResult(call, Outcome.REJECTED)
    code, rest = _exit_code(output)
    stopped = rest.startswith(_INTERRUPTED) or rest[-60:].rpartition("\n")[2].startswith(_INTERRUPTED)
    if stopped or denial in ("interrupted", "cancelled") or mapping(echo).get("interrupted"):
        return ToolResult(call, Outcome.INTERRUPTED)
    return ToolResult(call, Outcome.FAILED, rest, code)


def _output(block: Mapping[str, Any], echo: object) -> str:
    """A failed call's output without the harness's wrapping."""
    text = without_reminders(_text(block.get("content"))).strip("\n")
    if not text and isinstance(echo, str):
        text = echo.removeprefix("Error: ")
    for opening, closing in _WRAPPERS:
        if text.startswith(opening):
            inner = between(text, opening, closing) or text.removeprefix(opening)
            header, preview, body = inner.partition("\n\nPreview (first ")
            text = body.partition("\n")[2] if preview and "Output too large" in header else inner
    return text.strip("\n")


def _exit_code(text: str) -> tuple[int | None, str]:
    found = _EXIT.match(text)
    return (int(found[1]), text[found.end() :]) if found else (None, text)


def _is_finished_shell(echo: dict[str, Any]) -> bool:
    """A shell's result whose exit code is known to be 0: not sent to the background, and no other code explained away."""
    return (
        "stdout" in echo
        and "interrupted" in echo
        and not echo.get("backgroundTaskId")
        and not echo.get("returnCodeInterpretation")
    )


def _text(content: object) -> str:
    """The text of a tool result's content: a string, or blocks."""
    if isinstance(content, str):
        return content
    blocks = (block if isinstance(block, str) else string(mapping(block).get("text")) for block in sequence(content))
    return "\n".join(text for text in blocks if text)
