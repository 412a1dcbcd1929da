"""One at a time, across processes: advisory locks on files that the system frees when their holder dies.

Whoever changes the store or a derived file holds ``writer``. Whoever makes vectors holds ``embedder`` all the while, and
``writer`` only when a slice is stored, so that new text never waits for a model. Whoever watches the logs all the time
holds ``daemon``: one is enough. Who answers on the daemon's socket holds that, and who serves HTTP a lock of its port.
Whoever edits the agents' own files holds ``connect``, and ``tally`` who counts the calls of models.

A file's text says who holds it. It proves nothing by itself: only the lock does.
"""

from __future__ import annotations

import glob
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
DAEMON = "daemon"
SOCKET = "daemon.sock"
HTTP = "http"
CONNECT = "connect"
TALLY = "tally"
_BUSY = {
    WRITER: "Another process is writing to the store",
    EMBEDDER: "Another process is making vectors",
    DAEMON: "Another process watches the logs already",
    SOCKET: "Another daemon serves this home",
    HTTP: "Another process serves this home",
    CONNECT: "Another process edits the agents' files",
    TALLY: "Another process counts",
}
_HINT = {
    DAEMON: "One is enough. `raw-rag-ingest --daemon-status` tells more.",
    SOCKET: "One is enough; end that one first if this one is to serve.",
    HTTP: "End that one first, or take another port.",
}


def http(port: int) -> str:
    """The lock of whoever serves a home on a port."""
    return f"{HTTP}-{port}"


@contextmanager
def lock(home: str, which: str, *, wait_seconds: float, purpose: str) -> Iterator[None]:
    """Hold a lock of a store folder: ``WRITER``, ``EMBEDDER``, ``DAEMON``, ``SOCKET`` or ``CONNECT``.

    Raises:
        StoreBusyError: somebody else holds it for longer than ``wait_seconds``; the message says who.
    """
    os.makedirs(home, mode=0o700, exist_ok=True)
    handle = os.open(os.path.join(home, f"{which}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(handle, which, wait_seconds)
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps({"pid": os.getpid(), "purpose": purpose}).encode())
        yield
        os.ftruncate(handle, 0)
    finally:
        release(handle)


def served(home: str) -> list[str]:
    """The locks of whoever serves, or served, a home over HTTP: one a port."""
    found = sorted(glob.glob(os.path.join(glob.escape(home), "http-*.lock")))
    return [os.path.basename(path).removesuffix(".lock") for path in found]


def is_held(home: str, which: str) -> bool:
    """Whether some process holds a lock right now. The question takes it for an instant, shared with all who ask: whoever wants
    it must wait a little, and nobody who asks is taken for its holder (but on Windows, whose locks cannot be shared)."""
    try:
        handle = os.open(os.path.join(home, f"{which}.lock"), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(handle, shared=True)
    finally:
        release(handle)


def _acquire(handle: int, which: str, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while not try_lock(handle):
        if time.monotonic() >= deadline:
            kind = which.partition("-")[0]
            raise StoreBusyError(
                f"{_BUSY[kind]} ({_holder(handle)}).", hint=_HINT.get(kind, "Try again when it is done.")
            )
        time.sleep(POLL_SECONDS)


def _holder(handle: int) -> str:
    try:
        os.lseek(handle, 0, os.SEEK_SET)
        holder = json.loads(os.read(handle, 1000))
        return f"process {holder['pid']}, {holder['purpose']}"
    except (ValueError, KeyError, TypeError):
        return "it left no name"


if sys.platform == "win32":
    import msvcrt

    _PLACE = 1 << 30
    """The byte that is locked: far behind the text, which others could not read otherwise."""

    def try_lock(handle: int, *, shared: bool = False, wait: bool = False) -> bool:
        """Take the lock of an open file, or a share of it. ``wait``: for as long as it takes. No locks are shared here: whoever
        comes second is refused at once."""
        os.lseek(handle, _PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def release(handle: int) -> None:
        """Closing alone frees it, too, but the system says not when."""
        os.lseek(handle, _PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
        except OSError:  # it was another's
            pass
        os.close(handle)
else:
    import fcntl

    def try_lock(handle: int, *, shared: bool = False, wait: bool = False) -> bool:
        """Take the lock of an open file, or a share of it. ``wait``: for as long as it takes."""
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def release(handle: int) -> None:
        """Give up a lock, and close its file."""
        os.close(handle)
