"""Reads the arguments of a tool call, whatever shape the log gives them, and finds the ones that tell its target."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

TEXT_KEY = "input"
"""The name under which arguments that are one text are filed."""
_DEPTH = 3
_WORDS = 400
"""Characters of a JSON value that is shown for want of a text."""


def as_mapping(args: Mapping[str, Any] | str) -> dict[str, Any]:
    """The arguments by name, names in lower case without ``_`` and ``-``: every agent spells ``filePath`` its own way."""
    value: Any = _parsed(args) if isinstance(args, str) else args
    if isinstance(value, list):
        value = {"command": value}
    if not isinstance(value, Mapping):
        value = {TEXT_KEY: value}
    found: dict[str, Any] = {}
    for key, entry in value.items():
        found.setdefault(str(key).replace("_", "").replace("-", "").lower(), entry)
    return found


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def text_of(args: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first of these arguments that holds words; lists are joined by commas. Empty if none does."""
    for key in keys:
        words = _words(args.get(key))
        if words:
            return words
    return ""


def first_text(args: Mapping[str, Any]) -> tuple[str, str]:
    """(name, words) of the first argument that is a text; else of the first that is anything."""
    for name, value in _leaves(args, _DEPTH):
        if isinstance(value, str) and value.strip():
            return name, value
    for name, value in _leaves(args, _DEPTH):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return name, str(value)[:_WORDS]
    return "", ""


def _leaves(value: object, depth: int, name: str = "") -> Iterable[tuple[str, object]]:
    if depth and isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _leaves(entry, depth - 1, str(key))
    elif depth and isinstance(value, list | tuple):
        for entry in value:
            yield from _leaves(entry, depth - 1, name)
    else:
        yield name, value


def _words(value: object) -> str:
    if isinstance(value, str):
        return _unquoted(value).strip("\r\n\t ")
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, (_words(entry) for entry in value[:20] if isinstance(entry, str))))
    return ""


def _unquoted(text: str) -> str:
    """Some logs write a text as JSON inside JSON."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        parsed = _parsed(text)
        return parsed if isinstance(parsed, str) else text
    return text
