"""``raw-rag serve`` as a real process over a home of its own, its commands, and the two ways to it: raw HTTP and MCP."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.process.processes import RAW_RAG, environment_of, run
from tests.samples import sample_environment

Result = TypeVar("Result")
FIVE = ["memory_capture", "memory_recall", "memory_save", "memory_search_raw", "memory_update"]
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@dataclass
class Home:
    """A home without logs, and the commands on it."""

    environment: dict[str, str]

    @property
    def store(self) -> Path:
        return Path(self.environment["RAW_RAG_HOME"])

    def command(self, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        done = run(RAW_RAG, self.environment, *words)
        assert done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def read(self, *words: str) -> Any:
        """The JSON value that a command prints."""
        return json.loads(self.command(*words, "--json").stdout)

    def token(self, label: str, *, space: str = "*", scope: str = "read,write", more: tuple[str, ...] = ()) -> str:
        """The secret of a new token."""
        words = ["token", "create", "--label", label, "--space", space, "--scope", scope, *more]
        return self.command(*words).stdout.strip()

    def space(self, name: str) -> str:
        self.command("space", "create", name)
        return name

    def journal(self, *words: str) -> list[dict[str, Any]]:
        """The journal of a space as its store holds it: no command stands between."""
        from agent_raw_rag.runtime import Runtime
        from agent_raw_rag.store.journal import Journal

        runtime = Runtime.load(None, self.environment).in_space(words[0] if words else "default")
        return [row.as_json() for row in Journal(runtime.reader.connection).rows()]

    def configure(self, text: str) -> None:
        (self.store / "config.toml").write_text('[encoder]\nname = "none"\n' + text, encoding="utf-8")


def home_in(folder: Path) -> Home:
    """A home under a folder, with two spaces."""
    home = Home(sample_environment(folder, logs=False))
    for name in ("proj", "other"):
        home.space(name)
    return home


@contextmanager
def unbroken(home: Home) -> Iterator[Served]:
    """``serving``, of a server that is to outlive whatever it is sent, end well, and say nothing of a bug."""
    with serving(home) as running:
        yield running
        assert running.process.poll() is None
        assert running.end() == 0
        assert "Traceback" not in running.said[1], running.said[1]


@dataclass
class Served:
    """A server that runs."""

    home: Home
    url: str
    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)
    """What it printed to people, once it has ended."""

    def headers(self, secret: str | None, space: str | None = None, **more: str) -> dict[str, str]:
        shown = {"authorization": f"Bearer {secret}"} if secret is not None else {}
        named = {"x-raw-rag-space": space} if space is not None else {}
        return {**ACCEPT, **shown, **named, **more}

    def ask(
        self, path: str = "/mcp/memory", *, method: str = "POST", secret: str | None = None, space: str | None = None,
        body: Any = None, headers: dict[str, str] | None = None,
    ) -> httpx2.Response:  # fmt: skip
        """One request over raw HTTP; a JSON-RPC ``tools/list`` unless it says otherwise."""
        given = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"} if body is None else body
        content = given if isinstance(given, bytes) else json.dumps(given).encode()
        with httpx2.Client(trust_env=False, timeout=60, follow_redirects=False) as client:
            sent = {**self.headers(secret, space), **(headers or {})}
            return client.request(
                method, self.url + path, headers=sent, content=content if method in ("POST", "PUT") else None
            )

    def with_client(
        self, use: Callable[[Client], Awaitable[Result]], secret: str, space: str = "proj", *, path: str = "/mcp/memory/",
        **options: Any,
    ) -> Result:  # fmt: skip
        """What ``use`` makes of an official client that is connected to a space."""

        async def connected() -> Result:
            with anyio.fail_after(100):
                async with self.client(secret, space, path=path, **options) as client:
                    return await use(client)

        return anyio.run(connected)

    def client(self, secret: str, space: str = "proj", *, path: str = "/mcp/memory/", **options: Any) -> _Connection:
        """An official client, to be entered."""
        return _Connection(self.url + path, self.headers(secret, space), options)

    def call(self, tool: str, arguments: dict[str, Any], secret: str, space: str = "proj") -> CallToolResult:
        """The result of one call over the official client."""

        async def use(client: Client) -> CallToolResult:
            return await client.call_tool(tool, arguments)

        return self.with_client(use, secret, space)

    def answer(self, tool: str, arguments: dict[str, Any], secret: str, space: str = "proj") -> dict[str, Any]:
        """The structured content of a call that succeeds."""
        result = self.call(tool, arguments, secret, space)
        assert not result.is_error, result
        assert result.structured_content is not None
        return result.structured_content

    def refused(self, tool: str, arguments: dict[str, Any], secret: str, space: str = "proj") -> str:
        """The code of a call that is refused."""
        result = self.call(tool, arguments, secret, space)
        assert result.is_error, result
        assert set(result.structured_content or ()) >= {"code", "message", "hint"}, result
        return str((result.structured_content or {})["code"])

    def tools(self, secret: str, space: str = "proj", *, path: str = "/mcp/memory/") -> list[str]:
        """The names of the tools that a client sees."""

        async def use(client: Client) -> list[str]:
            return sorted(tool.name for tool in (await client.list_tools()).tools)

        return self.with_client(use, secret, space, path=path)

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it in good order; its exit status."""
        self.process.send_signal(number)
        self.said.extend(self.process.communicate(timeout=30))
        return self.process.returncode


class _Connection:
    """An official client over streamable HTTP, with the headers of a token and a space."""

    def __init__(self, url: str, headers: dict[str, str], options: dict[str, Any]) -> None:
        kept = {name: value for name, value in headers.items() if name not in ACCEPT}
        self._http = httpx2.AsyncClient(headers=kept, trust_env=False, timeout=60)
        self._client = Client(streamable_http_client(url, http_client=self._http), **options)

    async def __aenter__(self) -> Client:
        await self._http.__aenter__()
        return await self._client.__aenter__()

    async def __aexit__(self, *raised: Any) -> None:
        await self._client.__aexit__(*raised)
        await self._http.__aexit__(*raised)


@contextmanager
def serving(home: Home, *words: str, port: int = 0, more: dict[str, str] | None = None) -> Iterator[Served]:
    """A server over a home. It is killed at the end, if it still lives."""
    command = [sys.executable, "-c", RAW_RAG, "serve", "--port", str(port), *words]
    environment = environment_of({**home.environment, **(more or {})})
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("Serving http://"), (first, process.communicate(timeout=10))
            yield Served(home, first.split()[1].removesuffix("/mcp/memory"), process)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
