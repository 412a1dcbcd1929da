"""``user`` rows of Claude Code: a human's prompt, an order to a sub-agent, a compaction's summary, or tool results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.adapters._claude_blocks import feedback, human_parts, result_blocks, tool_result
from agent_raw_rag.adapters._claude_queue import is_delivered_copy
from agent_raw_rag.adapters._claude_text import by_human, by_model, is_summary, said, without_reminders
from agent_raw_rag.adapters._claude_tree import branch_from
from agent_raw_rag.adapters.base import State, digest, mapping, millis, sequence, string
from agent_raw_rag.models import Event, Message, Millis, Part, Role, Text

UUID_CHARS = 32


@dataclass(frozen=True, slots=True)
class Row:
    """A row of conversation, with what its place in the log says about it."""

    data: Mapping[str, Any]
    uuid: str | None
    time: Millis | None
    session: str | None
    """None: the file's."""
    role: Role
    """Who speaks in its ``user`` rows: USER, or TASK if it is a sub-agent's."""

    @classmethod
    def of(cls, data: Mapping[str, Any], session: str | None, role: Role) -> Row:
        """A row as the fields of the log have it."""
        return cls(data, string(data.get("uuid")), millis(data.get("timestamp")), session, role)

    @property
    def unique_id(self) -> str | None:
        """The uuid, if it is one: hand-made and redacted logs number their rows (``u1``), each file anew."""
        return self.uuid if self.uuid and len(self.uuid) >= UUID_CHARS else None

    @property
    def content(self) -> object:
        """The message's content: a string, blocks, or anything else."""
        return mapping(self.data.get("message")).get("content")

    def message(self, role: Role, key: str, parts: tuple[Part, ...], **more: str | None) -> Message:
        """A message that stands in this row."""
        return Message(role, key, parts, self.time, self.session, self.uuid, **more)


def user_messages(row: Row, state: State, events: list[Event]) -> list[Message]:
    """The messages of a ``user`` row; [] if it holds nothing but harness text."""
    blocks = result_blocks(row.content)
    return _results(row, blocks) if blocks else _words(row, state, events)


def first_text(content: object) -> str:
    """The content, or its first text block, whoever wrote it."""
    if isinstance(content, str):
        return content
    return next((text for block in sequence(content) if (text := string(mapping(block).get("text")))), "")


def _words(row: Row, state: State, events: list[Event]) -> list[Message]:
    if is_summary(row.data, first_text(row.content)):
        parts = human_parts(row.content, without_reminders, events)
        return [row.message(Role.SUMMARY, _key(row, state, parts), parts)] if parts else []
    if not (by_model if row.role is Role.TASK else by_human)(row.data):
        return []
    parts = human_parts(row.content, said, events)
    if not parts:
        return []
    if row.role is Role.TASK:
        return [row.message(row.role, _key(row, state, parts), parts)]
    if is_delivered_copy(parts, state):
        return []
    return [row.message(row.role, _key(row, state, parts), parts, branch_from=branch_from(row.data, state))]


def _results(row: Row, blocks: list[dict[str, Any]]) -> list[Message]:
    """Results of tool calls; and the human's words, if one was refused with words."""
    parts = tuple(tool_result(block, row.data) for block in blocks)
    refused = [(block.get("tool_use_id"), words) for block in blocks if (words := feedback(block))]
    return [
        row.message(Role.ASSISTANT, row.unique_id or digest(row.uuid, row.time, *parts), parts),
        *(row.message(row.role, digest("refused", call, words), (Text(words),)) for call, words in refused),
    ]


def _key(row: Row, state: State, parts: tuple[Part, ...]) -> str:
    moment = row.data.get("promptId") or row.data.get("timestamp")
    return row.unique_id or digest(row.uuid, row.session or state["session"], moment, *parts)
