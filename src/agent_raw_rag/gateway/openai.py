"""OpenAI's form: requests to ``/v1/chat/completions``, and what answers them, at once or in frames. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from agent_raw_rag.gateway.frames import Frame
from agent_raw_rag.gateway.shapes import (
    AUDIO,
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
    parsed,
    sequence,
    string,
)

PATH = "/v1/chat/completions"
DONE = "[DONE]"
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def asked(body: bytes) -> Asked:
    """What a request asks for; of what is no such request, nothing."""
    told = mapping(parsed(body))
    messages = (_message(mapping(one)) for one in sequence(told.get("messages")))
    return Asked(string(told.get("model")), told.get("stream") is True, tuple(one for one in messages if one))


def request(model: str, messages: Iterable[Message], *, max_tokens: int, stream: bool) -> Request:
    """A request for the next message of a conversation."""
    told = [{"role": one.role, "content": one.text} for one in messages]
    body = {"model": model, "messages": told, "max_tokens": max_tokens, "stream": stream}
    return Request(PATH, json.dumps(body).encode())


def error_frame(message: str) -> bytes:
    """A frame that says that the rest will not come."""
    error = json.dumps({"error": {"message": message, "type": "upstream_error"}})
    return f"data: {error}\n\n".encode()


class Heard:
    """Listens to one answer; of several choices to the first."""

    def __init__(self) -> None:
        self._said = Said()
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls = CallParts()

    @property
    def said(self) -> Said:
        """What was said until now."""
        return replace(
            self._said, text="".join(self._text), refusal="".join(self._refusal), calls=self._calls.lines()
        )  # fmt: skip

    def whole(self, body: bytes) -> None:
        """An answer that came at once."""
        self._take(mapping(parsed(body)), "message")

    def frame(self, frame: Frame) -> str:
        """The next frame; the words in it that are to be read."""
        if frame.data.strip() == DONE:
            self._said = replace(self._said, ended=True)
            return ""
        return self._take(mapping(parsed(frame.data)), "delta")

    def _take(self, told: Any, key: str) -> str:
        self._said = replace(
            self._said,
            model=string(told.get("model")) or self._said.model,
            error=error_of(told.get("error")) or self._said.error,
        )
        return "".join([self._choice(choice, key) for choice in _firsts(told.get("choices"))])

    def _choice(self, choice: Any, key: str) -> str:
        if finish := string(choice.get("finish_reason")):
            self._said = replace(self._said, finish=finish, ended=True)
        message = mapping(choice.get(key))
        text, refusal = _text(message.get("content")), string(message.get("refusal"))
        self._text.append(text)
        self._refusal.append(refusal)
        for name, args, index in _calls(message):
            self._calls.add(index, name, args)
        return text + refusal


def _firsts(choices: object) -> Iterator[Any]:
    """The choice of index 0."""
    for n, choice in enumerate(map(mapping, sequence(choices))):
        index = choice.get("index")
        if (n if index is None else index) == 0:
            yield choice


def _calls(message: Any) -> Iterator[tuple[object, object, object]]:
    """(name, arguments, index) of each tool call, the one of the older form too."""
    for n, call in enumerate(map(mapping, sequence(message.get("tool_calls")))):
        told = mapping(call.get("function")) or mapping(call.get("custom"))
        yield told.get("name"), told.get("arguments", told.get("input")), call.get("index", n)
    if old := mapping(message.get("function_call")):
        yield old.get("name"), old.get("arguments"), 0


def _message(told: Any) -> Message | None:
    role = _ROLES.get(string(told.get("role")))
    if role is None:
        return None
    parts = [_text(told.get("content"))]
    if role == "assistant":
        parts += [string(told.get("refusal"))]
        parts += [call_line(string(name), args if isinstance(args, str) else mapping(args))
                  for name, args, _ in _calls(told)]  # fmt: skip
    text = joined(parts)
    return Message(role, text) if text else None


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return joined([_part(mapping(part)) for part in sequence(content)])


def _part(part: Any) -> str:
    kind = string(part.get("type"))
    if kind in ("text", "input_text", "output_text"):
        return string(part.get("text"))
    if kind == "refusal":
        return string(part.get("refusal"))
    if not kind or kind in ("thinking", "reasoning"):
        return ""
    return IMAGE if "image" in kind else AUDIO if "audio" in kind else FILE
