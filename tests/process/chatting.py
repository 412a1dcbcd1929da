"""Chats of the tests: what is typed, what is shown, what comes in frames, and what was stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.captured import CapturedRows
from tests.process.processes import RAW_RAG, environment_of
from tests.servers.memory_http import Home, Served


def stored(home: Home, session: str, space: str = "default") -> list[tuple[str, str, bool]]:
    """(role, text, whether the end is missing) of a chat's turns."""
    rows = CapturedRows(Runtime.load(None, home.environment).in_space(space).reader.connection)
    number = rows.session_of("chat", session)
    found = list(rows.at((number, n) for n in range(1, 30))) if number else []
    assert {one.source for one in found} <= {"chat"}
    return [(one.role.value, one.text, one.partial) for one in found]


class Terminal:
    """What a program shows in a terminal."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._shown = ""

    def until(self, words: str) -> None:
        """Read until they come, and forget what stood before them."""
        while words not in self._shown:
            self._shown += os.read(self._master, 4096).decode("utf-8", "replace")
        self._shown = self._shown.partition(words)[2]


def typed(home: Home, lines: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    """A chat whose input is these lines."""
    return subprocess.run(
        [sys.executable, "-c", RAW_RAG, "chat", *words], env=environment_of(home.environment), text=True,
        encoding="utf-8", capture_output=True, input="\n".join(lines) + "\n", timeout=110, check=False,
    )  # fmt: skip


@contextmanager
def chatting(home: Home, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A chat that waits for input."""
    command = [sys.executable, "-c", RAW_RAG, "chat", *words]
    with subprocess.Popen(
        command, env=environment_of(home.environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def frames(response: httpx2.Response) -> list[dict[str, Any]]:
    return [json.loads(part.removeprefix("data: ")) for part in response.text.split("\n\n") if part]


@contextmanager
def streaming(served: Served, token: str, model: str) -> Iterator[tuple[httpx2.Response, Iterator[str]]]:
    """An answer that is read as it comes, frame by frame; leaving the block leaves it."""
    with (
        httpx2.Client(trust_env=False, timeout=60) as client,
        client.stream(
            "POST", f"{served.url}/chat", headers=served.headers(token), json={"message": "hi", "model": model}
        ) as response,
    ):
        yield response, (line for line in response.iter_lines() if line)
