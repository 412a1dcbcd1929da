"""One at a time, across processes: advisory locks on files that the system frees when their holder dies.

Whoever changes the store or a derived file holds ``writer``. Whoever makes vectors holds ``embedder`` all the while, and
``writer`` only when a slice is stored, so that new text never waits for a model. Who answers on the daemon's socket holds that.

A file's text says who holds it. It proves nothing by itself: only the lock does.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agent_raw_rag.errors import StoreBusyError

POLL_SECONDS = 0.1
WRITER = "writer"
EMBEDDER = "embedder"
SOCKET = "daemon.sock"
_BUSY = {
    WRITER: "Another process is writing to the store",
    EMBEDDER: "Another process is making vectors",
    SOCKET: "Another daemon serves this home",
}
_HINTS = {SOCKET: "One is enough; end that one first if this one is to serve."}


@contextmanager
def lock(home: str, which: str, *, wait_seconds: float, purpose: str) -> Iterator[None]:
    """Hold a lock of a store folder: ``WRITER``, ``EMBEDDER`` or ``SOCKET``.

    Raises:
        StoreBusyError: somebody else holds it for longer than ``wait_seconds``; the message says who.
    """
    os.makedirs(home, mode=0o700, exist_ok=True)
    handle = os.open(os.path.join(home, f"{which}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(handle, which, wait_seconds)
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"pid": os.getpid(), "purpose": purpose}).encode(), 0)
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _acquire(handle: int, which: str, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while not _try_lock(handle):
        if time.monotonic() >= deadline:
            raise StoreBusyError(
                f"{_BUSY[which]} ({_holder(handle)}).", hint=_HINTS.get(which, "Try again when it is done.")
            )
        time.sleep(POLL_SECONDS)


def _holder(handle: int) -> str:
    try:
        holder = json.loads(os.pread(handle, 1000, 0))
        return f"process {holder['pid']}, {holder['purpose']}"
    except (ValueError, KeyError, TypeError):
        return "it left no name"


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1 << 20)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
