"""Listening, answering, and ending in good order: one thread with an event loop, whatever the main thread does."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

import uvicorn

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.log import NAME
from agent_raw_rag.server.http.access import AccessLog
from agent_raw_rag.server.http.names import served_hosts
from agent_raw_rag.server.http.patience import Timed
from agent_raw_rag.server.http.quiet import hush
from agent_raw_rag.server.http.scribe import Scribe
from agent_raw_rag.server.http.upkeep import Upkeep
from agent_raw_rag.store import lock as locks

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

GRACE_SECONDS = 3
"""What is under way when the end comes has so long."""
BACKLOG = 512
SWITCH_SECONDS = 0.0005
"""After which a thread that computes makes way. By default it is ten times as long, and an answer changes threads about ten
times: while anything is computed in the background, each of its steps would wait for that."""
LOCK_SECONDS = 0.5
_log = logging.getLogger(NAME)


class HttpServing:
    """The application of a home, from ``start`` to ``stop``."""

    def __init__(self, runtime: Runtime, host: str, port: int, legacy: tuple[str, ...] = ()) -> None:
        self._runtime = runtime
        self._host, self._port = host, port
        self._legacy = legacy
        self._held = ExitStack()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self.url = ""
        """The address of the root, once it is started."""
        self.on_end: Callable[[], None] = lambda: None
        """Called when nobody is answered any more, whatever the reason."""

    def start(self) -> str:
        """Listen. When this returns, whoever connects is answered. Returns the address of the root.

        Raises:
            StoreBusyError: another process serves this home on this port; the message says which.
            ServiceError: the address cannot be listened on.
        """
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            bound, url = self._bound()
            app = self._application()
            self._server = _Server(_config(app))
            self._thread = threading.Thread(target=self._run, args=(self._server, bound), name="http", daemon=True)
            self._thread.start()
            self._server.wait_started(self._thread)
            self.url = url
        except BaseException:
            self._held.close()
            raise
        return url

    def stop(self, wait_seconds: float = GRACE_SECONDS + 2.0) -> bool:
        """Take no more requests, finish those under way, write down what is left. Whether every answer came to its end."""
        ended = True
        if self._server is not None and self._thread is not None:
            self._server.end()
            self._thread.join(wait_seconds)
            ended = not self._thread.is_alive()
        self._server = self._thread = None
        self._held.close()
        return ended

    def _bound(self) -> tuple[socket.socket, str]:
        if self._port:
            self._hold(self._port)
        try:
            bound = _listening(self._host.strip("[]"), self._port)
        except OSError as error:
            raise self._not_bound(error) from error
        self._held.callback(bound.close)
        port = bound.getsockname()[1]
        if not self._port:
            self._hold(port)
        return bound, address(self._host, port)

    def _hold(self, port: int) -> None:
        purpose = f"serving {self._host}:{port}"
        held = locks.lock(self._runtime.home, locks.http(port), wait_seconds=LOCK_SECONDS, purpose=purpose)
        self._held.enter_context(held)

    def _not_bound(self, error: OSError) -> ServiceError:
        place = f"{self._host}:{self._port}"
        if error.errno == errno.EADDRINUSE:
            return ServiceError(
                f"{place} is taken by {_neighbour(self._host, self._port)}.", hint="Take another with --port."
            )
        return ServiceError(f"{place} cannot be listened on: {error.strerror or error}.")

    def _application(self) -> object:
        from agent_raw_rag.server.http.app import build
        from agent_raw_rag.server.http.routes import Ground
        from agent_raw_rag.server.http.tools import server_of

        hush()
        runtime = self._runtime
        admission = runtime.admission(self._legacy)
        self._held.callback(admission.close)
        scribe = Scribe(runtime)
        self._held.callback(scribe.close)
        access = AccessLog(os.path.join(runtime.home, "log"))
        self._held.callback(access.close)
        upkeep = Upkeep(runtime)
        self._held.callback(upkeep.close)
        upkeep.start()
        hosts = served_hosts(self._host, runtime.settings.http.allowed_hosts)
        return build(
            Ground(runtime, admission, scribe, upkeep.wrote),
            server_of(runtime, scribe, upkeep.wrote),
            hosts=hosts,
            tell=access,
        )

    def _run(self, server: _Server, bound: socket.socket) -> None:
        try:
            server.run([bound])
        except BaseException:  # a thread's end is seen by nobody
            _log.exception("HTTP is served no more")
        finally:
            self.on_end()


def address(host: str, port: int) -> str:
    """The address of the root."""
    bare = host.strip("[]")
    return f"http://{f'[{bare}]' if ':' in bare else bare}:{port}"


class _Server(uvicorn.Server):
    """Without the tick ten times a second: an idle server is to sleep."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._waiting: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._up = threading.Event()

    async def main_loop(self) -> None:
        """Wait for the end."""
        ended = asyncio.Event()
        self._waiting = asyncio.get_running_loop(), ended
        self._up.set()
        if not self.should_exit:
            await ended.wait()

    def wait_started(self, thread: threading.Thread) -> None:
        """Return when it answers. Raises ServiceError: it ended before."""
        while not self._up.wait(0.05):
            if not thread.is_alive():
                raise ServiceError("The HTTP server did not start.", hint="The log has the details.")

    def end(self) -> None:
        """From any thread, at any time."""
        self.should_exit = True
        if self._waiting is not None:
            loop, ended = self._waiting
            loop.call_soon_threadsafe(ended.set)


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Its protocol is named: asyncio leaves Nagle's algorithm on where it is not, and every answer
    then waits 40 ms for the acknowledgement of its own head. Raises OSError."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, kind, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def _config(app: object) -> uvicorn.Config:
    return uvicorn.Config(
        app, loop="asyncio", http=Timed, ws="none", lifespan="on", log_config=None, log_level=logging.ERROR,  # type: ignore[arg-type]
        access_log=False, proxy_headers=False, server_header=False, date_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS, timeout_keep_alive=75,
    )  # fmt: skip


def _neighbour(host: str, port: int) -> str:
    """Who listens there, as far as it says."""
    connection = http.client.HTTPConnection("127.0.0.1" if host in ("0.0.0.0", "::") else host, port, timeout=1.0)  # noqa: S104
    try:
        connection.request("GET", "/health")
        said = json.loads(connection.getresponse().read(10_000))
        return f"a raw-rag server of another home, version {said['version']}"
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return "another program"
    finally:
        connection.close()
