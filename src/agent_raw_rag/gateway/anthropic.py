"""Anthropic's form: requests to ``/v1/messages``, and what answers them, at once or in frames. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from agent_raw_rag.gateway.frames import Frame
from agent_raw_rag.gateway.shapes import (
    FILE,
    IMAGE,
    Asked,
    CallParts,
    Message,
    Request,
    Said,
    call_line,
    error_of,
    joined,
    mapping,
    number,
    parsed,
    sequence,
    string,
)

PATH = "/v1/messages"
_REMINDERS = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
VERSION = "2023-06-01"
"""Of the form, in the header ``anthropic-version``."""


def asked(body: bytes) -> Asked:
    """What a request asks for; of what is no such request, nothing."""
    told = mapping(parsed(body))
    system = _text(told.get("system"))
    messages = [Message("system", system)] if system else []
    messages += [one for one in map(_message, map(mapping, sequence(told.get("messages")))) if one]
    return Asked(string(told.get("model")), told.get("stream") is True, tuple(messages))


def request(model: str, messages: Iterable[Message], *, max_tokens: int, stream: bool) -> Request:
    """A request for the next message of a conversation; neighbours of one role become one message."""
    told = list(messages)
    system = "\n\n".join(one.text for one in told if one.role == "system")
    spoken = groupby((one for one in told if one.role != "system"), key=lambda one: one.role)
    turns = [{"role": role, "content": "\n\n".join(one.text for one in group)} for role, group in spoken]
    body: dict[str, object] = {"model": model, "max_tokens": max_tokens, "messages": turns, "stream": stream}
    if system:
        body["system"] = system
    return Request(PATH, json.dumps(body).encode())


def error_frame(message: str) -> bytes:
    """A frame that says that the rest will not come."""
    error = json.dumps({"type": "error", "error": {"type": "api_error", "message": message}})
    return f"event: error\ndata: {error}\n\n".encode()


class Heard:
    """Listens to one answer."""

    def __init__(self) -> None:
        self._said = Said()
        self._text: dict[int, list[str]] = {}
        self._calls = CallParts()

    @property
    def said(self) -> Said:
        """What was said until now."""
        blocks = ["".join(pieces) for _, pieces in sorted(self._text.items())]
        return replace(self._said, text=joined(blocks), calls=self._calls.lines())

    def whole(self, body: bytes) -> None:
        """An answer that came at once."""
        told = mapping(parsed(body))
        self._message(told)
        for n, block in enumerate(sequence(told.get("content"))):
            self._block(n, mapping(block))
        if told.get("type") == "error" or told.get("error"):
            self._error(told)

    def frame(self, frame: Frame) -> str:
        """The next frame; the words in it that are to be read."""
        told = mapping(parsed(frame.data))
        kind, index = string(told.get("type")) or frame.event, number(told.get("index")) or 0
        if kind == "content_block_start":
            return self._block(index, mapping(told.get("content_block")))
        if kind == "content_block_delta":
            return self._delta(index, mapping(told.get("delta")))
        if kind == "message_start":
            self._message(mapping(told.get("message")))
        elif kind == "message_delta":
            self._message(mapping(told.get("delta")))
        elif kind == "message_stop":
            self._said = replace(self._said, ended=True)
        elif kind == "error":
            self._error(told)
        return ""

    def _error(self, told: Any) -> None:
        self._said = replace(self._said, error=error_of(told.get("error")) or "error")

    def _message(self, told: Any) -> None:
        finish, old = string(told.get("stop_reason")), self._said
        self._said = replace(
            old,
            model=string(told.get("model")) or old.model,
            finish=finish or old.finish,
            ended=old.ended or bool(finish),
        )

    def _block(self, index: int, block: Any) -> str:
        kind = string(block.get("type"))
        if kind == "text":
            return self._words(index, string(block.get("text")))
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            self._calls.add(index, block.get("name"), block.get("input"))
        return ""

    def _delta(self, index: int, delta: Any) -> str:
        kind = string(delta.get("type"))
        if kind == "text_delta":
            return self._words(index, string(delta.get("text")))
        if kind == "input_json_delta":
            self._calls.add(index, "", delta.get("partial_json"))
        return ""

    def _words(self, index: int, text: str) -> str:
        before = "\n" if text and self._text and index not in self._text else ""
        self._text.setdefault(index, []).append(text)
        return before + text


def _message(told: Any) -> Message | None:
    role, content = string(told.get("role")), told.get("content")
    if role not in ("user", "assistant"):
        return None
    text = _text(content) if role == "assistant" else _text(_without_reminders(content))
    return Message(role, text) if text else None


def _without_reminders(content: object) -> object:
    """What a user's message says, without parts that are nothing but reminders: these are the host's words, not the user's."""
    if isinstance(content, str):
        return content if _REMINDERS.sub("", content).strip() else ""
    parts = map(mapping, sequence(content))
    return [
        part for part in parts if part.get("type") != "text" or _REMINDERS.sub("", string(part.get("text"))).strip()
    ]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content if content.strip() else ""
    return joined([_part(mapping(part)) for part in sequence(content)])


def _part(part: Any) -> str:
    kind = string(part.get("type"))
    if kind == "text":
        return string(part.get("text"))
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        return call_line(string(part.get("name")), mapping(part.get("input")))
    if not kind or "thinking" in kind or kind.endswith("tool_result"):
        return ""
    return IMAGE if kind == "image" else FILE
