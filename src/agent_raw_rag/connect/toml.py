"""Edits of TOML text. A new table goes to the end, where it parts nothing from its comment; tomlkit does the rest. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table
from tomlkit.toml_document import TOMLDocument

from agent_raw_rag.connect.splice import Path, UnfitError


@dataclass(frozen=True, slots=True)
class TomlText:
    """A TOML text."""

    text: str

    @property
    def value(self) -> dict[str, Any]:
        """Its value.

        Raises:
            tomllib.TOMLDecodeError: it is not TOML; the message has line and column.
        """
        return tomllib.loads(self.text)

    def put(self, path: Path, value: object) -> TomlText:
        """With the value at a path of keys.

        Raises:
            UnfitError: something else than a table stands on the way, or the result would not mean what it should.
        """
        wanted = _merged(self.value, path, value)
        document = tomlkit.parse(self.text)
        table: Any = document
        inline = False
        for key in path[:-1]:
            table = table.setdefault(key, {})
            inline = inline or isinstance(table, InlineTable)
        if isinstance(value, Mapping) and path[-1] not in table and not inline:
            return self._checked(self._appended(path, value), wanted)
        table[path[-1]] = _inline(value) if isinstance(value, Mapping) and isinstance(table, InlineTable) else value
        return self._checked(self._dumped(document), wanted)

    def without(self, path: Path) -> TomlText:
        """Without the value at a path; unchanged if there is none."""
        wanted = _dropped(self.value, path)
        if wanted == self.value:
            return self
        try:
            return self._checked(self._without_lines(path), wanted)
        except UnfitError:  # no tables of its own: inline or dotted keys
            document = tomlkit.parse(self.text)
            table: Any = document
            for key in path[:-1]:
                table = table[key]
            del table[path[-1]]
            return self._checked(self._dumped(document), wanted)

    def _without_lines(self, path: Path) -> str:
        """Without the lines of a table and of those below it. Comments that follow belong to what comes next."""
        header = re.compile(rf"[ \t]*\[\s*{_DOT.join(map(_quoted_or_not, path))}\s*(?:\.[^\]]*)?\]")
        kept: list[str] = []
        held: list[str] = []
        inside = False
        for line in self.text.splitlines(keepends=True):
            if line.lstrip().startswith("["):
                kept += held
                held, inside = [], header.match(line) is not None
            if not inside:
                kept.append(line)
            elif not line.strip() or line.lstrip().startswith("#"):
                held.append(line)
            else:
                held = []
            if inside and kept and not kept[-1].strip() and not held and header.match(line):
                kept.pop()  # the blank line that stood before it
        return "".join([*kept, *held])

    def _appended(self, path: Path, value: Mapping[str, object]) -> str:
        document = tomlkit.document()
        outer: Table | TOMLDocument = document
        for key in path[:-1]:
            inner: Table = tomlkit.table(is_super_table=True)
            outer.append(key, inner)
            outer = inner
        outer.append(path[-1], value)
        eol = "\r\n" if "\r\n" in self.text else "\n"
        before = self.text if not self.text or self.text.endswith("\n") else f"{self.text}{eol}"
        gap = eol if before.strip() and not before.endswith(("\n\n", "\n\r\n")) else ""
        return before + gap + tomlkit.dumps(document).replace("\n", eol)

    def _dumped(self, document: TOMLDocument) -> str:
        text = tomlkit.dumps(document)
        lone = re.search(r"(?<!\r)\n", self.text)
        return text if lone or "\r\n" not in self.text else re.sub(r"(?<!\r)\n", "\r\n", text)

    def _checked(self, text: str, wanted: dict[str, Any]) -> TomlText:
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            found = None
        if _without_empty(found) != _without_empty(wanted):
            raise UnfitError("it has a form that cannot be edited safely")
        return TomlText(text)


_DOT = r"\s*\.\s*"


def _quoted_or_not(key: str) -> str:
    """A pattern for a key as it may stand in a header."""
    name = re.escape(key)
    return f"""(?:{name}|"{name}"|'{name}')"""


def _inline(value: Mapping[str, object]) -> InlineTable:
    table = tomlkit.inline_table()
    for key, one in value.items():
        table.append(key, _inline(one) if isinstance(one, Mapping) else one)
    return table


def _merged(tree: Mapping[str, Any], path: Path, value: object) -> dict[str, Any]:
    if len(path) == 1:
        return {**tree, path[0]: value}
    below = tree.get(path[0], {})
    if not isinstance(below, Mapping):
        raise UnfitError(f"{path[0]} is no table")
    return {**tree, path[0]: _merged(below, path[1:], value)}


def _dropped(tree: Mapping[str, Any], path: Path) -> dict[str, Any]:
    if len(path) == 1 or not isinstance(tree.get(path[0]), Mapping):
        return {key: one for key, one in tree.items() if key != path[0] or len(path) > 1}
    return {**tree, path[0]: _dropped(tree[path[0]], path[1:])}


def _without_empty(tree: Any) -> Any:
    """Tables that hold nothing may come and go with what was in them."""
    if not isinstance(tree, dict):
        return tree
    cleaned = {key: _without_empty(one) for key, one in tree.items()}
    return {key: one for key, one in cleaned.items() if one != {}}
