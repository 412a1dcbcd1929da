"""The background ingest that follows the handshake. A daemon thread: it never holds up an answer, or the exit."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent_raw_rag.errors import StoreBusyError
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import expected, heartbeat
from agent_raw_rag.server.progress import said

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from agent_raw_rag.ingest.run import Note
    from agent_raw_rag.runtime import Runtime

AFTER_HANDSHAKE_SECONDS = 0.3
"""So that the imports of an ingest do not compete with the answers to ``initialize`` and ``tools/list``."""

_log = logging.getLogger(NAME)


class Stopped(Exception):  # noqa: N818 - not an error: the host is leaving
    """The server ends. What is committed stays; the rest is read next time."""


class CatchUp:
    """Reads, once, what is new since anybody last did; nothing where the daemon does so all the time."""

    def __init__(self, runtime: Callable[[], Runtime], after_seconds: float = AFTER_HANDSHAKE_SECONDS) -> None:
        self._runtime = runtime
        self._after_seconds = after_seconds
        self._thread: threading.Timer | None = None
        self._stop = threading.Event()
        self._note: Note | None = None

    async def middleware(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Start with the first message that a client sends, a moment after it is answered."""
        if self._thread is None:
            self._thread = threading.Timer(self._after_seconds, self._run)
            self._thread.daemon = True
            self._thread.start()
        return await call_next(ctx)

    def running(self) -> str | None:
        """How far it is, in words; None: it is not running."""
        if self._thread is None or not self._thread.is_alive():
            return None
        where = f" ({said(self._note)})" if self._note else ""
        return f"A catch-up with the agents' logs is running{where}: the newest turns may be missing."

    def stop(self, wait_seconds: float) -> bool:
        """Ask it to leave at the next source or batch; whether it did."""
        self._stop.set()
        if self._thread is not None:
            self._thread.cancel()
        return self.wait(wait_seconds)

    def wait(self, seconds: float) -> bool:
        """Wait for its end; whether it came, or there is nothing to wait for."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self.running() is None

    def _run(self) -> None:
        try:
            runtime = self._runtime()
            if heartbeat.is_current(runtime.home):
                _log.info("no catch-up: the daemon keeps the store current")
                return
            report = runtime.ingest(wait_seconds=0, on_note=self._noted)
        except Stopped:
            return
        except StoreBusyError as busy:
            _log.info("no catch-up: %s", busy)
        except Exception as error:
            known = expected(error)
            _log.warning("the catch-up failed: %s", known or error, exc_info=known is None)
        else:
            _log.info("caught up in %.1f s, %d vectors made", report.seconds, report.embedded)
        self._sweep()

    def _sweep(self) -> None:
        """Where no daemon does: what was said since the last sweep becomes notes and candidates."""
        from agent_raw_rag.runtime.sweeping import sweep_spaces

        if not self._stop.is_set():
            sweep_spaces(self._runtime())

    def _noted(self, note: Note) -> None:
        self._note = note
        if self._stop.is_set():
            raise Stopped
