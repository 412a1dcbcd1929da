"""Handing a request on to an upstream: its answer as it comes, byte for byte. For one event loop.

As with the servers of encoders, proxies and password files of the environment are not looked at: a conversation goes to whom it
was meant for. Redirects are answers like others.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agent_raw_rag.errors import UpstreamError
from agent_raw_rag.gateway.trust import trusted
from agent_raw_rag.gateway.upstream import Headers, Upstream, headers_down, headers_up
from agent_raw_rag.gateway.wire import BrokenError, Wire, connect

IDLE_SECONDS = 4.0
"""An unused connection is kept so long: less than after what most servers close it, just when the next request is on its way."""
_ASKS = re.compile(rb"/(?:chat/completions|completions|messages|messages/count_tokens|embeddings|responses|rerank)/*$")


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

    @property
    def may_come_twice(self) -> bool:
        """Whether it changes nothing for good: it only reads, or asks a model, as all that models say is asked for."""
        return self.method not in ("POST", "PATCH") or _ASKS.search(self.target.partition(b"?")[0]) is not None


class Answer:
    """What comes back."""

    def __init__(self, wire: Wire, upstream: Upstream, method: str, status: int, headers: Headers) -> None:
        self._wire, self._upstream, self._method = wire, upstream, method
        self._sent = headers
        self.status = status
        self.headers = headers_down(headers)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Its body, in the pieces in which it comes. Raises UpstreamError: it broke off."""
        patience = self._upstream.read_seconds
        try:
            async for piece in self._wire.pieces(self._method, self.status, self._sent, patience):
                yield piece
        except (BrokenError, OSError) as error:  # TimeoutError is an OSError
            why = f"nothing came for {patience:g} s" if isinstance(error, TimeoutError) else "the connection ended"
            raise UpstreamError(f"The answer of {self._upstream.name} broke off: {why}.") from None


class Connections:
    """The connections to one upstream."""

    def __init__(self, upstream: Upstream, environment: Mapping[str, str]) -> None:
        """Raises ConfigError: its address is none."""
        self.upstream = upstream
        self._root = upstream.root
        _, _, place = self._root.partition("://")
        host, _, path = place.partition("/")
        self._host, self._path = host.encode(), path.encode()
        self._environment = environment
        self._trusted: ssl.SSLContext | None = None
        self._idle: list[Wire] = []

    @asynccontextmanager
    async def open(self, handed: Handed) -> AsyncIterator[Answer]:
        """Hand a request on. The connection is closed when this is left before the answer's end.

        Raises:
            UpstreamError: nobody answers, or there is no key. No secret is in the message.
        """
        target = b"/" + self._path + handed.target if self._path else handed.target
        headers = self._headers(handed)
        wire = self._kept() or await self._connected()
        try:
            try:
                status, sent = await self._asked(wire, handed, target, headers)
            except _GoneError:
                wire.close()
                wire = await self._connected()
                status, sent = await self._asked(wire, handed, target, headers)
            yield Answer(wire, self.upstream, handed.method, status, sent)
        finally:
            if wire.is_open:
                wire.idle_since = time.monotonic()
                self._idle.append(wire)
            else:
                wire.close()

    def close(self) -> None:
        """Give the connections back."""
        for wire in self._idle:
            wire.close()
        self._idle.clear()

    def _headers(self, handed: Handed) -> Headers:
        one = self.upstream
        headers = [(b"host", self._host), *headers_up(one, handed.headers, one.key(self._environment), handed.token)]
        if handed.body or handed.method in ("POST", "PUT", "PATCH"):
            headers.append((b"content-length", str(len(handed.body)).encode()))
        return headers

    async def _asked(self, wire: Wire, handed: Handed, target: bytes, headers: Headers) -> tuple[int, Headers]:
        try:
            return await wire.ask(handed.method, target, headers, handed.body, self.upstream.read_seconds)
        except (BrokenError, OSError) as error:
            # A server closes what it has kept unused for long enough, maybe just when a request is on its way: it has not
            # read that one. Should it have, and died of it before its first byte, a model is asked twice, which changes
            # nothing. A new connection was not kept, so what it does not answer is never sent again.
            is_gone = wire.idle_since > 0 and isinstance(error, BrokenError) and error.unanswered
            if is_gone and handed.may_come_twice:
                raise _GoneError from None
            raise self._silent(error) from None

    def _kept(self) -> Wire | None:
        """A connection that was used before."""
        oldest = time.monotonic() - IDLE_SECONDS
        while self._idle:
            wire = self._idle.pop()
            if wire.is_open and wire.idle_since > oldest:
                return wire
            wire.close()
        return None

    async def _connected(self) -> Wire:
        """A new one."""
        try:
            if self._root.startswith("https:") and self._trusted is None:
                self._trusted = await asyncio.to_thread(trusted, self._root)
            return await connect(self._root, self._trusted, self.upstream.connect_seconds)
        except OSError as error:
            raise self._silent(error) from None

    def _silent(self, error: Exception) -> UpstreamError:
        if isinstance(error, TimeoutError):
            why = "it is silent"
        else:
            why = str(error) if isinstance(error, BrokenError) else type(error).__name__
        name = self.upstream.name  # and not its address: whoever asks need not know the inside of a network
        return UpstreamError(
            f"The upstream {name} does not answer ({why}).",
            hint=f"Is it running? Its address is proxy.upstreams.{name}.url of the configuration.",
        )


class _GoneError(Exception):
    """A kept connection was closed before it was used again."""
