"""What a service runs: the installed command, with the settings of whoever installs it. Pure but for looking at files."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_raw_rag.errors import ServiceError

PROGRAM = "raw-rag-ingest"
SERVER = "raw-rag"
OURS = "RAW_RAG_"
SECRET = "_TOKEN"  # noqa: S105 - the end of a variable's name
_PATHS = ("RAW_RAG_HOME", "RAW_RAG_CONFIG", "RAW_RAG_DB_PATH")
LASTING = "uv tool install agent-raw-rag-mcp"
_EPHEMERAL = re.compile(
    r"[/\\](?:archive-v\d+|environments-v\d+|builds-v\d+)[/\\]|[/\\]pipx[/\\]\.cache[/\\]|[/\\]\.cache[/\\](?:uv|pipx)[/\\]"
)


@dataclass(frozen=True)
class Job:
    """A command that is to run always."""

    program: str
    """Absolute path."""
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    answers: bool = False
    """Whether somebody waits for what it says: it then has the rank of any other program."""

    @property
    def command(self) -> list[str]:
        """Program and arguments."""
        return [self.program, *self.arguments]


def job(
    program: str,
    config: str | None,
    interval: float,
    environment: Mapping[str, str],
    moving: Iterable[str],
    secret: Iterable[str] = (),
) -> Job:
    """The daemon as whoever installs it would start it.

    Args:
        program: Absolute path of the installed command.
        config: The configuration file asked for.
        interval: Seconds between scans.
        environment: Of the installing process; our own variables and those of ``moving`` go along.
        moving: Variables that say where the agents' logs are.
        secret: Variables that hold keys: they never stand in a file.
    """
    arguments = ["--watch", "--interval", f"{interval:g}", *_configured(config)]
    return Job(program, tuple(arguments), _kept(environment, moving, secret))


def serve_job(
    program: str, words: Sequence[str], config: str | None, environment: Mapping[str, str], moving: Iterable[str],
    secret: Iterable[str] = (),
) -> Job:  # fmt: skip
    """The server, which is the daemon too, as whoever installs it would start it.

    Args:
        program: Absolute path of the installed command.
        words: The command's own words.
        config: The configuration file asked for.
        environment: As for ``job``; tokens in it stay behind.
        moving: As for ``job``.
        secret: As for ``job``.
    """
    return Job(program, (*words, *_configured(config)), _kept(environment, moving, secret), answers=True)


def _configured(config: str | None) -> list[str]:
    return ["--config", _absolute(config)] if config else []


def _kept(environment: Mapping[str, str], moving: Iterable[str], secret: Iterable[str]) -> dict[str, str]:
    """What goes along. A secret does not: the description is a file that stays."""
    wanted, kept_out = set(moving), set(secret)
    return {
        name: _absolute(value) if name in _PATHS else value
        for name, value in sorted(environment.items())
        if value and name not in kept_out and not name.endswith(SECRET) and (name.startswith(OURS) or name in wanted)
    }


def _absolute(path: str) -> str:
    """What means the same from every folder: the system starts a service in another one than we are in."""
    return os.path.abspath(os.path.expanduser(path))


def is_ephemeral(path: str, environment: Mapping[str, str]) -> bool:
    """Whether a program lies in a cache that its tool empties: it was started by ``uvx`` or ``pipx run``."""
    cache = environment.get("UV_CACHE_DIR", "")
    inside_cache = bool(cache) and path.startswith(os.path.join(os.path.abspath(cache), ""))
    return inside_cache or _EPHEMERAL.search(path) is not None


def installed_program(
    argv: Sequence[str], interpreter: str, environment: Mapping[str, str], name: str = PROGRAM
) -> str:
    """The absolute path of the installed command: a lasting one, if there is any; links are left as they are, since they stay
    when what they point to is upgraded.

    Raises:
        ServiceError: the command is nowhere.
    """
    candidates = [
        argv[0] if argv and _is_called(argv[0], name) and os.path.dirname(argv[0]) else None,
        shutil.which(name, path=environment.get("PATH")),
        os.path.join(os.path.dirname(interpreter), name),
    ]
    found = [os.path.abspath(path) for path in candidates if path and os.access(path, os.X_OK)]
    if not found:
        raise ServiceError(f"The command {name} is not installed.", hint=f"Run `{LASTING}` first.")
    return min(found, key=lambda path: is_ephemeral(os.path.realpath(path), environment))


def _is_called(path: str, name: str) -> bool:
    return os.path.basename(path) in (name, f"{name}.exe")
