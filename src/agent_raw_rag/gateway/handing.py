"""Handing a request on to an upstream: its answer as it comes, byte for byte. For one event loop.

As with the servers of encoders, proxies and password files of the environment are not looked at: a conversation goes to whom it
was meant for. Redirects are answers like others.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_raw_rag.errors import UpstreamError
from agent_raw_rag.gateway.upstream import Headers, Upstream, headers_down, headers_up

if TYPE_CHECKING:
    import httpx2

IDLE_SECONDS = 4.0
"""An unused connection is kept so long: less than after what most servers close it, just when the next request is on its way."""
IDLE_CONNECTIONS = 64


@dataclass(frozen=True, slots=True)
class Handed:
    """A request as it is handed on."""

    method: str
    target: bytes
    """Path and query as they were sent; begins with ``/v1``."""
    headers: Headers
    body: bytes
    token: str
    """Ours, which the caller showed: it must not go up."""


class Answer:
    """What comes back."""

    def __init__(self, upstream: Upstream, response: httpx2.Response) -> None:
        self._name = upstream.name
        self._response = response
        self.status: int = response.status_code
        self.headers = headers_down(response.headers.raw)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Its body, in the pieces in which it comes. Raises UpstreamError: it broke off."""
        import httpx2

        try:
            async for piece in self._response.stream:
                yield piece
        except (httpx2.TransportError, OSError, ssl.SSLError) as error:
            raise UpstreamError(f"The answer of {self._name} broke off: {type(error).__name__}.") from None


class Link:
    """The connections to one upstream."""

    def __init__(self, upstream: Upstream, environment: Mapping[str, str]) -> None:
        """Raises ConfigError: its address is none."""
        self.upstream = upstream
        self._root = upstream.root
        self._path = self._root.partition("://")[2].partition("/")[2].encode()
        self._environment = environment
        self._transport: httpx2.AsyncHTTPTransport | None = None
        self._opening = asyncio.Lock()

    @asynccontextmanager
    async def open(self, handed: Handed) -> AsyncIterator[Answer]:
        """Hand a request on. The connection is closed when this is left before the answer's end.

        Raises:
            UpstreamError: nobody answers, or there is no key. No secret is in the message.
        """
        import httpx2

        request = self._request(handed)
        try:
            response = await (await self._opened()).handle_async_request(request)
        except (httpx2.TransportError, OSError, ssl.SSLError) as error:
            raise UpstreamError(
                f"{self.upstream.name} does not answer ({type(error).__name__}).",
                hint=f"Is a server running at {self._root}?",
            ) from None
        try:
            yield Answer(self.upstream, response)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Give the connections back."""
        if self._transport is not None:
            await self._transport.aclose()

    def _request(self, handed: Handed) -> httpx2.Request:
        import httpx2

        one = self.upstream
        target = b"/" + self._path + handed.target if self._path else handed.target
        headers = headers_up(one, handed.headers, one.key(self._environment), handed.token)
        patience = {"connect": one.connect_seconds, "read": one.read_seconds, "write": one.read_seconds, "pool": None}
        try:
            url = httpx2.URL(self._root).copy_with(raw_path=target)
        except httpx2.InvalidURL:
            raise UpstreamError("The path cannot be handed on.") from None
        has_body = bool(handed.body) or handed.method in ("POST", "PUT", "PATCH")
        return httpx2.Request(
            handed.method, url, headers=headers, content=handed.body if has_body else None,
            extensions={"timeout": patience},
        )  # fmt: skip

    async def _opened(self) -> httpx2.AsyncHTTPTransport:
        if self._transport is None:
            async with self._opening:
                if self._transport is None:
                    self._transport = await asyncio.to_thread(_transport, self._root.startswith("https:"))
        return self._transport


def _transport(secure: bool) -> httpx2.AsyncHTTPTransport:
    import httpx2

    # Without TLS nothing is trusted: loading the system's certificates takes a while, which the first request would wait for.
    verify: ssl.SSLContext | bool = True if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS, keepalive_expiry=IDLE_SECONDS
    )
    return httpx2.AsyncHTTPTransport(verify=verify, trust_env=False, limits=limits)
