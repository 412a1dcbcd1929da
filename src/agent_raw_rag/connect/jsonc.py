"""JSON text -> a tree that knows where everything stands, so that an edit touches nothing but its own place. Pure.

Reads strict JSON and JSON with comments and trailing commas. There is no maintained Python library that edits such text in
place without a JavaScript engine under it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
DEEPEST = 200
"""Levels of nesting; no configuration has as many."""


class MalformedError(ValueError):
    """Text that is no JSON."""

    def __init__(self, why: str, text: str, place: int) -> None:
        line = text.count("\n", 0, place) + 1
        column = place - (text.rfind("\n", 0, place) + 1) + 1
        super().__init__(f"line {line}, column {column}: {why}")


@dataclass(slots=True)
class Part:
    """A member of an object, or an element of an array (without a key)."""

    start: int
    """Of the key, or of the value of an element."""
    value: Node
    key: str = ""
    comma: int | None = None
    """Place of the comma after it."""


@dataclass(slots=True)
class Node:
    """A value and where it stands: ``text[start:end]``."""

    start: int
    end: int
    scalar: Any = None
    parts: list[Part] | None = None
    """None for a scalar."""
    keyed: bool = False
    """Object, not array."""

    @property
    def value(self) -> Any:
        """As Python sees it; of equal keys the last counts."""
        if self.parts is None:
            return self.scalar
        if self.keyed:
            return {part.key: part.value.value for part in self.parts}
        return [part.value.value for part in self.parts]

    def member(self, key: str) -> Part | None:
        """The member of an object that counts."""
        found = [part for part in self.parts or () if self.keyed and part.key == key]
        return found[-1] if found else None


@dataclass(slots=True)
class _Reader:
    text: str
    lenient: bool
    depth: int = field(default=0)

    def skip(self, place: int) -> int:
        """Behind spaces, and comments where they are allowed."""
        while True:
            place = self.match(_SPACE, place)
            end = self.match(_COMMENT, place) if self.lenient else place
            if end == place:
                return place
            place = end

    def match(self, pattern: re.Pattern[str], place: int) -> int:
        found = pattern.match(self.text, place)
        return found.end() if found else place

    def fail(self, why: str, place: int) -> MalformedError:
        return MalformedError(why if place < len(self.text) else "the text ends too early", self.text, place)

    def node(self, place: int) -> Node:
        opening = self.text[place : place + 1]
        if opening in ("{", "["):
            return self.container(place, keyed=opening == "{")
        end = self.match(_STRING, place) if opening == '"' else self.match(_SCALAR, place)
        if end == place:
            raise self.fail("a value is missing", place)
        try:
            return Node(place, end, json.loads(self.text[place:end]))
        except ValueError:
            raise self.fail("a string holds what no string may hold", place) from None

    def container(self, place: int, *, keyed: bool) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail("too deeply nested", place)
        closing = "}" if keyed else "]"
        parts: list[Part] = []
        at = self.skip(place + 1)
        while self.text[at : at + 1] != closing:
            if parts and parts[-1].comma is None:
                raise self.fail(f"',' or '{closing}' is missing", at)
            part = self.part(at, keyed=keyed)
            parts.append(part)
            at = self.skip(part.value.end)
            if self.text[at : at + 1] == ",":
                part.comma = at
                at = self.skip(at + 1)
        if parts and parts[-1].comma is not None and not self.lenient:
            raise self.fail("a comma stands before the end", parts[-1].comma)
        self.depth -= 1
        return Node(place, at + 1, parts=parts, keyed=keyed)

    def part(self, at: int, *, keyed: bool) -> Part:
        if not keyed:
            return Part(at, self.node(at))
        key = self.node(at) if self.text[at : at + 1] == '"' else None
        if key is None:
            raise self.fail("a key in double quotes is missing", at)
        colon = self.skip(key.end)
        if self.text[colon : colon + 1] != ":":
            raise self.fail("':' is missing", colon)
        return Part(at, self.node(self.skip(colon + 1)), key=key.scalar)


def parse(text: str, *, lenient: bool) -> Node:
    """The tree of a text. ``lenient`` allows comments and trailing commas.

    Raises:
        MalformedError: it is not JSON; the message has line and column.
    """
    reader = _Reader(text, lenient)
    root = reader.node(reader.skip(0))
    end = reader.skip(root.end)
    if end != len(text):
        raise reader.fail("something stands behind the end", end)
    return root
