"""What an exchange with a model is, whatever form it has: what was asked, and what was said. Pure.

Requests and answers come from others: of what is no JSON, or not the JSON that was expected, nothing is read; nothing raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from agent_raw_rag.gateway.frames import Frame
from agent_raw_rag.models import Action, ToolCall
from agent_raw_rag.sanitize.actions import action_lines
from agent_raw_rag.sanitize.options import Options

IMAGE, AUDIO, FILE = "[image]", "[audio]", "[file]"
"""What stands for a part that is no text."""
CUT_SHORT = frozenset({"length", "max_tokens"})
"""Reasons to end, in the words of the forms, that leave an answer without its end."""
_MOST_CALLS = 1000
_MOST_PARTS, _MOST_COMMAS = 500_000, 4_000_000
_MODEL = re.compile(rb'"model"\s*:\s*"([^"\\]{1,200})"')


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: str
    """``system``, ``user`` or ``assistant``."""
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for."""

    model: str = ""
    stream: bool = False
    messages: tuple[Message, ...] = ()
    """In their order, those without words and the results of tools left out."""

    def first(self, role: str) -> str:
        """The text of the first message of a role; empty: there is none."""
        return next((one.text for one in self.messages if one.role == role), "")

    @property
    def last_user(self) -> str:
        """The text of the last message of the user; empty: there is none."""
        return next((one.text for one in reversed(self.messages) if one.role == "user"), "")


@dataclass(frozen=True, slots=True)
class Said:
    """What a model has said, or what of it came."""

    text: str = ""
    refusal: str = ""
    calls: tuple[str, ...] = ()
    """A line for each call of a tool, as the sanitizer writes them."""
    model: str = ""
    finish: str = ""
    """Why it ended, in the words of its form; empty: it did not say."""
    error: str | None = None
    """What the server says went wrong. None: nothing."""
    ended: bool = False
    """The end came: a reason, or the stream's last frame."""
    missing: str = ""
    """Why some of what came could not be read; empty: all of it was."""

    @property
    def is_cut(self) -> bool:
        """Its end is missing, or some of it."""
        return not self.ended or self.error is not None or self.finish in CUT_SHORT or bool(self.missing)

    @property
    def words(self) -> str:
        """All of it as one text: what was said, refused, and done."""
        return "\n".join(part for part in (self.text, self.refusal, *self.calls) if part.strip())


class Hearing(Protocol):
    """Listens to one answer. Never raises, whatever comes."""

    def whole(self, body: bytes) -> None:
        """An answer that came at once."""
        ...

    def frame(self, frame: Frame) -> str:
        """The next frame of an answer that comes in pieces. Returns the words in it that are to be read: text or refusal."""
        ...

    @property
    def said(self) -> Said:
        """What was said until now."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a server of models."""

    path: str
    """Begins with ``/v1/``."""
    body: bytes
    """JSON."""


class CallParts:
    """Tool calls that come in pieces, each by its index."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[list[str], list[str]]] = {}

    def add(self, index: object, name: object, args: object) -> None:
        """A piece of a call: of its name, of its arguments' JSON. What is no text adds nothing."""
        n = index if isinstance(index, int) else len(self._calls)
        if n not in self._calls and len(self._calls) >= _MOST_CALLS:
            return
        names, pieces = self._calls.setdefault(n, ([], []))
        names.append(string(name))
        pieces.append(args if isinstance(args, str) else json.dumps(args) if mapping(args) else "")

    def lines(self) -> tuple[str, ...]:
        """A line for each call."""
        told = (call_line("".join(names), "".join(pieces)) for _, (names, pieces) in sorted(self._calls.items()))
        return tuple(line for line in told if line)


def call_line(name: str, args: Mapping[str, Any] | str) -> str:
    """A tool call in one line, as those of logs are written; empty for a call of our own memory. Secrets are masked later."""
    return "\n".join(action_lines(Action(ToolCall(name or "tool", args)), str, Options()))


def parsed(data: bytes | str) -> Any:
    """A JSON document; None: it is none."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:  # or what only the other takes: numbers without end, halves of a character
        pass
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def is_readable(data: bytes) -> bool:
    """Whether a document has so few parts that reading it takes no more memory than a few times its length."""
    return data.count(b"{") + data.count(b"[") <= _MOST_PARTS and data.count(b",") <= _MOST_COMMAS


def model_in(data: bytes) -> str:
    """The model that a document names first, found without reading it; empty: none."""
    found = _MODEL.search(data)
    return found[1].decode("utf-8", "replace") if found else ""


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def string(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """The value if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def error_of(value: object) -> str | None:
    """The message of an ``error``, whatever shape it has; None: it says none."""
    if isinstance(value, str):
        return value or None
    found = mapping(value)
    return string(found.get("message")) or string(found.get("type")) or (json.dumps(found)[:400] if found else None)


def joined(parts: Sequence[str]) -> str:
    """Parts of one message as its text."""
    return "\n".join(part for part in parts if part.strip())
