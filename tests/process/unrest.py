"""Real stdio servers that are asked all the time, and a real daemon beside them, any of which may be killed at any moment.

Who is killed is started again at once. Every call counts: it is answered, or a kill cut it off, or it is an error.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.process.processes import SERVER
from tests.process.support import BIN

DAEMON = "the daemon"
KILLED = -signal.SIGKILL if os.name != "nt" else 1


@dataclass
class Heard:
    """What came of all calls."""

    seconds: list[float] = field(default_factory=list)
    """Of each call that was answered."""
    firsts: list[float] = field(default_factory=list)
    """Of these, the first ones of a process: it opens the store, and may load a model."""
    starts: list[float] = field(default_factory=list)
    """From the start of a server to the end of its handshake."""
    cut: int = 0
    """Calls and handshakes that a kill cut off."""
    empty: int = 0
    """Answers without a passage."""
    errors: list[str] = field(default_factory=list)
    """What no kill explains."""


class Unrest:
    """So many servers and a daemon over one home. Made inside a running event loop."""

    def __init__(self, variables: dict[str, str], questions: Sequence[str], log: IO[str], *options: str) -> None:
        """``log``: takes what all processes say on stderr. ``options``: of the daemon."""
        self.variables = variables
        self.heard = Heard()
        self.seats: dict[str, int] = {}
        """Name -> process that lives under it now."""
        self.answered: dict[str, int] = {}
        """Name of a server -> answers of that process so far."""
        self._questions = questions
        self._log = log
        self._options = options
        self._killed: set[int] = set()
        self._ended = anyio.Event()
        self._starting = anyio.Lock()

    @asynccontextmanager
    async def going_on(self, servers: int) -> AsyncIterator[None]:
        """All of them live until the block ends."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep_daemon)
            for number in range(servers):
                group.start_soon(self._keep_server, f"server {number}", number)
            try:
                yield
            finally:
                self._ended.set()
                self._signal(self.seats.pop(DAEMON, None), signal.SIGTERM)

    def kill(self, name: str) -> None:
        """Kill one of those that live."""
        pid = self.seats.pop(name)
        self.answered.pop(name, None)
        self._killed.add(pid)
        self._signal(pid, signal.SIGKILL)

    async def settled(self, is_so: Callable[[], bool]) -> None:
        """Wait until it is so."""
        while not is_so():
            await self.pause(0.02)

    async def pause(self, seconds: float) -> None:
        """Let so much time go by, unless all is to end."""
        with anyio.move_on_after(seconds):
            await self._ended.wait()

    def _signal(self, pid: int | None, number: int) -> None:
        if pid is not None:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                self.heard.errors.append(f"process {pid} had ended before")

    # ------------------------------------------------------------ the daemon

    async def _keep_daemon(self) -> None:
        while not self._ended.is_set():
            async with self._starting:
                process = await anyio.open_process(
                    [str(BIN / "raw-rag-ingest"), "--watch", *self._options], env=self.variables,
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._log,
                )  # fmt: skip
                self.seats[DAEMON] = process.pid
            async with process:
                status = await process.wait()
            if process.pid not in self._killed and not (self._ended.is_set() and status == 0):
                self.heard.errors.append(f"{DAEMON} ended with status {status}")
                await self.pause(1)

    # ------------------------------------------------------------ servers

    async def _keep_server(self, name: str, number: int) -> None:
        while not self._ended.is_set():
            pid: list[int] = []
            try:
                await self._talk(name, number, pid)
            except Exception as error:
                if pid and pid[0] in self._killed:
                    self.heard.cut += 1
                else:
                    self.heard.errors.append(f"{name}: {_innermost(error)!r}")
            if self.seats.get(name) in pid:
                del self.seats[name]

    async def _talk(self, name: str, number: int, pid: list[int]) -> None:
        """One process, from its start to its end."""
        began = time.perf_counter()
        async with Client(self._spawned(name, pid)) as client:
            self.heard.starts.append(time.perf_counter() - began)
            asked = 0
            while not self._ended.is_set():
                question = self._questions[(asked + number) % len(self._questions)]
                self._note(name, asked, await _timed(client, question))
                asked += 1

    def _note(self, name: str, asked: int, found: tuple[float, Any]) -> None:
        seconds, answer = found
        self.heard.seconds.append(seconds)
        if not asked:
            self.heard.firsts.append(seconds)
        if answer.is_error:
            self.heard.errors.append(f"{name}: {answer.content}")
        elif not (answer.structured_content or {}).get("passages"):
            self.heard.empty += 1
        self.answered[name] = asked + 1

    @asynccontextmanager
    async def _spawned(self, name: str, pid: list[int]) -> AsyncIterator[Any]:
        """The official transport, and the process behind it. One is started at a time, to know which process is whose."""
        start = StdioServerParameters(command=sys.executable, args=["-c", SERVER], env=self.variables)
        transport = stdio_client(start, errlog=self._log)
        async with self._starting:
            known = _children()
            streams = await transport.__aenter__()
            pid += _children() - known
        self.seats[name] = pid[0]
        try:
            yield streams
        finally:
            await transport.__aexit__(None, None, None)


async def _timed(client: Client, question: str) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = await client.call_tool("raw_rag_search", {"query": question, "project_path": "*"})
    return time.perf_counter() - began, answer


def _children() -> set[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(map(int, listed.read_text(encoding="ascii").split()))


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
