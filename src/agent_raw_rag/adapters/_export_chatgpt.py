"""A conversation of a ChatGPT export -> its tree of messages. Pure.

``conversations.json`` (``conversations-000.json`` and so on in large exports) is an array of conversations; each has
``mapping``, a tree of nodes, and ``current_node``, the last one of the live branch. A call is an assistant's message to
a recipient other than ``all``; its result is the next message of role ``tool``. What the service or a setting put in
(system messages, custom instructions, whatever is marked hidden) nobody said, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent_raw_rag.adapters._export_tree import Conversation, Node
from agent_raw_rag.adapters.base import mapping, millis, sequence, string
from agent_raw_rag.models import Image, Message, Outcome, Part, Role, Text, Thinking, ToolCall, ToolResult

Entry = Mapping[str, Any]
_SILENT = frozenset({"user_editable_context", "model_editable_context", "reasoning_recap", "app_pairing_content"})
"""Kinds of content that nobody said."""
_WORDED = frozenset({"text", "multimodal_text", "code", "tether_quote", "tether_browsing_display", "execution_output"})
_PICTURES = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "audio",
    "file_asset_pointer": "file",
}


def is_chatgpt(entry: Entry) -> bool:
    """Whether an entry is a conversation of this service."""
    return isinstance(entry.get("mapping"), dict)


def read_chatgpt(entry: Entry) -> Conversation:
    """The conversation. Raises ValueError: it has no id."""
    session = string(entry.get("conversation_id")) or string(entry.get("id"))
    if session is None:
        raise ValueError("a conversation without id")
    unknown: list[str] = []
    skipped: list[str] = []
    nodes: list[Node] = []
    for name, node in entry["mapping"].items():
        if isinstance(node, dict):
            nodes.append(_node(name, node, session, unknown))
        else:
            skipped.append("node-not-object")
    return Conversation(
        session, string(entry.get("title")), millis(entry.get("create_time")), millis(entry.get("update_time")),
        tuple(nodes), string(entry.get("current_node")), tuple(unknown), tuple(skipped),
    )  # fmt: skip


def _node(name: str, node: Entry, session: str, unknown: list[str]) -> Node:
    parent, held = string(node.get("parent")), mapping(node.get("message"))
    role = string(mapping(held.get("author")).get("role"))
    if role not in ("user", "assistant", "tool") or mapping(held.get("metadata")).get(
        "is_visually_hidden_from_conversation"
    ):
        return Node(name, parent)
    parts = tuple(_READERS[role](held, unknown))
    own = string(held.get("id")) or name
    speaker = Role.USER if role == "user" else Role.ASSISTANT
    message = Message(speaker, f"chatgpt {own}", parts, millis(held.get("create_time")), session, own, own)
    return Node(name, parent, (message,) if parts else ())


# ---------------------------------------------------------------- by role


def _user(held: Entry, unknown: list[str]) -> Iterator[Part]:
    yield from _content(mapping(held.get("content")), unknown)
    yield from _attached(held)


def _assistant(held: Entry, unknown: list[str]) -> Iterator[Part]:
    content, recipient = mapping(held.get("content")), string(held.get("recipient")) or "all"
    if recipient == "all":
        yield from _content(content, unknown)
        yield from _attached(held)
    else:
        yield ToolCall(recipient, "\n".join(_texts(content)))


def _tool(held: Entry, unknown: list[str]) -> Iterator[Part]:
    """What a tool gave back; pictures it made are shown, as the human saw them."""
    content = mapping(held.get("content"))
    outcome = _outcome(held, content)
    yield ToolResult(None, outcome, "\n".join(_texts(content)) if outcome is Outcome.FAILED else "")
    for part in _content(content, unknown):
        if isinstance(part, Image):
            yield part


def _outcome(held: Entry, content: Entry) -> Outcome:
    if content.get("content_type") == "system_error":
        return Outcome.FAILED
    status = string(mapping(mapping(held.get("metadata")).get("aggregate_result")).get("status")) or ""
    if status.startswith(("failed", "error")):
        return Outcome.FAILED
    return Outcome.OK if status == "success" else Outcome.UNKNOWN


_READERS = {"user": _user, "assistant": _assistant, "tool": _tool}


# ---------------------------------------------------------------- by kind of content


def _content(content: Entry, unknown: list[str]) -> Iterator[Part]:
    kind = string(content.get("content_type")) or "content without type"
    if kind == "thoughts":
        thoughts = "\n".join(_thoughts(content))
        if thoughts.strip():
            yield Thinking(thoughts)
    elif kind in _WORDED:
        yield from _parts(content, unknown)
    elif kind not in _SILENT and kind != "system_error":
        unknown.append(f"content/{kind}"[:80])
        yield from _parts(content, unknown)


def _parts(content: Entry, unknown: list[str]) -> Iterator[Part]:
    """Texts and pictures, in their order; a content of one text has no list."""
    for part in sequence(content.get("parts")) or [content.get("text") or content.get("result")]:
        if isinstance(part, str):
            if part.strip():
                yield Text(part)
        elif isinstance(part, dict):
            yield from _piece(part, unknown)


def _piece(part: Entry, unknown: list[str]) -> Iterator[Part]:
    kind = string(part.get("content_type")) or "part without type"
    text = string(part.get("text"))
    if kind in _PICTURES:
        yield Image(_PICTURES[kind])
    elif text and text.strip():
        yield Text(text)
    else:
        unknown.append(f"part/{kind}"[:80])


def _texts(content: Entry) -> Iterator[str]:
    """All words of a content, for arguments and outputs."""
    for name in ("text", "result", "summary"):
        if text := string(content.get(name)):
            yield text
    for part in sequence(content.get("parts")):
        if isinstance(part, str) and part:
            yield part


def _thoughts(content: Entry) -> Iterator[str]:
    for thought in map(mapping, sequence(content.get("thoughts"))):
        for name in ("summary", "content"):
            if text := string(thought.get(name)):
                yield text


def _attached(held: Entry) -> Iterator[Part]:
    for attachment in map(mapping, sequence(mapping(held.get("metadata")).get("attachments"))):
        if name := string(attachment.get("name")):
            yield Image(f"file {name}")
