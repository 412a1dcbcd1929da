"""Where the daemon of a home folder listens, as whoever asks it finds out: nothing is started, locked or removed from here.

A Unix socket stands in the home folder under a fixed name. Where it cannot (the path is too long for the system, or there are no
such sockets) a small file says where instead. Both are the user's alone: whoever can read the home is whom the daemon serves.
"""

from __future__ import annotations

import hmac
import json
import os
import socket
import sys
from dataclasses import dataclass
from typing import Any

SOCKET = "daemon.sock"
ADDRESS_FILE = "daemon.address"
"""JSON: ``{"socket": path}`` or ``{"port": number, "token": text}``."""
MOST_SOCKET_BYTES = 103
"""Of a socket's path: ``sun_path`` has 104 bytes on macOS and 108 on Linux, the closing zero among them."""


@dataclass(frozen=True, slots=True)
class Address:
    """A Unix socket's path, or a port of this machine and the token that must be shown there."""

    path: str = ""
    port: int = 0
    token: str = ""


def has_unix_sockets() -> bool:
    """Whether this system has them for Python."""
    return sys.platform != "win32" and hasattr(socket, "AF_UNIX")


def fits(path: str) -> bool:
    """Whether a socket can be bound at this path."""
    return len(os.fsencode(path)) <= MOST_SOCKET_BYTES


def find(home: str) -> Address | None:
    """Where the daemon of this home listens, or listened last; None: there is none. Whether it lives is not known by this."""
    said = _said(os.path.join(home, ADDRESS_FILE)) or Address(os.path.join(home, SOCKET))
    return said if said.port or (fits(said.path) and _is_ours(said.path)) else None


def proof(token: str, challenge: str) -> str:
    """What shows, to who knows a token, that another knows it too, without telling it to who does not (HMAC, RFC 2104)."""
    return hmac.new(token.encode(), challenge.encode("utf-8", "replace"), "sha256").hexdigest()


def _is_ours(path: str) -> bool:
    """Whether something stands there that this user made: in a folder that others may write to, they could listen too."""
    try:
        owner = os.stat(path).st_uid
    except OSError:
        return False
    return sys.platform == "win32" or owner == os.getuid()


def _said(file: str) -> Address | None:
    """The address in a file; None: there is no such file, or it is not ours to believe."""
    try:
        with open(file, encoding="utf-8") as stream:
            return _address(json.load(stream))
    except (OSError, ValueError):
        return None


def _address(said: Any) -> Address | None:
    if not isinstance(said, dict):
        return None
    path, port, token = said.get("socket"), said.get("port"), said.get("token")
    if isinstance(path, str) and path:
        return Address(path)
    if type(port) is int and 0 < port < 1 << 16 and isinstance(token, str) and token:
        return Address(port=port, token=token)
    return None
