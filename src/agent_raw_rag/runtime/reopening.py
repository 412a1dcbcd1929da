"""Session -> the command that reopens it in its agent, from the folder it was started in."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_raw_rag.errors import NotFoundError

if TYPE_CHECKING:
    from agent_raw_rag.store.rows import SessionRow


@dataclass(frozen=True, slots=True)
class Reopening:
    """A command line and where it is run."""

    words: tuple[str, ...]
    folder: str | None
    """The session's start folder; agents look for their sessions from there."""

    @property
    def shown(self) -> str:
        """For the shell of this system: a POSIX one, on Windows PowerShell. Ids are quoted: they may be file names."""
        return in_powershell(self) if sys.platform == "win32" else in_posix_shell(self)


def in_posix_shell(way: Reopening) -> str:
    """A command line that goes to the folder first."""
    command = shlex.join(way.words)
    return f"cd {shlex.quote(way.folder)} && {command}" if way.folder else command


def in_powershell(way: Reopening) -> str:
    """The same, also for a PowerShell that knows no ``&&``."""
    first, *rest = (_quoted(word) for word in way.words)
    command = " ".join([f"& {first}" if first.startswith("'") else first, *rest])
    return f"cd {_quoted(way.folder)}; {command}" if way.folder else command


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./\\:-]+", word) else "'" + word.replace("'", "''") + "'"


def reopening(
    agent: str, native: str, folder: str | None, parent_kind: str | None, path: str | None
) -> Reopening | None:
    """How a session is reopened; None: its agent has no command for it, or it is a sub-agent's."""
    from agent_raw_rag.adapters.registry import adapters

    row = adapters().get(agent)
    if row is None or row.resume is None or parent_kind == "subagent":
        return None
    return Reopening(row.resume(native, path), folder)


def needed(way: Reopening | None, session: SessionRow) -> Reopening:
    """The way, where there must be one.

    Raises:
        NotFoundError: there is none; the message says why.
    """
    if way is not None:
        return way
    if session.parent_kind == "subagent":
        parent = f"{session.agent}:{session.parent}"
        raise NotFoundError(f"{session.public_id} is a sub-agent's session.", hint=f"Its session: {parent}.")
    raise NotFoundError(
        f"No command reopens a session of {session.agent}.",
        hint=f"`raw-rag handoff {session.public_id} --to AGENT` gives its end to another agent.",
    )
