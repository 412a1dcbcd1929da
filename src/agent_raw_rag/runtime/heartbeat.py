"""What the daemon says of itself in a small file beside the store, and what others make of it.

The file proves nothing: whether a daemon runs, only its lock says. Instants are seconds since 1970.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any

from agent_raw_rag.runtime.whole_file import write_whole

FILE = "daemon.json"


@dataclass
class AgentBeat:
    """How far the daemon is behind one agent."""

    lag_seconds: float | None = None
    """From the newest change that was read to the end of reading it; None: nothing changed yet."""
    read_at: float | None = None
    sources: dict[str, float] = field(default_factory=dict)
    """Path -> ``lag_seconds`` of this source, for those that changed last, the newest at the end."""
    waiting: int = 0
    """Sources that changed and could not be read yet."""
    waiting_since: float | None = None
    failing: dict[str, str] = field(default_factory=dict)
    """Path -> why it cannot be read."""


@dataclass
class Heartbeat:
    """The daemon's state, as it was at ``beat``."""

    pid: int
    version: str
    started: float
    beat: float
    ended: float | None = None
    """When it left in good order."""
    caught_up: bool = False
    """Whether all there was when it started, or took a new configuration, has been read."""
    watching: str = ""
    """How it learns of changes, where that is not by events of all folders."""
    serving: str = ""
    """Why the agents' servers cannot use the daemon's models; "": they can."""
    error: str | None = None
    """What went wrong last."""
    error_at: float | None = None
    config_problem: str | None = None
    """Why a changed configuration was not taken."""
    backlog: int | None = None
    """Chunks that have no vector yet."""
    vectors_wait: str | None = None
    agents: dict[str, AgentBeat] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


@dataclass
class DaemonState:
    """Whether a daemon watches for a store, and its last heartbeat."""

    running: bool
    heartbeat: Heartbeat | None

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"running": self.running, "heartbeat": self.heartbeat.as_json() if self.heartbeat else None}


def write(home: str, heartbeat: Heartbeat) -> None:
    """Replace the file as a whole; where no other file can be made, as on a full disk, write over it.

    Raises:
        OSError: it cannot be written.
    """
    content = json.dumps(heartbeat.as_json())
    try:
        write_whole(os.path.join(home, FILE), content)
    except OSError as error:
        try:
            _write_over(home, content.encode())
        except OSError:
            raise error from None


def _write_over(home: str, content: bytes) -> None:
    """Into the room that the file has already: that the disk is full is just what is to be said."""
    with open(os.path.join(home, FILE), "r+b", buffering=0) as stream:
        room = os.fstat(stream.fileno()).st_size
        stream.write(content.ljust(room))
        stream.truncate(len(content))


def read(home: str) -> Heartbeat | None:
    """The last heartbeat; None: there is none that can be read."""
    try:
        with open(os.path.join(home, FILE), encoding="utf-8") as stream:
            values = json.load(stream)
        agents = {name: AgentBeat(**one) for name, one in values.pop("agents").items()}
        return Heartbeat(**values, agents=agents)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # torn, or of another version
        return None


def state(home: str) -> DaemonState:
    """Whether a daemon watches for the store of this folder."""
    from agent_raw_rag.store.lock import DAEMON, is_held

    return DaemonState(is_held(home, DAEMON), read(home))


def is_current(home: str) -> bool:
    """Whether a daemon watches for the store of this folder, and has read all there was when it began."""
    found = state(home)
    return found.running and found.heartbeat is not None and found.heartbeat.caught_up
