"""Antigravity's conversation databases: steps whose payload is protobuf, without a published schema.

Only what independent observers agree on is read: step types 14 and 15 (a prompt, an answer), the words in them, and the
time in a step's metadata. Everything else, and everything that does not parse, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from agent_raw_rag.adapters.base import millis
from agent_raw_rag.models import Millis

USER_STEP, ANSWER_STEP = 14, 15
_PROMPT, _ANSWER = 19, 20
_PROMPT_WORDS = (2,)
_ANSWER_WORDS = (1, 8)
_ANSWER_THOUGHTS = (3,)
_STARTED = (6, 7, 8)
_NESTING = 6

_FRAMING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FILE_URI = re.compile(r"file://(/[^\x00-\x1f\"'<>\ufffd]+)")

Field = tuple[int, int | bytes]


def fields(blob: object) -> Iterator[Field]:
    """(number, value) of a message's fields, up to the first byte that is none. Fixed-size numbers are left out."""
    place = 0
    while isinstance(blob, bytes) and place < len(blob):
        tag, place = _varint(blob, place)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, place = _varint(blob, place)
            if value >= 0:
                yield number, value
        elif wire == 2:
            size, place = _varint(blob, place)
            if size < 0 or place + size > len(blob):
                return
            yield number, blob[place : place + size]
            place += size
        elif wire in (1, 5):
            place += 8 if wire == 1 else 4
        else:
            return


def _varint(blob: bytes, place: int) -> tuple[int, int]:
    """A number and the place behind it; -1 and the end where there is none."""
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(blob):
            break
        byte = blob[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    return -1, len(blob)


def prompt_words(payload: object) -> str:
    """The words of a step of type 14."""
    return _words(payload, _PROMPT, _PROMPT_WORDS)


def answer_words(payload: object) -> str:
    """The words of a step of type 15."""
    return _words(payload, _ANSWER, _ANSWER_WORDS)


def answer_thoughts(payload: object) -> str:
    """The reasoning of a step of type 15."""
    return _words(payload, _ANSWER, _ANSWER_THOUGHTS)


def step_time(metadata: object) -> Millis | None:
    """When a step began."""
    found = dict(reversed([*fields(metadata)]))
    for number in _STARTED:
        seconds = dict(fields(found.get(number))).get(1)
        if isinstance(seconds, int) and 10**9 < seconds < 10**10:
            return millis(seconds)
    return None


def workspace(blob: object, depth: int = 0) -> str | None:
    """The first file URI in a conversation's metadata."""
    for _, value in fields(blob):
        if not isinstance(value, bytes):
            continue
        uri = _FILE_URI.match(value.decode("utf-8", "replace"))
        inside = unquote(uri[1]) if uri else workspace(value, depth + 1) if depth < _NESTING else None
        if inside:
            return inside
    return None


def _words(payload: object, outer: int, inner: tuple[int, ...]) -> str:
    """The first clean text among these fields; neighbours hold the same text with its framing."""
    message = next((value for number, value in fields(payload) if number == outer and isinstance(value, bytes)), b"")
    known: list[Field] = [*fields(message)]
    for wanted in inner:
        for number, value in known:
            text = _text(value) if number == wanted else ""
            if text:
                return text
    return ""


def _text(value: Any) -> str:
    try:
        text = value.decode("utf-8") if isinstance(value, bytes) else ""
    except UnicodeDecodeError:
        return ""
    return "" if _FRAMING.search(text) else text.strip()
