"""Which names this server answers to. Pure: Host and Origin headers -> whether they are ours.

A page of a stranger's site can make a browser resolve its own name to this machine, but not change the name that the browser
sends along: so the name decides, and the port does not.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}|\*))?", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server that listens there."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Names:
    """The hosts and origins that are served."""

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        """``hosts``: names, with a port where only that one is meant; ``origins``: further pages that may ask."""
        self._hosts = frozenset(_told(host) for host in hosts)
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)

    def has_host(self, host: str | None) -> bool:
        """Whether a Host header names us."""
        found = _HOST.fullmatch(host or "")
        if found is None or found[2] == "*":
            return False
        name = found[1].lower()
        return (name, "") in self._hosts or (name, found[2] or "") in self._hosts

    def has_origin(self, origin: str | None) -> bool:
        """Whether a page of this origin may ask; whoever sends none is no page."""
        if origin is None:
            return True
        if origin.rstrip("/").lower() in self._origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and not parts.path and self.has_host(parts.netloc)


def _told(host: str) -> tuple[str, str]:
    found = _HOST.fullmatch(host)
    if found is None:
        raise ValueError(f"{host!r} is no host name")
    return found[1].lower(), (found[2] or "").replace("*", "")


def served_hosts(bind: str, allowed: Iterable[str]) -> tuple[str, ...]:
    """What is answered to: what is allowed, and this machine's own names where nobody else can reach us."""
    return (*allowed, *LOOPBACK_NAMES) if is_loopback(bind) else tuple(allowed)
