"""A conversation of a claude.ai export -> its tree of messages. Pure.

``conversations.json`` is an array of conversations; each has ``chat_messages`` with ``sender`` human or assistant, blocks in
``content``, and in newer exports the message that each one answers. A paste is an attachment without a name, or with the
name that the service gives one: its text is what the human said. Any other attachment is named, not read, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_raw_rag.adapters._export_tree import Conversation, Node
from agent_raw_rag.adapters.base import digest, mapping, millis, sequence, string
from agent_raw_rag.models import Image, Message, Outcome, Part, Role, Text, Thinking, ToolCall, ToolResult

Entry = Mapping[str, Any]
_SENDERS = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_SILENT = frozenset({"token_budget", "redacted_thinking", "flag"})
"""Blocks that hold no words."""


_PASTED = re.compile(r"past(?:e|ed)(?:[ _-]?(?:text|content))?[ _.()\d-]*(?:txt|md)?", re.IGNORECASE)
"""What the service calls a text that was pasted: ``paste.txt``, ``paste-2.txt``, ``Pasted text (1).txt``."""


def is_claude_ai(entry: Entry) -> bool:
    """Whether an entry is a conversation of this service."""
    return isinstance(entry.get("chat_messages"), list)


def read_claude_ai(entry: Entry) -> Conversation:
    """The conversation. Raises ValueError: it has no id."""
    session = string(entry.get("uuid"))
    if session is None:
        raise ValueError("a conversation without uuid")
    unknown: list[str] = []
    skipped: list[str] = []
    nodes: list[Node] = []
    linked = any(string(mapping(one).get("parent_message_uuid")) for one in sequence(entry["chat_messages"]))
    for one in sequence(entry["chat_messages"]):
        if not isinstance(one, dict):
            skipped.append("message-not-object")
            continue
        before = nodes[-1].id if nodes and not linked else None
        role = _SENDERS.get(str(one.get("sender")))
        nodes.append(_node(one, role, session, before, unknown))
        if role is None:
            skipped.append("message-without-sender")
    return Conversation(
        session, string(entry.get("name")), millis(entry.get("created_at")), millis(entry.get("updated_at")),
        tuple(nodes), string(entry.get("current_leaf_message_uuid")), tuple(unknown), tuple(skipped),
        sum(_left_out(one) for one in sequence(entry["chat_messages"]) if isinstance(one, dict)),
    )  # fmt: skip


def _node(one: Entry, role: Role | None, session: str, before: str | None, unknown: list[str]) -> Node:
    if role is None:
        name = string(one.get("uuid")) or digest(session, repr(one))
        return Node(name, string(one.get("parent_message_uuid")) or before)
    time = millis(one.get("created_at"))
    parts = tuple(_parts(one, role, unknown))
    name = string(one.get("uuid")) or digest(session, role.value, time, *map(str, parts))
    message = Message(role, f"claude.ai {name}", parts, time, session, name, name)
    return Node(name, string(one.get("parent_message_uuid")) or before, (message,) if parts else ())


def _parts(one: Entry, role: Role, unknown: list[str]) -> Iterator[Part]:
    blocks = [block for block in sequence(one.get("content")) if isinstance(block, dict)]
    said = list(_blocks(blocks, role, unknown))
    text = string(one.get("text"))
    if text and text.strip() and not blocks:
        said.append(Text(text))
    yield from said
    yield from _attached(one)


def _blocks(blocks: list[dict[str, Any]], role: Role, unknown: list[str]) -> Iterator[Part]:
    called: set[str] = set()
    for block in blocks:
        kind = string(block.get("type")) or "block without type"
        if kind == "text":
            if (text := string(block.get("text"))) and text.strip():
                yield Text(text)
        elif kind == "thinking":
            if (thought := string(block.get("thinking"))) and thought.strip():
                yield Thinking(thought)
        elif kind == "tool_use" and role is Role.ASSISTANT:
            call = string(block.get("id"))
            called |= {call} if call else set()
            yield ToolCall(string(block.get("name")) or "tool", mapping(block.get("input")), call)
        elif kind == "tool_result" and role is Role.ASSISTANT:
            yield _result(block, called)
        elif kind in ("image", "document", "voice_note"):
            yield Image(string(block.get("title")) or string(block.get("file_name")) or kind.replace("_", " "))
        elif kind not in _SILENT:
            unknown.append(f"block/{kind}"[:80])


def _result(block: Entry, called: set[str]) -> ToolResult:
    call = string(block.get("tool_use_id"))
    known = call if call in called else None  # older exports give one of the two an id, or neither
    if block.get("is_error") is not True:
        return ToolResult(known, Outcome.OK if block.get("is_error") is False else Outcome.UNKNOWN)
    content = block.get("content")
    texts = [content] if isinstance(content, str) else [string(mapping(one).get("text")) for one in sequence(content)]
    return ToolResult(known, Outcome.FAILED, "\n".join(text for text in texts if text))


def _left_out(one: Entry) -> int:
    """How many attached files have contents that are not taken."""
    files = map(mapping, sequence(one.get("attachments")))
    told = [string(file.get("file_name")) for file in files if (string(file.get("extracted_content")) or "").strip()]
    return sum(1 for name in told if name and not _PASTED.fullmatch(name))


def _attached(one: Entry) -> Iterator[Part]:
    named: set[str] = set()
    for attachment in map(mapping, sequence(one.get("attachments"))):
        name, text = string(attachment.get("file_name")), string(attachment.get("extracted_content"))
        has_text = bool(text and text.strip())
        if name and has_text and _PASTED.fullmatch(name):
            yield Text(f"{name}:\n{text}")
        elif name:
            named.add(name)
            yield Image(f"file {name}")
        elif text and has_text:
            yield Text(text)
    for file in (*sequence(one.get("files")), *sequence(one.get("files_v2"))):
        name = string(mapping(file).get("file_name"))
        if name and name not in named:
            named.add(name)
            yield Image(f"file {name}")
