"""One request on its way: who asks, in which space, and what is written down of it. It travels in the ASGI scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_raw_rag.memory.admission import Bearer
from agent_raw_rag.models import Actor
from agent_raw_rag.server.http.doors import NOWHERE, Match
from agent_raw_rag.server.http.refusals import SPACE_HEADERS, TOKEN_HEADERS, no_space, unauthorized

KEY = "raw_rag.visit"
TRANSPORT = "http"
MOST_SECRET = 512
"""Characters of a token that are looked at."""


@dataclass(slots=True)
class Visit:
    """A request that is let in step by step."""

    path: str
    """Of the door it came to; ``-`` for none of ours."""
    bearer: Bearer | None = None
    space: str | None = None
    tool: str | None = None
    match: Match = field(default=Match(NOWHERE))
    """The door it came to, and what its path says."""

    def admitted(self) -> tuple[Bearer, str]:
        """Who asks and where. Raises Refused: nobody was let in, so that no answer is given by mistake."""
        bearer = self.known()
        if self.space is None:
            raise no_space()
        return bearer, self.space

    def known(self) -> Bearer:
        """Who asks. Raises Refused: nobody was let in."""
        if self.bearer is None:
            raise unauthorized()
        return self.bearer

    @property
    def actor(self) -> Actor:
        """As the journal names whoever asks."""
        return self.bearer.actor(TRANSPORT) if self.bearer else Actor("unknown", TRANSPORT)


def visit_of(scope: Mapping[str, Any]) -> Visit:
    """The visit of an ASGI scope."""
    found: Visit = scope[KEY]
    return found


def headers_of(scope: Mapping[str, Any]) -> dict[str, list[str]]:
    """Header -> its values, in their order."""
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())
    return found


def shown_secret(headers: Mapping[str, list[str]], *, api_key: bool = False) -> str | None:
    """The token that a request shows; never one of the query. ``api_key``: ``x-api-key`` may hold it too."""
    for name in (*TOKEN_HEADERS, *(("x-api-key",) if api_key else ())):
        for value in headers.get(name, []):
            if value:
                return value[:MOST_SECRET]
    for value in headers.get("authorization", []):
        kind, _, secret = value.partition(" ")
        if kind.lower() == "bearer" and secret.strip():
            return secret.strip()[:MOST_SECRET]
    return None


def named_space(headers: Mapping[str, list[str]]) -> str | None:
    """The space that a request names; None: none. Two at once are no space's name: empty."""
    named = {value for name in SPACE_HEADERS for value in headers.get(name, []) if value}
    return (named.pop() if len(named) == 1 else "") if named else None
