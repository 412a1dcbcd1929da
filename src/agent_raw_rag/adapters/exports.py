"""Exports of chat services: files that a person asked a service for, read once by hand. Pure.

A row says how to know a conversation of the service and how to read it. They are no adapters: nothing of theirs lies in a folder,
and nobody watches them. What they tell goes through the door ``import``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.adapters._export_chatgpt import is_chatgpt, read_chatgpt
from agent_raw_rag.adapters._export_claude_ai import is_claude_ai, read_claude_ai
from agent_raw_rag.adapters._export_tree import Conversation, Node, Stretch, stretches

__all__ = ["DOOR", "EXPORTS", "Conversation", "Export", "Node", "Stretch", "export_of", "stretches"]

DOOR = "import"
"""The agent of the sessions that come in this way."""


@dataclass(frozen=True, slots=True)
class Export:
    """One service's row."""

    name: str
    title: str
    """The service's name for people."""
    knows: Callable[[Mapping[str, Any]], bool]
    """Whether an entry of an export is a conversation of this service."""
    read: Callable[[Mapping[str, Any]], Conversation]
    """A conversation. Raises ValueError: it has no identity."""


EXPORTS = (
    Export("claude.ai", "claude.ai", is_claude_ai, read_claude_ai),
    Export("chatgpt", "ChatGPT", is_chatgpt, read_chatgpt),
)


def export_of(entry: Mapping[str, Any]) -> Export | None:
    """The row that knows an entry; None: no service's conversation."""
    return next((row for row in EXPORTS if row.knows(entry)), None)
