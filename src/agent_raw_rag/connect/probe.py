"""Whether a command starts an MCP server: a real start, one ``initialize``, and an end."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.connect.command import Command

LIMIT_SECONDS = 20.0
"""A first start of ``uvx`` installs; agents themselves wait 10 to 60 s."""
_INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw-rag connect", "version": "1"},
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    ok: bool
    text: str
    """The server's name and version, or what went wrong."""


def probe(command: Command, limit_seconds: float = LIMIT_SECONDS) -> Answer:
    """Start a command and ask it to initialize."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the very command that the agent would start
            command.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **command.environment},
        )  # fmt: skip
    except OSError as error:
        return Answer(False, f"{command.words[0]} cannot be started: {error.strerror}")
    try:
        return _asked(process, limit_seconds)
    finally:
        process.kill()
        process.communicate()


def _asked(process: subprocess.Popen[bytes], limit_seconds: float) -> Answer:
    lines: queue.Queue[bytes] = queue.Queue()
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    out, err = process.stdout, process.stderr
    threading.Thread(target=lambda: lines.put(out.readline()), daemon=True).start()
    try:
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        line = lines.get(timeout=limit_seconds)
    except BrokenPipeError:
        line = b""
    except queue.Empty:
        return Answer(False, f"no answer within {limit_seconds:g} s")
    if not line:
        process.wait()
        said = err.read().decode("utf-8", "replace").strip().splitlines()
        return Answer(False, f"it ended with status {process.returncode}{f': {said[-1]}' if said else ''}")
    return _read(line)


def _read(line: bytes) -> Answer:
    try:
        answer: Any = json.loads(line)
        facts = answer["result"]["serverInfo"]
        return Answer(True, f"{facts['name']} {facts.get('version', '')}".strip())
    except (ValueError, KeyError, TypeError):
        return Answer(False, f"it does not speak MCP: {line[:80].decode('utf-8', 'replace')!r}")
