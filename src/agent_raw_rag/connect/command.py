"""How this installation is started: the command that an agent's configuration gets."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from agent_raw_rag.errors import WiringError

SERVER, COMMANDS, PACKAGE = "agent-raw-rag-mcp", "raw-rag", "agent-raw-rag-mcp"
_PATHS = ("RAW_RAG_HOME", "RAW_RAG_CONFIG", "RAW_RAG_DB_PATH")
OURS = frozenset((*_PATHS, "RAW_RAG_LOG", "RAW_RAG_HOOK_MS"))
"""By name, not by beginning: ``key_variable`` may name one that begins alike, and a key must not get into a file."""
_EPHEMERAL = re.compile(r"[/\\](?:archive|environments|builds)-v\d+[/\\]")
EPHEMERAL_NOTE = (
    f"This is run from uv's cache, which may be emptied: the entry says `uvx {PACKAGE}`. "
    f"`uv tool install {PACKAGE}` once, then the same command again, makes every start faster and needs no index."
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command line with the variables it needs."""

    words: tuple[str, ...]
    environment: Mapping[str, str]

    def hook(self, *more: str, windows: bool = sys.platform == "win32") -> str:
        """As an agent's shell runs it: on Windows that may be any of three, so there are no variables before the command and
        no backslashes in it."""
        if not windows:
            return f"{self.shown} {shlex.join(more)}"
        words = [*self.words, *(word for pair in self.environment.items() for word in ("--set", "=".join(pair))), *more]
        return subprocess.list2cmdline([word.replace("\\", "/") for word in words])

    @property
    def shown(self) -> str:
        """For people, and for a POSIX shell."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return " ".join([*variables, shlex.join(self.words)])


@dataclass(frozen=True, slots=True)
class Installation:
    """Where the running program is installed."""

    prefix: str
    programs: str
    """The folder of its commands."""
    environment: Mapping[str, str]

    @classmethod
    def running(cls, environment: Mapping[str, str]) -> Installation:
        """The one that runs this."""
        return cls(sys.prefix, os.path.dirname(os.path.abspath(sys.executable)), environment)

    @property
    def ephemeral(self) -> bool:
        """Whether it lies in uv's cache (``uvx``), where it does not stay."""
        return bool(_EPHEMERAL.search(os.path.realpath(self.prefix) + os.sep))

    def server(self, config: str | None) -> Command:
        """The command that starts the MCP server, with the settings that are in force now."""
        return self._command(SERVER, config)

    def hook(self, config: str | None) -> Command:
        """The start of the command line of a hook."""
        return self._command(COMMANDS, None, "hook", *_config(config))

    def _command(self, program: str, config: str | None, *more: str) -> Command:
        return Command((*self._start(program), *_config(config), *more), kept_variables(self.environment))

    def _start(self, program: str) -> tuple[str, ...]:
        if self.ephemeral:
            uvx = self._which("uvx") or "uvx"
            return (uvx, PACKAGE) if program == PACKAGE else (uvx, "--from", PACKAGE, program)
        name = f"{program}.exe" if sys.platform == "win32" else program
        own, known = os.path.join(self.programs, name), self._which(program)
        if not os.path.exists(own):
            raise WiringError(
                f"There is no {program} in {self.programs}.", hint=f"Install it: uv tool install {PACKAGE}"
            )
        # The link that the installer put on PATH stays when the version behind it changes.
        return (known if known and os.path.realpath(known) == os.path.realpath(own) else own,)

    def _which(self, program: str) -> str | None:
        found = shutil.which(program, path=self.environment.get("PATH"))
        return os.path.abspath(found) if found else None


def kept_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that we read, as they are set now, with paths that mean the same from every folder."""
    ours = {name: value for name, value in environment.items() if name in OURS and value}
    return {name: _absolute(value) if name in _PATHS else value for name, value in sorted(ours.items())}


def _config(config: str | None) -> tuple[str, ...]:
    return ("--config", _absolute(config)) if config else ()


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
