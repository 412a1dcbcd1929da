"""Edits of JSON text that touch nothing but their own place: comments, order, indentation and line ends stay. Pure.

A member owns its key, its value and one comma, never a comment. Every edit reads the text anew, so that places are never
stale.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.connect.jsonc import Node, Part, parse

Path = tuple[str, ...]
_INDENT = re.compile(r"^([ \t]+)(?=\S)", re.MULTILINE)
_REST = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
"""What may follow a member on its own line."""


class UnfitError(ValueError):
    """Text that is JSON, but of another shape than an edit needs."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON text and how strictly it is read."""

    text: str
    lenient: bool

    @property
    def root(self) -> Node:
        """Its tree; an empty text counts as an empty object."""
        return parse(self.text if self.text.strip() else "{}", lenient=self.lenient)

    @property
    def value(self) -> Any:
        """Its value."""
        return self.root.value

    def put(self, path: Path, value: object) -> JsonText:
        """With the value at a path of keys; tables on the way are made where they are missing.

        Raises:
            UnfitError: something else than a table stands on the way.
        """
        if not self.text.strip():
            return JsonText(_written(_nested(path, value), "", "  ", _line_end(self.text)) + "\n", self.lenient)
        node, depth = self._deepest(path)
        if depth == len(path):
            return self._replaced(node, value)
        if not node.keyed:
            raise UnfitError(f"{'.'.join(path[:depth]) or 'the file'} is no table (line {self._line(node.start)})")
        return self._inserted(node, path[depth], _nested(path[depth + 1 :], value))

    def add(self, path: Path, value: object) -> JsonText:
        """With one more element in the array at a path, which is made where it is missing.

        Raises:
            UnfitError: something else than an array stands there.
        """
        node, depth = self._deepest(path)
        if not self.text.strip() or depth < len(path):
            return self.put(path, [value])
        if node.parts is None or node.keyed:
            raise UnfitError(f"{'.'.join(path)} is no list (line {self._line(node.start)})")
        return self._inserted(node, None, value)

    def without(self, path: Path) -> JsonText:
        """Without the member at a path; unchanged if there is none."""
        parent, depth = self._deepest(path[:-1])
        part = parent.member(path[-1]) if depth == len(path) - 1 else None
        return self if part is None else self._cut(parent, part)

    def without_elements(self, path: Path, ours: Callable[[Any], bool]) -> JsonText:
        """Without the elements of the array at a path that ``ours`` is true of."""
        node, depth = self._deepest(path)
        if depth < len(path) or node.keyed:
            return self
        found = [part for part in node.parts or () if ours(part.value.value)]
        return self._cut(node, found[0]).without_elements(path, ours) if found else self

    # ------------------------------------------------------------ places

    def _deepest(self, path: Path) -> tuple[Node, int]:
        """The last node on the path that is there, and how many keys lead to it."""
        node = self.root
        for depth, key in enumerate(path):
            part = node.member(key)
            if part is None:
                return node, depth
            node = part.value
        return node, len(path)

    def _line(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1

    def _indent(self, place: int) -> str:
        """The blanks that the place's line begins with."""
        start = self.text.rfind("\n", 0, place) + 1
        line = self.text[start:place]
        return line[: len(line) - len(line.lstrip(" \t"))]

    @property
    def _unit(self) -> str:
        """One level of indentation: that of the first line that has any."""
        found = _INDENT.search(self.text)
        return found[1] if found else "  "

    # ------------------------------------------------------------ edits

    def _with(self, *spans: tuple[int, int, str]) -> JsonText:
        """Each stretch ``text[start:end]`` replaced; they do not overlap."""
        text = self.text
        for start, end, new in sorted(spans, reverse=True):
            text = text[:start] + new + text[end:]
        return JsonText(text, self.lenient)

    def _replaced(self, node: Node, value: object) -> JsonText:
        flat = "\n" not in self.text[node.start : node.end] and node.parts is not None and bool(node.parts)
        indent = None if flat else self._indent(node.start)
        return self._with((node.start, node.end, _written(value, indent, self._unit, _line_end(self.text))))

    def _inserted(self, node: Node, key: str | None, value: object) -> JsonText:
        if not node.parts:
            return self._first(node, key, value)
        last, eol = node.parts[-1], _line_end(self.text)
        open_line = self.text.find("\n", node.start, node.parts[0].start) >= 0
        behind = last.value.end if last.comma is None else last.comma + 1
        comma = [] if last.comma is not None else [(last.value.end, last.value.end, ",")]
        end = "," if last.comma is not None else ""
        if not open_line:
            return self._with(*_joined(comma, behind, f" {_member(key, value, None, '', eol)}{end}"))
        indent = self._indent(last.start)
        rest = _REST.match(self.text, behind)
        place = rest.end() if rest and self.text[rest.end() : rest.end() + 1] in ("\r", "\n") else behind
        written = f"{eol}{indent}{_member(key, value, indent, self._unit, eol)}{end}"
        return self._with(*_joined(comma, place, written))

    def _first(self, node: Node, key: str | None, value: object) -> JsonText:
        """The first member of a container, which may hold comments."""
        eol, base = _line_end(self.text), self._indent(node.start)
        indent = base + self._unit
        written = f"{eol}{indent}{_member(key, value, indent, self._unit, eol)}"
        inner = self.text[node.start + 1 : node.end - 1]
        if not inner.strip():
            return self._with((node.start + 1, node.end - 1, f"{written}{eol}{base}"))
        kept = node.start + 1 + len(inner.rstrip())
        tail = self.text[kept : node.end - 1]
        return self._with((kept, kept, written if "\n" in tail else f"{written}{eol}{base}"))

    def _cut(self, parent: Node, part: Part) -> JsonText:
        assert parent.parts is not None
        place = parent.parts.index(part)
        start, end = part.start, part.value.end if part.comma is None else part.comma + 1
        spans: list[tuple[int, int, str]] = []
        before = parent.parts[place - 1] if place else None
        if before is not None and part.comma is None and before.comma is not None:
            spans.append((before.comma, before.comma + 1, ""))
        return self._with(*spans, (*self._stretch(parent, start, end, before), ""))

    def _stretch(self, parent: Node, start: int, end: int, before: Part | None) -> tuple[int, int]:
        """A member's place with the blanks around it: its whole lines, if nothing else stands in them."""
        line = self.text.rfind("\n", 0, start)
        stop = len(self.text) - len(self.text[end:].lstrip(" \t"))
        alone = line > parent.start and not self.text[line + 1 : start].strip()
        if alone and self.text[stop : stop + 1] in ("\r", "\n"):
            return (line - 1 if self.text[line - 1] == "\r" else line), stop
        if before is None:
            return start, stop if self.text[stop : stop + 1] not in ("}", "]") else end
        return start - (len(self.text[:start]) - len(self.text[:start].rstrip(" \t"))), end


def _joined(comma: list[tuple[int, int, str]], place: int, written: str) -> list[tuple[int, int, str]]:
    """A comma and an insertion; where both have one place, one insertion."""
    if comma and comma[0][0] == place:
        return [(place, place, f",{written}")]
    return [*comma, (place, place, written)]


def _nested(path: Path, value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _member(key: str | None, value: object, indent: str | None, unit: str, eol: str) -> str:
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    return name + _written(value, indent, unit, eol)


def _written(value: object, indent: str | None, unit: str, eol: str) -> str:
    """JSON; without ``indent`` in one line, else with further lines at that indentation."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    text = _compact_lists(json.dumps(value, ensure_ascii=False, indent=unit))
    return text.replace("\n", f"{eol}{indent}")


def _compact_lists(text: str) -> str:
    """Lists of plain words in one line, as people write them."""
    return re.sub(
        r'\[\s*("(?:[^"\\]|\\.)*"(?:,\s*"(?:[^"\\]|\\.)*")*)\s*\]',
        lambda found: "[" + re.sub(r'("(?:[^"\\]|\\.)*"),\s*', r"\1, ", found[1]) + "]",
        text,
    )


def _line_end(text: str) -> str:
    """The line end of the first line."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
