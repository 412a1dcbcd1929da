"""What of ours stands in an agent's files, and how it gets in and out: pure functions over texts, one class a kind."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agent_raw_rag.adapters.wiring import Entry, Extension, Files, Hooks, Syntax, Wiring
from agent_raw_rag.connect.command import OURS, Command
from agent_raw_rag.connect.jsonc import MalformedError
from agent_raw_rag.connect.marked import has_block, with_block, without_block
from agent_raw_rag.connect.splice import JsonText, UnfitError
from agent_raw_rag.connect.toml import TomlText

SERVER_NAME = "raw-rag"
OLD_NAMES = ("raw_rag", "raw-rag-mcp", "agent-raw-rag", "agent_raw_rag", "agent-raw-rag-mcp")
"""What the entry was called by hand, and in the documentation of 0.2. Kept where it is one: rights are given by that name."""
_OUR_SERVER = re.compile(r"\b(?:agent[-_]raw[-_]rag|raw-rag-mcp)\b")
HOOK_SECONDS = 5
"""After which an agent may end a hook; it ends by itself long before."""
CANNOT = (MalformedError, UnfitError, tomllib.TOMLDecodeError)
"""What an edit raises for a text that it leaves alone."""


class Part(Protocol):
    """Something of ours in a file."""

    @property
    def kind(self) -> str:
        """What it is called."""

    @property
    def files(self) -> Files:
        """Where it goes."""

    @property
    def shared(self) -> bool:
        """Whether several agents may read the same one."""

    @property
    def whole(self) -> bool:
        """Whether the file is ours alone."""

    def into(self, text: str) -> str:
        """The text with it."""

    def out_of(self, text: str) -> str:
        """The text without it."""

    def is_in(self, text: str) -> bool:
        """Whether it is there."""


@dataclass(frozen=True, slots=True)
class Server:
    """The entry that starts our MCP server."""

    wiring: Wiring
    command: Command
    kind: str = "server"
    shared: bool = False
    whole: bool = False

    @property
    def files(self) -> Files:
        """Where the agent's servers are listed."""
        return self.wiring.files

    def into(self, text: str) -> str:
        """With the entry; one that is there keeps what the user added to it."""
        document = self._document(text)
        entry = self._entry(document.value)
        name = next(iter(_our_names(document.value, entry)), SERVER_NAME)
        path, old = (*entry.within, name), _at(document.value, (*entry.within, name))
        if not isinstance(old, dict) or "command" not in old:
            return document.put(path, self._value(entry)).text
        for key, value in self._updates(entry, old).items():
            if old.get(key) != value:
                document = document.put((*path, key), value)
        return document.text

    def out_of(self, text: str) -> str:
        """Without the entry, in whichever form it stands."""
        document = self._document(text)
        for entry in self.wiring.entries:
            for name in _our_names(document.value, entry):
                document = document.without((*entry.within, name))
        return document.text

    def is_in(self, text: str) -> bool:
        """Whether an entry of our name is there."""
        return self.found(text) is not None

    def found(self, text: str) -> Command | None:
        """The command that the file starts us with."""
        value = self._document(text).value
        for entry in self.wiring.entries:
            for name in _our_names(value, entry):
                given = _at(value, (*entry.within, name))
                if isinstance(given, dict) and given.get("command"):
                    return _command(given, entry.environment)
        return None

    def _document(self, text: str) -> JsonText | TomlText:
        if self.wiring.syntax is Syntax.TOML:
            return TomlText(text)
        document = JsonText(text, lenient=self.wiring.syntax is Syntax.JSONC)
        if not isinstance(document.value, dict):
            raise UnfitError("it is no table")
        return document

    def _entry(self, value: Any) -> Entry:
        there = [one for one in self.wiring.entries if isinstance(_at(value, one.within), dict)]
        return there[0] if there else self.wiring.entries[-1]

    def _value(self, entry: Entry) -> dict[str, object]:
        variables = {entry.environment: dict(self.command.environment)} if self.command.environment else {}
        return {**entry.head, **self._words(entry), **variables, **entry.tail}

    def _words(self, entry: Entry) -> dict[str, object]:
        words = list(self.command.words)
        return {"command": words} if entry.one_list else {"command": words[0], "args": words[1:]}

    def _updates(self, entry: Entry, old: Mapping[str, Any]) -> dict[str, object]:
        kept = old.get(entry.environment)
        theirs = {name: one for name, one in kept.items() if name not in OURS} if isinstance(kept, dict) else {}
        variables = {**theirs, **self.command.environment}
        updates = {**entry.head, **self._words(entry)}
        return {**updates, entry.environment: variables} if variables or kept else updates


