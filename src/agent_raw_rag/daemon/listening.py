"""The daemon's socket: bound by whoever holds its lock, the user's alone, and removed by nobody else.

A socket that a dead process left is known by its lock, which the system freed: not by its age, and not by whether it answers.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agent_raw_rag.encode.daemon_address import ADDRESS_FILE, SOCKET, Address, find, fits, has_unix_sockets
from agent_raw_rag.errors import StoreBusyError, StoreError
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime.whole_file import write_whole
from agent_raw_rag.store import lock as locks

BACKLOG = 128
LOCK_SECONDS = 0.5
"""Whoever asks whether the lock is held takes it for an instant."""
_log = logging.getLogger(NAME)


@contextmanager
def listening(
    home: str, environment: Mapping[str, str], *, unix: bool | None = None
) -> Iterator[tuple[socket.socket, Address]]:
    """A socket that listens for this home, and where. It is gone when the block ends.

    Args:
        home: The store's folder.
        environment: For ``XDG_RUNTIME_DIR``, where the home's own path is too long for a socket.
        unix: False: a port of this machine and a token; None: only where there are no Unix sockets.

    Raises:
        StoreBusyError: another process listens for this home; the message says which.
        StoreError: there is no place for a socket that is the user's alone.
    """
    with locks.lock(home, locks.SOCKET, wait_seconds=LOCK_SECONDS, purpose="serving"):
        path = os.path.join(home, SOCKET)
        if not fits(path):
            path = _short_path(home, environment)
        if in_the_way := _clear(home, path):
            raise StoreError(f"No socket can be made: {in_the_way}.", hint="Move that away.")
        use_unix = has_unix_sockets() if unix is None else unix
        bound, address = _bound_to_path(path) if use_unix else _bound_to_port()
        try:
            if os.path.dirname(path) != home or not use_unix:
                _tell(home, address)
            yield bound, address
        finally:
            bound.close()
            if in_the_way := _clear(home, path):
                _log.warning("the socket's place is not cleared: %s", in_the_way)


def left_behind(home: str) -> list[str]:
    """What a daemon of this home that is gone did not remove; empty while one serves."""
    return [] if locks.is_held(home, locks.SOCKET) else _left(home)


def remove_left_behind(home: str) -> list[str]:
    """Remove that, unless a daemon serves by now. Returns what is gone."""
    try:
        with locks.lock(home, locks.SOCKET, wait_seconds=LOCK_SECONDS, purpose="cleaning up"):
            left = _left(home)
            for path in left:
                os.remove(path)
            return left
    except StoreBusyError:
        return []


def _left(home: str) -> list[str]:
    told = find(home)
    places = [os.path.join(home, ADDRESS_FILE), os.path.join(home, SOCKET), told.path if told else ""]
    return [path for path in dict.fromkeys(places) if path and os.path.lexists(path)]


def _clear(home: str, path: str) -> str:
    """Remove what the last holder of the lock left. Returns what cannot be removed, and why; "": nothing is in the way."""
    for left in (os.path.join(home, ADDRESS_FILE), os.path.join(home, SOCKET), path):
        try:
            os.remove(left)
        except FileNotFoundError:
            pass
        except OSError as error:  # a folder of this name, or one that may not be written to any more
            return f"{left} is in the way ({error.strerror or error})"
    return ""


def _bound_to_path(path: str) -> tuple[socket.socket, Address]:
    if sys.platform == "win32":
        raise StoreError("There are no Unix sockets here.")
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        bound.bind(path)
        Path(path).chmod(0o600)  # before listen: until then nobody can connect
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise StoreError(f"The socket {path} cannot be made: {error.strerror or error}.") from error
    return bound, Address(path)


def _bound_to_port() -> tuple[socket.socket, Address]:
    bound = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    return bound, Address(port=bound.getsockname()[1], token=secrets.token_urlsafe(32))


def _tell(home: str, address: Address) -> None:
    """Write the file that says where."""
    said = {"socket": address.path} if address.path else {"port": address.port, "token": address.token}
    write_whole(os.path.join(home, ADDRESS_FILE), json.dumps(said))


def _short_path(home: str, environment: Mapping[str, str]) -> str:
    """A socket's path for a home whose own is too long: in the user's runtime folder, else in a private temporary one."""
    name = f"raw-rag-{hashlib.blake2b(os.fsencode(os.path.realpath(home)), digest_size=8).hexdigest()}.sock"
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _is_private(runtime) and fits(os.path.join(runtime, name)):
        return os.path.join(runtime, name)
    folder = _private_folder()
    if not fits(os.path.join(folder, name)):
        raise StoreError(
            f"The path of {home} is too long for a socket, and so is that of {folder}.", hint="Set TMPDIR."
        )
    return os.path.join(folder, name)


def _private_folder() -> str:
    folder = os.path.join(tempfile.gettempdir(), f"raw-rag-{_user()}")
    try:
        Path(folder).mkdir(0o700)
    except FileExistsError:
        pass
    if not _is_private(folder):
        raise StoreError(f"The folder {folder} is not yours alone.", hint="Remove it, or set XDG_RUNTIME_DIR.")
    return folder


def _is_private(folder: str) -> bool:
    """Whether it is a folder, no link, of this user, closed to all others."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == _user() and not found.st_mode & 0o077


def _user() -> int:
    if sys.platform == "win32":
        return 0
    return os.getuid()
