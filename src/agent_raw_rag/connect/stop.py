"""What ``raw-rag hook stop`` starts in the background: the turn that an agent has just finished -> the store, exactly once.

The agent's own log is the best witness, wherever it lies: its turns have keys. Only where there is none, the words that the hook
was told are captured, with the ids it was told, so that a retry is the same turn.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from agent_raw_rag.errors import RawRagError, SourceError
from agent_raw_rag.models import Actor, Capture, Role, SessionInfo

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

MOST_INPUT = 4 << 20
WAIT_SECONDS = 60.0
"""For another process that writes. Nobody waits for this one."""
HOOK = Actor("hook", "cli")
DOOR = "mcp"
Payload = Mapping[str, Any]


class Way(StrEnum):
    """How a turn came into the store."""

    LOG = "log"
    """Its log lies where the agent's logs are looked for, and was read."""
    DAEMON = "daemon"
    """The same, and a daemon reads it anyway."""
    FILE = "file"
    """Its log lies elsewhere, and was read as one that is handed over."""
    CAPTURED = "captured"
    """There is no log: what the hook was told was captured."""
    NOTHING = "nothing"


def main() -> None:
    """Take in what stands on stdin. What goes wrong is said on stderr, which is the hook's log."""
    os.umask(0o077)  # whatever is made from here on is the user's alone, files of libraries included
    try:
        _run(sys.argv[1:], sys.stdin.buffer.read(MOST_INPUT))
    except (RawRagError, OSError, ValueError) as error:
        print(f"raw-rag hook stop: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 - its log


def _run(arguments: list[str], sent: bytes) -> None:
    from agent_raw_rag.runtime import Runtime

    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    payload = json.loads(sent)
    if isinstance(payload, dict):
        take(Runtime.load(given.get("--config")), given.get("--agent", ""), payload)


def take(runtime: Runtime, agent: str, payload: Payload) -> Way:
    """Store the turn that a stop hook tells of.

    Args:
        agent: Whose hook it is.
        payload: What the agent sent; see ``hook.USED``.

    Raises:
        UsageError: an unknown agent, or one that is switched off.
        SourceError: its log cannot be read to its end.
        StoreBusyError: another process writes, and does not come to an end.
    """
    if payload.get("stop_hook_active"):
        return Way.NOTHING
    path = _text(payload, "transcript_path")
    return (_read(runtime, agent, os.path.realpath(os.path.expanduser(path))) if path else None) or _captured(
        runtime, agent, payload
    )


def _read(runtime: Runtime, agent: str, path: str) -> Way | None:
    """None: there is no log, or nobody's."""
    from agent_raw_rag.adapters.registry import adapter
    from agent_raw_rag.ingest.handed import recognise
    from agent_raw_rag.sources.discover import sources_at
    from agent_raw_rag.store.lock import DAEMON, is_held

    row, roots = runtime.enabled(agent)
    if not os.path.isfile(path):
        return None
    if sources_at(row, roots, [path]):
        if is_held(runtime.home, DAEMON):
            return Way.DAEMON
        runtime.ingest([agent], only=[path], embed=False, wait_seconds=WAIT_SECONDS)
        return Way.LOG
    try:
        recognise(path, [adapter(agent)])
    except SourceError:
        return None
    runtime.portable().import_file(path, agent, embed=False)
    return Way.FILE


def _captured(runtime: Runtime, agent: str, payload: Payload) -> Way:
    turn, session = _text(payload, "prompt_id") or _text(payload, "turn_id"), _text(payload, "session_id")
    cwd = _text(payload, "cwd")
    said, now = ((Role.USER, "prompt"), (Role.ASSISTANT, "last_assistant_message")), runtime.memory.store.now()
    captures = [
        Capture(
            words, agent, DOOR, session or None, role, host_turn_id=turn or None, time=now,
            info=SessionInfo(cwd=cwd) if os.path.isabs(cwd) else None,
        )
        for role, name in said
        if (words := _text(payload, name))
    ]  # fmt: skip
    if not captures:
        return Way.NOTHING
    runtime.memory.raw.capture_all(captures, HOOK)
    return Way.CAPTURED


def _text(payload: Payload, name: str) -> str:
    value = payload.get(name)
    return value.strip() if isinstance(value, str) and "\0" not in value else ""
