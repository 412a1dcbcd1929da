"""What an adapter's row says about wiring its agent to us: which file, which syntax, which form an entry has. Pure data.

``connect`` reads and edits the files; it knows no agent. Sources: the agents' own documentation and configuration files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Environment = Mapping[str, str]


class Syntax(StrEnum):
    """How a configuration file is written, as strictly as its agent reads it."""

    JSON = "json"
    JSONC = "jsonc"
    """JSON with comments and trailing commas."""
    TOML = "toml"


@dataclass(frozen=True, slots=True)
class Files:
    """Where a file lies. Of several candidates the first that exists is meant, else the last."""

    user: Callable[[Environment, str], tuple[str, ...]]
    """(environment, home folder) -> absolute paths."""
    project: tuple[str, ...] = ()
    """Relative to the project's root. Empty: this agent has no such file for a project."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The form of a server's entry."""

    within: tuple[str, ...]
    """Keys that lead to the table of servers."""
    head: Mapping[str, object] = field(default_factory=dict)
    """Keys before the command."""
    tail: Mapping[str, object] = field(default_factory=dict)
    """Keys after it. Set when an entry is made; a user's change of them stays."""
    one_list: bool = False
    """The command and its arguments stand in one list."""
    environment: str = "env"
    """Key of the table of environment variables."""


@dataclass(frozen=True, slots=True)
class Event:
    """A moment at which an agent runs a command of ours."""

    name: str
    """As the agent calls it."""
    ours: str
    """The word after ``raw-rag hook``."""
    matcher: str | None = None


@dataclass(frozen=True, slots=True)
class Hooks:
    """Hooks as a JSON file lists them: event -> groups -> commands."""

    files: Files
    syntax: Syntax
    events: tuple[Event, ...]
    note: str = ""
    """What the user still has to do."""


@dataclass(frozen=True, slots=True)
class Extension:
    """A file of our own that an agent loads as code."""

    files: Files
    text: Callable[[str, str], str]
    """(start of our command line, its variables), both as JSON -> the file's text."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Wiring:
    """One program that can be wired. An agent's row has one for each of its programs."""

    name: str
    """What ``raw-rag connect`` calls it."""
    title: str
    program: str
    """Its command."""
    folder: Callable[[Environment, str], str]
    """The folder whose existence says that it is used here."""
    files: Files
    syntax: Syntax
    entries: tuple[Entry, ...]
    """The first whose table the file already has counts, else the last."""
    hooks: Hooks | None = None
    extension: Extension | None = None
    instructions: Files | None = None
    """A Markdown file that the agent reads into every session."""
    note: str = ""
    """What the user still has to do after an entry for a project was written."""


def is_absolute(path: str) -> bool:
    """Whether a path begins at a root, of POSIX or of Windows."""
    return path.startswith(("/", "\\\\")) or (path[1:2] == ":" and path[2:3] in ("/", "\\"))


def moved(environment: Environment, variable: str, home: str, default: str) -> str:
    """A folder that a variable moves; ``default`` is relative to the home folder."""
    value = environment.get(variable, "")
    if value == "~" or value.startswith(("~/", "~\\")):
        value = home + value[1:]
    return value.rstrip("/\\") or f"{home}/{default}"


def beside(folder: Callable[[Environment, str], str], *names: str) -> Callable[[Environment, str], tuple[str, ...]]:
    """Files of these names in an agent's folder."""
    return lambda environment, home: tuple(f"{folder(environment, home)}/{name}" for name in names)
