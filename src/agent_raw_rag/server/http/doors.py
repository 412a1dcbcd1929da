"""The paths that are served, and what each asks of a visitor. What is not in the table asks for a token, and is not there.

The table is the router: a request is matched here, once, and what it asks for is what answers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote_to_bytes

Body = Literal["none", "json", "any"]


@dataclass(frozen=True, slots=True)
class Door:
    """One path and the methods that are alike on it. A slash at its end makes no difference."""

    path: str
    """Segments; ``{name}`` is any one segment, and ``*`` at the end any number of them."""
    methods: tuple[str, ...]
    needs_token: bool = True
    needs_space: bool = True
    own_space: bool = False
    """A request that names no space means its token's own: the only one that it opens, else the default one."""
    scope: str | None = None
    """Of the token; None: each tool behind it has its own."""
    body: Body = "none"
    """What is read before anything else is done; ``none``: nothing is."""
    body_limit: int | None = None
    """Bytes; None: the limit of the settings."""
    api_key: bool = False
    """It is for clients of model servers: the token may come in ``x-api-key``, and refusals have the form that they read."""


@dataclass(frozen=True, slots=True)
class Match:
    """The door of a request."""

    door: Door
    path: Mapping[str, str] = field(default_factory=dict)
    """The segments that its template names, decoded; ``*``: the rest as it was sent."""
    allowed: tuple[str, ...] = ()
    """The methods of the path; its door takes none of them if the request's is missing here."""


MCP_PATH = "/mcp/memory"
HEALTH_PATH = "/health"
HEALTH = Door(HEALTH_PATH, ("GET", "HEAD"), needs_token=False, needs_space=False)
# In stateless mode there is nothing to GET (a stream that never says anything) and nothing to DELETE (no session).
MCP = Door(MCP_PATH, ("POST",), body="json")
NOWHERE = Door("-", (), needs_space=False)


class Doors:
    """All doors of an application."""

    def __init__(self, doors: Iterable[Door]) -> None:
        self._doors = [(door, _segments(door.path.encode())) for door in doors]

    def at(self, path: bytes, method: str) -> Match:
        """The door of a path as it was sent, without its query; ``NOWHERE``: there is none."""
        segments = _segments(path)
        if any(unquote_to_bytes(one) in (b".", b"..") for one in segments):
            return Match(NOWHERE)
        fitting = [(door, found) for door, form in self._doors if (found := _fit(form, segments)) is not None]
        if not fitting:
            return Match(NOWHERE)
        allowed = tuple(dict.fromkeys(one for door, _ in fitting for one in door.methods))
        door, found = next((one for one in fitting if method in one[0].methods), fitting[0])
        return Match(door, found, allowed)


def _segments(path: bytes) -> list[bytes]:
    plain = path[:-1] if path.endswith(b"/") else path
    return plain.split(b"/")


def _fit(form: list[bytes], segments: list[bytes]) -> dict[str, str] | None:
    """What the segments fill in; None: they do not fit."""
    rest = form[-1] == b"*"
    if len(segments) != len(form) and not (rest and len(segments) > len(form)):
        return None
    found: dict[str, str] = {}
    for n, one in enumerate(form):
        if one == b"*" and n == len(form) - 1:
            found["*"] = b"/".join(segments[n:]).decode("latin-1")
        elif one.startswith(b"{") and segments[n]:
            found[one[1:-1].decode()] = unquote_to_bytes(segments[n]).decode("utf-8", "replace")
        elif one != segments[n]:
            return None
    return found
