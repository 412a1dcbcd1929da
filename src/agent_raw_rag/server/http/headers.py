"""What every answer says to browsers: show it as what it is said to be, run nothing, tell nobody, keep no copy."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The policy of what is no page."""
_EVERYWHERE = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", NOTHING.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


def guarded(message: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """An ASGI message; the start of an answer has each of the headers, its own where it has one."""
    if message["type"] == "http.response.start":
        headers = list(message.get("headers", ()))
        said = {name.lower() for name, _ in headers}
        message["headers"] = [*headers, *(one for one in _EVERYWHERE if one[0] not in said)]
    return message
