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
_guard = threading.RLock()
_own: dict[str, list[int]] = {}
"""Path -> the handles that this process holds."""


def live(door: str, native: str) -> str:
    """The name of a session's presence. A native id may be anything, and a file's name may not."""
    named = f"{door}\0{native}".encode("utf-8", "surrogatepass")
    return f"{_LIVE}-{hashlib.blake2b(named, digest_size=16).hexdigest()}"


@contextmanager
def present(home: str, name: str) -> Iterator[None]:
    """Be there until the end of the block. Others may be there too."""
    path = _path(home, name)
    os.makedirs(home, mode=0o700, exist_ok=True)
    handle = _enter(path)
    try:
        yield
    finally:
        _leave(path, handle)


@contextmanager
def alone(home: str, name: str) -> Iterator[bool]:
    """Whether nobody is there but, at most, one block of this process. If so, nobody else enters until the end of the block."""
    path = _path(home, name)
    with _guard:
        mine = _own.get(path, [])
        if len(mine) > 1:
            yield False
            return
        handle = mine[0] if mine else os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        free = try_lock(handle) and _is_at(path, handle)
        try:
            yield free
        finally:
            if mine:
                try_lock(handle, shared=True, wait=True)
            else:
                _close(path, handle, remove=free)


def _enter(path: str) -> int:
    while True:
        with _guard:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try_lock(handle, shared=True, wait=True)
            if _is_at(path, handle):  # its last holder may have removed it after we opened it
                _own.setdefault(path, []).append(handle)
                return handle
            release(handle)


def _leave(path: str, handle: int) -> None:
    with _guard:
        mine = _own[path]
        mine.remove(handle)
        if not mine:
            del _own[path]
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
