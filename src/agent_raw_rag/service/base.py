"""What every kind of service can do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.runtime.whole_file import write_whole
from agent_raw_rag.service.job import Job

ANSWER_SECONDS = 60.0


@dataclass(frozen=True)
class ServiceState:
    """What the system says of the service."""

    state: str
    """``not installed``, ``stopped`` or ``running``; ``unknown`` where the system cannot be asked."""
    file: str
    pid: int | None = None
    detail: str = ""
    """The last exit, or why nobody can tell."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"state": self.state, "file": self.file, "pid": self.pid, "detail": self.detail}


class Service(Protocol):
    """A service of the user."""

    file: str
    """Where its description stands."""

    def render(self, job: Job) -> str:
        """The description."""
        ...

    def install(self, job: Job) -> list[str]:
        """Write the description and start it; a running one is replaced. Returns remarks.

        Raises:
            ServiceError: it cannot be; nothing is left half done.
        """
        ...

    def uninstall(self) -> bool:
        """Stop it and remove the description; whether there was one."""
        ...

    def state(self) -> ServiceState:
        """How it is."""
        ...


def call(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Ask one of the system's programs.

    Raises:
        ServiceError: it is not there, or does not answer.
    """
    try:
        return subprocess.run(  # noqa: S603 - fixed programs, no shell
            command, env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=ANSWER_SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise ServiceError(f"{command[0]} is not on this system.") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceError(f"{' '.join(command)} failed: {error}.") from error


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a program complained of."""
    return " ".join((done.stderr or done.stdout).split()) or f"exit status {done.returncode}"


def write(path: str, text: str) -> None:
    """Replace a description, in a folder that may be missing yet.

    Raises:
        OSError: it cannot be written.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_whole(path, text)


def read(path: str) -> str | None:
    """A file's text; None: there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read()
    except OSError:
        return None


def put_back(path: str, text: str | None) -> None:
    """Undo a ``write``."""
    if text is not None:
        write(path, text)
    elif os.path.exists(path):
        os.remove(path)