@dataclass(frozen=True, slots=True)
class HookGroups:
    """Commands of ours that an agent runs at its events."""

    hooks: Hooks
    agent: str
    command: Command
    kind: str = "hooks"
    shared: bool = False
    whole: bool = False

    @property
    def files(self) -> Files:
        """Where the agent's hooks are listed."""
        return self.hooks.files

    def into(self, text: str) -> str:
        """With one group an event; groups of others stay."""
        document = self._document(text)
        for event in self.hooks.events:
            group: dict[str, object] = {"matcher": event.matcher} if event.matcher else {}
            line = self.command.hook(event.ours, "--agent", self.agent)
            group["hooks"] = [{"type": "command", "command": line, "timeout": HOOK_SECONDS}]
            ours = [one for one in _groups(document.value, event.name) if _is_ours(one)]
            if ours != [group]:
                document = document.without_elements(("hooks", event.name), _is_ours)
                document = document.add(("hooks", event.name), group)
        return document.text

    def out_of(self, text: str) -> str:
        """Without our groups."""
        document = self._document(text)
        for event in self.hooks.events:
            document = document.without_elements(("hooks", event.name), _is_ours)
        return document.text

    def is_in(self, text: str) -> bool:
        """Whether a group of ours is there."""
        value = self._document(text).value
        return any(_is_ours(one) for event in self.hooks.events for one in _groups(value, event.name))

    def _document(self, text: str) -> JsonText:
        document = JsonText(text, lenient=self.hooks.syntax is Syntax.JSONC)
        if not isinstance(document.value, dict):
            raise UnfitError("it is no table")
        return document


@dataclass(frozen=True, slots=True)
class Instructions:
    """When to search, in the file that an agent reads into every session."""

    files: Files
    kind: str = "instructions"
    shared: bool = True
    whole: bool = False

    def into(self, text: str) -> str:
        """With our marked lines."""
        return with_block(text)

    def out_of(self, text: str) -> str:
        """Without them."""
        return without_block(text)

    def is_in(self, text: str) -> bool:
        """Whether they are there."""
        return has_block(text)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is ours as a whole."""

    extension: Extension
    command: Command
    kind: str = "hooks"
    shared: bool = False
    whole: bool = True

    @property
    def files(self) -> Files:
        """Where the agent looks for such files."""
        return self.extension.files

    def into(self, text: str) -> str:
        """Our text."""
        return self.extension.text(json.dumps(self.command.words), json.dumps(dict(self.command.environment)))

    def out_of(self, text: str) -> str:
        """Nothing: the file goes with it."""
        return ""

    def is_in(self, text: str) -> bool:
        """Whether there is anything."""
        return bool(text)


def _our_names(value: Any, entry: Entry) -> list[str]:
    """The names in a table of servers that are ours: the name of today, and an old one that starts our program."""
    table = _at(value, entry.within)
    if not isinstance(table, dict):
        return []
    known = [name for name in (SERVER_NAME, *OLD_NAMES) if isinstance(table.get(name), dict)]
    return [one for one in known if one == SERVER_NAME or _starts_us(table[one], entry)]


def _starts_us(given: Mapping[str, Any], entry: Entry) -> bool:
    return (
        bool(given.get("command"))
        and _OUR_SERVER.search(" ".join(_command(given, entry.environment).words)) is not None
    )


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _command(entry: Mapping[str, Any], environment: str) -> Command:
    words, more, variables = entry["command"], entry.get("args"), entry.get(environment)
    listed = words if isinstance(words, list) else [words, *(more if isinstance(more, list) else [])]
    given = variables.items() if isinstance(variables, dict) else ()
    return Command(tuple(map(str, listed)), {str(name): str(value) for name, value in given})


def _groups(value: Any, event: str) -> list[Any]:
    found = _at(value, ("hooks", event))
    return found if isinstance(found, list) else []


_OUR_HOOK = re.compile(r"\braw-rag(?:\.exe)?['\"]?\s+hook\b")


def _is_ours(group: Any) -> bool:
    """A group that runs our hook and nothing else."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list) or not hooks:
        return False
    return all(isinstance(one, dict) and _OUR_HOOK.search(str(one.get("command", ""))) for one in hooks)
