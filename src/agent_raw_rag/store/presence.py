"""Who is there right now: any number of processes may hold a presence, and who wants to be sure that nobody does asks for it.

The system ends a presence when its holder dies. A file of a presence goes with its last holder; what a killed one left goes
with the first who asks.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from agent_raw_rag.store.lock import release, try_lock

_LIVE = "live"
_guard = threading.Condition()
"""Of the two below. Nobody waits for a file's lock while holding it."""
_own: dict[str, list[int]] = {}
"""Path -> the handles that this process holds."""
_asked: dict[str, int] = {}
"""Path -> the handle of the block of this process that is alone there, or wanted to be."""


def live(door: str, native: str) -> str:
    """The name of a session's presence. A native id may be anything, and a file's name may not."""
    named = f"{door}\0{native}".encode("utf-8", "surrogatepass")
    return f"{_LIVE}-{hashlib.blake2b(named, digest_size=16).hexdigest()}"


@contextmanager
def present(home: str, name: str) -> Iterator[None]:
    """Be there until the end of the block. Others may be there too. Waits for whoever is alone there, a whole transaction maybe:
    nothing for an event loop. May be left by another thread."""
    path = _path(home, name)
    os.makedirs(home, mode=0o700, exist_ok=True)
    handle = _enter(path)
    try:
        yield
    finally:
        _leave(path, handle)


@contextmanager
def alone(home: str, name: str, *, among: int = 0) -> Iterator[bool]:
    """Whether nobody is there. If so, nobody enters until the end of the block, and whoever wants to waits for that.

    Args:
        home: As ``present``.
        name: As ``present``.
        among: So many blocks of this process do not count, 0 or 1: the one that asks may be there itself.
    """
    path = _path(home, name)
    with _guard:
        mine = list(_own.get(path, []))
        refused = len(mine) > among or path in _asked
        if not refused:
            handle = mine[0] if mine else os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            _asked[path] = handle
    if refused:
        yield False
        return
    try:
        yield try_lock(handle) and _is_at(path, handle)
    finally:
        _restore(path, handle, shared=bool(mine))


def _restore(path: str, handle: int, *, shared: bool) -> None:
    if shared:
        try_lock(handle, shared=True, wait=True)  # what was refused may have cost the share
    with _guard:
        del _asked[path]
        if handle not in _own.get(path, ()):  # nobody's, or its holder left meanwhile
            _close(path, handle, remove=path not in _own and try_lock(handle))
        _guard.notify_all()


def _enter(path: str) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try_lock(handle, shared=True, wait=True)  # for a whole transaction, maybe: the guard is not held meanwhile
        with _guard:
            # Its last holder may have removed the file after we opened it. Where no lock is shared, the lock did not wait.
            if path not in _asked and _is_at(path, handle):
                _own.setdefault(path, []).append(handle)
                return handle
            release(handle)
            _guard.wait_for(lambda: path not in _asked)


def _leave(path: str, handle: int) -> None:
    with _guard:
        mine = _own[path]
        mine.remove(handle)
        if not mine:
            del _own[path]
        if _asked.get(path) != handle:  # else whoever asks has it, and closes it
            _close(path, handle, remove=not mine and try_lock(handle))


def _close(path: str, handle: int, *, remove: bool) -> None:
    if remove and _is_at(path, handle):
        try:
            os.remove(path)
        except OSError:  # on Windows somebody has it open: it stays, and says nothing
            pass
    release(handle)


def _is_at(path: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except OSError:
        return False


def _path(home: str, name: str) -> str:
    return os.path.join(home, f"{name}.lock")
