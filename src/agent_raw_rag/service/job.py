"""What a service runs: the installed command, with the settings of whoever installs it. Pure but for looking at files."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_raw_rag.errors import ServiceError

PROGRAM = "raw-rag-ingest"
OURS = "RAW_RAG_"
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
    arguments = ["--watch", "--interval", f"{interval:g}"]
    if config:
        arguments += ["--config", _absolute(config)]
    wanted, kept_out = set(moving), set(secret)
    kept = {
        name: _absolute(value) if name in _PATHS else value
        for name, value in sorted(environment.items())
        if value and name not in kept_out and (name.startswith(OURS) or name in wanted)
    }
    return Job(program, tuple(arguments), kept)


def _absolute(path: str) -> str:
    """What means the same from every folder: the system starts a service in another one than we are in."""
    return os.path.abspath(os.path.expanduser(path))


def is_ephemeral(path: str, environment: Mapping[str, str]) -> bool:
    """Whether a program lies in a cache that its tool empties: it was started by ``uvx`` or ``pipx run``."""
    cache = environment.get("UV_CACHE_DIR", "")
    inside_cache = bool(cache) and path.startswith(os.path.join(os.path.abspath(cache), ""))
    return inside_cache or _EPHEMERAL.search(path) is not None


def installed_program(argv: Sequence[str], interpreter: str, environment: Mapping[str, str]) -> str:
    """The absolute path of the installed command: a lasting one, if there is any; links are left as they are, since they stay
    when what they point to is upgraded.

    Raises:
        ServiceError: the command is nowhere.
    """
    candidates = [
        argv[0] if argv and os.path.basename(argv[0]).startswith(PROGRAM) and os.path.dirname(argv[0]) else None,
        shutil.which(PROGRAM, path=environment.get("PATH")),
        os.path.join(os.path.dirname(interpreter), PROGRAM),
    ]
    found = [os.path.abspath(path) for path in candidates if path and os.access(path, os.X_OK)]
    if not found:
        raise ServiceError(f"The command {PROGRAM} is not installed.", hint=f"Run `{LASTING}` first.")
    return min(found, key=lambda path: is_ephemeral(os.path.realpath(path), environment))
