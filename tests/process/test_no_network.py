"""Ingest, search and an MCP session reach nothing: traced, in a network namespace that has loopback only."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.process.support import BIN, environment, run

LOGS = Path(__file__).parents[1] / "logs/claude/2.1.197"
CALLS = "connect,sendto,sendmsg,sendmmsg,bind,socket"
HELLO: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
     "clientInfo": {"name": "test", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "raw_rag_search",
     "arguments": {"query": "why does the login form drop the session cookie?", "project_path": "*"}}},
]  # fmt: skip


def isolated() -> list[str]:
    """The words before a command that put it into a namespace of its own; a skip where the system allows none."""
    if shutil.which("strace") is None or shutil.which("unshare") is None:
        pytest.skip("strace and unshare are needed to watch a process")
    words = ["unshare", "--net", "--map-root-user"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system allows no network namespace")
    return words


def watched(trace: Path) -> list[str]:
    """The words before a command that is to reach nothing, and whose calls are written to a file."""
    return [*isolated(), "strace", "-f", "-qq", "-e", f"trace={CALLS}", "-o", str(trace)]


def traced(home: Path, trace: Path, *command: str, asks: list[dict[str, Any]] | None = None) -> None:
    """Run a command under watch; with ``asks``, each request is answered before standard input is closed."""
    words = [*watched(trace), str(BIN / command[0]), *command[1:]]
    with subprocess.Popen(
        words, env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for ask in asks or ():
            process.stdin.write(json.dumps(ask) + "\n")
            process.stdin.flush()
            if "id" in ask:
                answer = json.loads(process.stdout.readline())
                assert answer["id"] == ask["id"] and "error" not in answer
        _, errors = process.communicate()
        assert process.returncode == 0, errors


def reached(trace: Path) -> list[str]:
    """Calls that would leave the process: any internet address, any name service, any netlink but none."""
    lines = trace.read_text("utf-8", "replace").splitlines()
    return [line for line in lines if "AF_INET" in line or "nscd" in line or "resolve" in line]


@pytest.mark.process
@pytest.mark.line("A3", "C1")
def test_ingest_search_a_sweep_and_a_session_reach_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(LOGS, home / ".claude")
    found = []
    commands: list[tuple[tuple[str, ...], list[dict[str, Any]]]] = [
        (("raw-rag-ingest", "--json"), []),
        (("raw-rag", "search", "login cookie", "--project", "*", "--json"), []),
        (("raw-rag", "capture", "Remember: release window is Tuesday", "--source", "me", "--role", "user"), []),
        (("raw-rag", "sweep", "--now"), []),
        (("raw-rag", "recall", "release window", "--json"), []),
        (("agent-raw-rag-mcp",), HELLO),
    ]
    for number, (command, asks) in enumerate(commands):
        trace = tmp_path / f"{number}.trace"
        traced(home, trace, *command, asks=asks)
        found += reached(trace)
    assert found == []
    status = json.loads(run(home, "raw-rag", "status", "--json").stdout)
    assert status["llm_calls"]["ingest"] == 0 and status["candidates"]["promoted"] == 1
