"""Trigger rules as data: reading them from TOML, checking them line by line, laying the user's own over the shipped ones.

Pure: texts in, rules out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from agent_raw_rag.errors import ConfigError

KINDS = ("fact", "decision", "preference", "task", "lesson")
"""What a trigger rule may make. Never ``rule``: text that was only overheard must not become an order."""
_TEXTS = ("kind", "pattern", "unless")
_LISTS = ("examples", "counter_examples")
_KEYS = ("name", "explicit", *_TEXTS, *_LISTS)
_NEEDED = ("kind", "pattern")
LONGEST_PATTERN = 2000
_HEADER = re.compile(r"^\s*\[\[\s*rule\s*\]\]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to see that a sentence is worth keeping."""

    name: str
    kind: str
    pattern: re.Pattern[str]
    explicit: bool = False
    """An outright "remember this" or "we decided"."""
    unless: re.Pattern[str] | None = None
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()
    own: bool = False
    """It stands in the user's file, as a whole or in part."""

    def matches(self, bare: str) -> bool:
        """Whether a sentence, without what it quotes, is one of these."""
        return bool(self.pattern.search(bare)) and not (self.unless and self.unless.search(bare))


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file of rules as it was read: names -> the keys that it gives, and names that are switched off."""

    rules: Mapping[str, Mapping[str, Any]]
    off: tuple[str, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    """Name -> line of its ``[[rule]]``."""
    file: str = ""


def read_rules(text: str, file: str) -> RuleFile:
    """A file's rules, each checked by itself.

    Raises:
        ConfigError: what is wrong, in which line, and why.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from error
    _check_top(values, text, file)
    headers = [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    rules: dict[str, Mapping[str, Any]] = {}
    lines: dict[str, int] = {}
    for place, row in enumerate(values.get("rule", [])):
        line = headers[place] if place < len(headers) else 1
        _check_row(row, text, file, line)
        if row["name"] in rules:
            _refuse(file, line, f"there are two rules named {row['name']!r}")
        rules[row["name"]], lines[row["name"]] = row, line
    return RuleFile(rules, tuple(values.get("off", ())), lines, file)


def _check_top(values: Mapping[str, Any], text: str, file: str) -> None:
    for key in values:
        if key not in ("rule", "off"):
            _refuse(
                file, _line_of(text, key, 1), f"unknown key {key!r}; a file holds [[rule]] tables and off = [names]"
            )
    if not _is_list(values.get("off", []), str):
        _refuse(file, _line_of(text, "off", 1), "off must be a list of names of rules")
    if not _is_list(values.get("rule", []), dict):
        _refuse(file, _line_of(text, "rule", 1), "rules are written as [[rule]] tables")


def _check_row(row: Mapping[str, Any], text: str, file: str, line: int) -> None:
    name = row.get("name")
    if not isinstance(name, str) or not name.strip():
        _refuse(file, line, "a rule needs a name")
    for key, value in row.items():
        at = _line_of(text, key, line)
        if key not in _KEYS:
            _refuse(file, at, f"rule {name!r}: unknown key {key!r}; known are {', '.join(_KEYS)}")
        if key in _TEXTS and not isinstance(value, str):
            _refuse(file, at, f"rule {name!r}: {key} must be text")
        if key in _LISTS and not _is_list(value, str):
            _refuse(file, at, f"rule {name!r}: {key} must be a list of texts")
        if key == "explicit" and not isinstance(value, bool):
            _refuse(file, at, f"rule {name!r}: explicit must be true or false")
    if "kind" in row and row["kind"] not in KINDS:
        why = "; rules are saved on purpose only" if row["kind"] == "rule" else ""
        _refuse(file, _line_of(text, "kind", line), f"rule {name!r}: kind must be one of {', '.join(KINDS)}{why}")
    for key in ("pattern", "unless"):
        if key in row:
            _compiled(row[key], file, _line_of(text, key, line), f"rule {name!r}: {key}")


def laid_over(shipped: RuleFile, own: RuleFile | None) -> tuple[Rule, ...]:
    """The rules in force: the user's own first, then the shipped ones with the keys that the user changed.

    Raises:
        ConfigError: a rule lacks something, a name that is switched off is not known, an example of the user's is not met.
    """
    if own is None:
        return tuple(_rule(shipped, name, row) for name, row in shipped.rules.items())
    for name in own.off:
        if name not in shipped.rules and name not in own.rules:
            raise ConfigError(
                f"{own.file}: off names {name!r}, which is no rule.", hint="`raw-rag triggers list` tells them."
            )
    rules = [_rule(own, name, row, own=True) for name, row in own.rules.items() if name not in shipped.rules]
    for name, row in shipped.rules.items():
        changed = own.rules.get(name)
        rules.append(_rule(own, name, {**row, **changed}, own=True) if changed else _rule(shipped, name, row))
    return tuple(rule for rule in rules if rule.name not in own.off)


def _rule(file: RuleFile, name: str, row: Mapping[str, Any], *, own: bool = False) -> Rule:
    line = file.lines.get(name, 1)
    for key in _NEEDED:
        if not row.get(key):
            _refuse(file.file, line, f"rule {name!r} needs {key}")
    what = f"rule {name!r}: "
    unless = row.get("unless")
    return Rule(
        name, row["kind"], _compiled(row["pattern"], file.file, line, f"{what}pattern"), row.get("explicit", False),
        _compiled(unless, file.file, line, f"{what}unless") if unless else None,
        tuple(row.get("examples", ())), tuple(row.get("counter_examples", ())), own,
    )  # fmt: skip


def _compiled(pattern: str, file: str, line: int, what: str) -> re.Pattern[str]:
    if len(pattern) > LONGEST_PATTERN:
        _refuse(file, line, f"{what} is longer than {LONGEST_PATTERN} characters")
    if _NESTED.search(pattern):
        _refuse(file, line, f"{what} repeats a repetition, as in (a+)+, which may take for ever")
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        _refuse(file, line, f"{what} is no regular expression: {error}")


_NESTED = re.compile(r"\((?:\?:|\?P<\w+>)?(?:\\.|\[[^\]]*\]|[^()\\\[\]|*+ ])[*+]\)[*+]|\(\.[*+]\)[*+]")
"""The plainest patterns that take exponential time. It cannot know all of them."""


def _line_of(text: str, key: str, start: int) -> int:
    """The line from ``start`` on that gives a key; ``start`` if none plainly does."""
    given = re.compile(rf"""^\s*["']?{re.escape(key)}["']?\s*=|^\s*\[+\s*{re.escape(key)}\b""")
    rows = text.splitlines()
    for number in range(start, len(rows) + 1):
        if number > start and _HEADER.match(rows[number - 1]):
            break
        if given.match(rows[number - 1]):
            return number
    return start


def _is_list(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(one, kind) for one in value)


def _refuse(file: str, line: int, why: str) -> NoReturn:
    raise ConfigError(f"{file}, line {line}: {why}.")


def names(rules: Iterable[Rule]) -> Sequence[str]:
    """The names of rules, in order."""
    return [rule.name for rule in rules]
