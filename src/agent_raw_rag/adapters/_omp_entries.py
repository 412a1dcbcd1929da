"""Entries of omp and pi sessions -> events. Pure.

A human's words have ``role: user`` and no ``attribution: agent``. Everything else under other roles and entry types that
reads like a message (``custom_message`` whatever its attribution, ``custom``, ``developer``, ``system``, ``fileMention``)
was put in by the harness or an extension.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agent_raw_rag.adapters._omp_session import header, renamed, title_slot
from agent_raw_rag.adapters.base import State, digest, mapping, millis, sequence, string
from agent_raw_rag.models import (
    Event,
    Image,
    Message,
    Millis,
    Outcome,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)

Entry = dict[str, Any]

IGNORED = frozenset(
    (
        "model_change",
        "thinking_level_change",
        "mode_change",
        "service_tier_change",
        "label",
        "archive",
        "credential_pin",
        "model_usage",
        "usage",
        "reset_boundary",
        "custom",
        "custom_message",
        "context_edit",
        "ttsr_injection",
        "mcp_tool_selection",
        "tool_execution_start",
        "tool_execution_started",
        "tool_execution_settled",
    )
)
"""Entry types that hold no words of the conversation."""

_INJECTED = frozenset(
    ("system", "developer", "custom", "hookMessage", "fileMention", "branchSummary", "compactionSummary")
)
_TAIL_CHARS = 300
_CODE = re.compile(r"Command exited with code (-?\d+)\s*$")
_ABORTED = re.compile(r"\b(?:aborted|interrupted|cancelled)(?: by (?:the )?user)?\.?\s*$", re.IGNORECASE)
_REJECTED = re.compile(r"\b(?:rejected|denied|declined) by (?:the )?user\b|\buser (?:rejected|denied|declined)\b", re.I)


def message(data: Entry, state: State) -> list[Event]:
    """An entry of type ``message``, by its role."""
    held = mapping(data.get("message"))
    role = string(held.get("role")) or ""
    build = _ROLES.get(role)
    if build is not None:
        return build(data, held, state)
    return [] if role in _INJECTED else [Unknown(f"message/{role}"[:80])]


def summary(data: Entry, state: State) -> list[Event]:
    """A compaction's or an abandoned branch's summary."""
    text = string(data.get("summary"))
    return _say(data, state, Role.SUMMARY, (Text(text),)) if text else []


def session_init(data: Entry, state: State) -> list[Event]:
    """Only sub-agents have one. Its task is repeated by their first message."""
    state["task"] = True
    return []


# ---------------------------------------------------------------- roles


def _user(data: Entry, held: Entry, state: State) -> list[Event]:
    ordered = state["task"] or held.get("attribution") == "agent"
    return _say(
        data, state, Role.TASK if ordered else Role.USER, _parts(held.get("content")), millis(held.get("timestamp"))
    )


def _assistant(data: Entry, held: Entry, state: State) -> list[Event]:
    parts = _parts(held.get("content"))
    if held.get("stopReason") in ("aborted", "error"):
        # A message that was cut off is never acted on: its calls get no results.
        calls = [part.call_id for part in parts if isinstance(part, ToolCall)]
        parts += tuple(ToolResult(call, Outcome.INTERRUPTED) for call in calls if call)
    return _say(data, state, Role.ASSISTANT, parts, millis(held.get("timestamp")))


def _tool_result(data: Entry, held: Entry, state: State) -> list[Event]:
    call = string(held.get("toolCallId"))
    if call is None:
        return []
    made = Message(
        Role.ASSISTANT,
        f"result {call}",  # a result begins no turn: its key is never stored
        (_result(held, call),),
        millis(data.get("timestamp")),
        record_id=string(data.get("id")),
    )
    return [made]


def _command(data: Entry, held: Entry, state: State) -> list[Event]:
    """The human's own ``!`` command; ``!!`` keeps it from the model, and so from memory."""
    command = string(held.get("command")) or string(held.get("code"))
    if command is None or held.get("excludeFromContext") is True:
        return []
    code = held.get("exitCode")
    failed = isinstance(code, int) and not isinstance(code, bool) and code != 0
    text = f"! {command} (exit {code})" if failed else f"! {command}"
    return _say(data, state, Role.TASK if state["task"] else Role.USER, (Text(text),), millis(held.get("timestamp")))


# ---------------------------------------------------------------- parts


def _say(data: Entry, state: State, role: Role, parts: tuple[Part, ...], time: Millis | None = None) -> list[Event]:
    if not parts:
        return []
    entry, stamp = string(data.get("id")), string(data.get("timestamp"))
    jump, state["jump"] = state["jump"], None
    # Ids are left out where there is a time: a first-generation file gets ids when it is migrated.
    place = (stamp,) if stamp else (state["session"], entry)
    key = digest("omp", *place, role.value, *map(_content, parts))
    when = millis(stamp) if stamp else None
    return [Message(role, key, parts, when if when is not None else time, None, entry, entry, jump)]


def _content(part: Part) -> str:
    if isinstance(part, Text | Thinking):
        return part.text
    return (part.call_id or "") if isinstance(part, ToolCall | ToolResult) else part.label


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),) if content.strip() else ()
    made = (_part(mapping(block)) for block in sequence(content))
    return tuple(part for part in made if part is not None)


def _part(block: Entry) -> Part | None:
    kind = block.get("type")
    if kind == "text":
        text = string(block.get("text"))
        return Text(text) if text and text.strip() else None
    if kind == "thinking":
        thought = string(block.get("thinking"))
        return Thinking(thought) if thought and thought.strip() else None
    if kind == "toolCall":
        args = block.get("arguments")
        known = args if isinstance(args, dict) else string(args) or ""
        return ToolCall(string(block.get("name")) or "tool", known, string(block.get("id")))
    return Image() if kind == "image" else None


# ---------------------------------------------------------------- results


def _result(held: Entry, call: str) -> ToolResult:
    texts = [text for block in _blocks(held) if (text := string(block.get("text")))]
    tail = texts[-1][-_TAIL_CHARS:] if texts else ""
    failed = held.get("isError") is True
    code = _exit_code(held, tail if failed or held.get("toolName") == "bash" else "")
    if not failed and not code:
        return ToolResult(call, Outcome.OK, exit_code=code)
    if code is None and _REJECTED.search(tail):
        return ToolResult(call, Outcome.REJECTED)
    if code is None and _ABORTED.search(tail):
        return ToolResult(call, Outcome.INTERRUPTED)
    return ToolResult(call, Outcome.FAILED, "\n".join(texts), code)


def _blocks(held: Entry) -> list[Entry]:
    content = held.get("content")
    return [{"text": content}] if isinstance(content, str) else [mapping(block) for block in sequence(content)]


def _exit_code(held: Entry, tail: str) -> int | None:
    """omp states it; pi only writes it at the end of the output."""
    code = mapping(held.get("details")).get("exitCode")
    if isinstance(code, int) and not isinstance(code, bool):
        return code
    found = _CODE.search(tail)
    return int(found[1]) if found else None


_ROLES: dict[str, Callable[[Entry, Entry, State], list[Event]]] = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _tool_result,
    "bashExecution": _command,
    "pythonExecution": _command,
}

ENTRIES: dict[str, Callable[[Entry, State], list[Event]]] = {
    "title": title_slot,
    "session": header,
    "message": message,
    "compaction": summary,
    "branch_summary": summary,
    "session_init": session_init,
    "title_change": renamed,
    "session_info": renamed,
}
"""What to do with an entry of this type."""
