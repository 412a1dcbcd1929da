"""The access log: a JSON line for each request. No header, no body, no query, and no path that is not one of ours."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from typing import Any

from agent_raw_rag.log import NAME
from agent_raw_rag.server.http.guard import App, Message, Receive, Scope, Send
from agent_raw_rag.server.http.visit import KEY, Visit

FILE = "http.log"
FILE_BYTES = 5_000_000
FILES = 4
EVERY_SECONDS = 0.2
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"})

Tell = Callable[[dict[str, Any]], None]


class _File(RotatingFileHandler):
    """A disk that is full is no reason for a traceback on every line."""

    failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name of the library
        """Say it once, until a line is written again."""
        if not self.failed:
            logging.getLogger(NAME).warning("the access log %s cannot be written", self.baseFilename)
        self.failed = True


class AccessLog:
    """Writes lines in a thread of its own, a few times a second: no answer waits for a disk, or wakes a thread for its line."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.path = os.path.join(folder, FILE)
        self._file = _File(self.path, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8", delay=True)
        self._file.setFormatter(logging.Formatter("%(message)s"))
        self._waiting: deque[dict[str, Any]] = deque()
        self._news, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="access-log", daemon=True)
        self._thread.start()

    def __call__(self, facts: dict[str, Any]) -> None:
        """Have a line written."""
        self._waiting.append(facts)
        if not self._news.is_set():
            self._news.set()

    def close(self) -> None:
        """Write what is waiting, and end."""
        self._ended.set()
        self._news.set()
        self._thread.join()
        self._file.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._news.wait()
            self._ended.wait(EVERY_SECONDS)
            self._news.clear()  # before they are taken: what comes meanwhile sets it again
            self._write()
        self._write()  # what came while the last were written

    def _write(self) -> None:
        while self._waiting:
            line = json.dumps(self._waiting.popleft(), separators=(",", ":"))
            self._file.emit(logging.LogRecord("access", logging.INFO, "", 0, line, None, None))


class Logged:
    """The outermost middleware: it begins a visit, and tells of it when it is over."""

    def __init__(self, app: App, tell: Tell) -> None:
        self._app = app
        self._tell = tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visit = scope[KEY] = Visit("-")
        began, status, sent = time.perf_counter(), 0, 0

        async def watched(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._tell(_facts(scope, visit, status, sent, time.perf_counter() - began))


def _facts(scope: Scope, visit: Visit, status: int, sent: int, seconds: float) -> dict[str, Any]:
    method = scope["method"] if scope["method"] in METHODS else "-"
    peer = (scope.get("client") or ("",))[0]
    return {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"), "peer": peer, "method": method, "path": visit.path,
        "status": status, "ms": round(seconds * 1000, 2), "bytes": sent,
        "token": visit.bearer.label if visit.bearer else None, "space": visit.space, "tool": visit.tool,
    }  # fmt: skip
