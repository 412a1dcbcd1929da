"""Serving of one runtime on the daemon's socket, in a thread of its own: the loop starts it, and goes on with its work."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import uvicorn

from agent_raw_rag.daemon.answers import Answers
from agent_raw_rag.daemon.app import build
from agent_raw_rag.daemon.listening import listening
from agent_raw_rag.daemon.patience import REQUEST_SECONDS, Complaints, patient
from agent_raw_rag.encode.daemon_address import ADDRESS_FILE, Address
from agent_raw_rag.log import NAME
from agent_raw_rag.store.opened import Mark, mark

if TYPE_CHECKING:
    import socket

    from agent_raw_rag.runtime import Runtime

GRACE_SECONDS = 2
"""What is under way when the end comes has so long."""

_log = logging.getLogger(NAME)


class Serving:
    """``/v1/embeddings``, ``/v1/rerank``, ``/health`` and ``/search`` of a runtime, from ``start`` to ``stop``."""

    def __init__(self, runtime: Runtime, *, unix: bool | None = None, request_seconds: float = REQUEST_SECONDS) -> None:
        """The runtime's models are those of this process from now on.

        Args:
            runtime: What answers.
            unix: See ``listening``.
            request_seconds: How long a client may take for the head, and for the body, of a request.
        """
        self._request_seconds = request_seconds
        self._home, self._environment = runtime.home, runtime.environment
        self._answers = Answers(runtime)
        self._unix = unix
        self._held = ExitStack()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self._place: tuple[str, Mark] | None = None
        """What stands where others look for the socket, as it was made."""

    def start(self) -> Address:
        """Listen. When this returns, whoever connects is answered.

        Raises:
            StoreBusyError: another daemon serves this home; the message says which process.
            StoreError: there is no place for the socket.
        """
        bound, address = self._held.enter_context(listening(self._home, self._environment, unix=self._unix))
        place = address.path or os.path.join(self._home, ADDRESS_FILE)
        self._place = place, mark(place)
        self._server = _Server(
            _config(build(self._answers, address.token, self._request_seconds), self._request_seconds)
        )
        self._thread = threading.Thread(target=self._run, args=(self._server, bound), name="serving", daemon=True)
        self._thread.start()
        return address

    def take(self, runtime: Runtime) -> None:
        """Answer by another runtime of the same home from now on."""
        self._answers.take(runtime)

    def stop(self, wait_seconds: float = GRACE_SECONDS + 1.0) -> None:
        """Take no more requests, finish those under way, remove the socket. Nothing happens if it is not serving."""
        if self._server is not None and self._thread is not None:
            self._server.end()
            self._thread.join(wait_seconds)
        self._server = self._thread = None
        self._held.close()

    def is_running(self) -> bool:
        """Whether requests are answered, and who looks for the socket finds it: somebody may have removed or replaced it."""
        found = self._place is not None and mark(self._place[0]) == self._place[1]
        return found and self._thread is not None and self._thread.is_alive()

    def _run(self, server: _Server, bound: socket.socket) -> None:
        try:
            server.run([bound])
        except BaseException:  # a thread's end is seen by nobody
            _log.exception("the daemon's socket serves no more")


class _Server(uvicorn.Server):
    """Without the tick ten times a second, which only dates answers: an idle daemon is to sleep."""

    _waiting: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    async def main_loop(self) -> None:
        """Wait for the end."""
        asyncio.get_running_loop().set_exception_handler(Complaints())
        ended = asyncio.Event()
        self._waiting = asyncio.get_running_loop(), ended
        if not self.should_exit:
            await ended.wait()

    def end(self) -> None:
        """From any thread, at any time."""
        self.should_exit = True
        if self._waiting is not None:
            loop, ended = self._waiting
            loop.call_soon_threadsafe(ended.set)


def _config(app: object, request_seconds: float) -> uvicorn.Config:
    return uvicorn.Config(
        app, loop="asyncio", http=patient(request_seconds), ws="none", lifespan="off", log_config=None, log_level=logging.ERROR,  # type: ignore[arg-type]
        access_log=False, proxy_headers=False, server_header=False, date_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS, timeout_keep_alive=75,
    )  # fmt: skip
