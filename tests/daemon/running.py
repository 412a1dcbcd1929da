"""The daemon's serving part as a real process, and the way to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from agent_raw_rag.encode.daemon_address import Address, find
from tests.process.processes import environment_of

EMBEDDED = '[encoder]\nname = "embedded"\n'


@contextmanager
def serving(environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that serves the home of an environment. It is killed at the end, if it still lives."""
    command = [sys.executable, "-m", "agent_raw_rag.daemon.alone", *arguments]
    with subprocess.Popen(command, env=environment_of(environment), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("serving "), process.wait(10)
            yield process
        finally:
            process.kill()


def home_of(environment: dict[str, str]) -> str:
    return environment["RAW_RAG_HOME"]


def client(address: Address | None, *, token: str | None = None) -> httpx2.Client:
    """A client of a daemon, with its token or another."""
    assert address is not None
    shown = address.token if token is None else token
    root = "http://daemon" if address.path else f"http://127.0.0.1:{address.port}"
    headers = {"authorization": f"Bearer {shown}"} if shown else {}
    transport = httpx2.HTTPTransport(uds=address.path or None)
    return httpx2.Client(base_url=root, transport=transport, headers=headers, trust_env=False, timeout=60)


def health(home: str) -> dict[str, Any]:
    with client(find(home)) as asked:
        found: dict[str, Any] = asked.get("/health").json()
    return found


def environment(folder: Path, config: str = EMBEDDED) -> dict[str, str]:
    """Of a home without logs."""
    store = folder / "store"
    for made in (folder / "home", store):
        made.mkdir(parents=True, mode=0o700)
    (store / "config.toml").write_text(config, encoding="utf-8")
    return {"HOME": str(folder / "home"), "RAW_RAG_HOME": str(store)}


def maps(pid: int) -> str:
    """The files that a process has mapped (Linux)."""
    return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


def children() -> set[int]:
    """Processes that this one started and that still live (Linux)."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return set(map(int, listed.read_text(encoding="utf-8").split()))
