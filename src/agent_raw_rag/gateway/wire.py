"""One HTTP/1.1 connection to an upstream, for one event loop.

Heads are read and written by h11. Bodies pass in pieces as large as they come, since what a relay costs is its pieces: an event
stream has a chunk for each token, and a parser that makes an event of each of them takes all its time.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import h11

from agent_raw_rag.gateway.chunked_body import ChunkedBody
from agent_raw_rag.gateway.upstream import Headers

MOST_HEAD = 65_536
ENOUGH = 1 << 20
"""Bytes that are held for a reader who is slower than the sender."""
_BODILESS = (204, 304)


class BrokenError(Exception):
    """The other side speaks no HTTP, or its answer broke off."""

    def __init__(self, why: str, *, unanswered: bool = False) -> None:
        """``unanswered``: it ended before any byte of an answer came."""
        super().__init__(why)
        self.unanswered = unanswered


class Wire(asyncio.Protocol):
    """A connection, and the answer that is read from it."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self._pieces: list[bytes] = []
        self._held = 0
        self._heard = False
        self._is_read = True
        self._ended = False
        self._torn = False
        self._news = asyncio.Event()
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD)
        self.is_reusable = True
        """Its last answer came to its end, and another may follow."""
        self.idle_since = 0.0

    # ------------------------------------------------------------ what the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        self._pieces.append(data)
        self._heard = True
        self._held += len(data)
        if self._held >= ENOUGH:
            self.transport.pause_reading()
        self._news.set()

    def eof_received(self) -> bool:
        """No more will come."""
        self._ended = True
        self._news.set()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed."""
        self._ended, self._torn = True, self._torn or exc is not None
        self._news.set()

    # ------------------------------------------------------------ what the relay calls

    @property
    def is_open(self) -> bool:
        """Whether another request may be sent: nothing came that nobody asked for."""
        return self.is_reusable and not self._ended and not self._held and not self.transport.is_closing()

    async def ask(
        self, method: str, target: bytes, headers: Headers, body: bytes, seconds: float
    ) -> tuple[int, Headers]:
        """Send a request. Returns the answer's status and headers.

        Raises:
            BrokenError: the connection broke, or the other side speaks no HTTP.
            TimeoutError: it is silent for so many seconds.
        """
        self.is_reusable = self._heard = False
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD)
        try:
            self.transport.write(self._written(method, target, headers, body))
            answer = await self._head(seconds)  # it may come before the body was read, and the body never be
            self._is_read = not self.transport.get_write_buffer_size()
            return answer
        except TimeoutError:  # an OSError
            raise
        except (h11.ProtocolError, OSError, BrokenError) as error:
            why = str(error) if isinstance(error, BrokenError) else type(error).__name__
            raise BrokenError(why, unanswered=self._ended and not self._heard) from None

    async def pieces(self, method: str, status: int, headers: Headers, seconds: float) -> AsyncIterator[bytes]:
        """The answer's body. Raises as ``ask``."""
        first, _ = self._http.trailing_data
        sent = {name.lower(): value for name, value in headers}
        body = self._body(method, status, sent, first, seconds)
        async for piece in body:
            yield piece
        kept = sent.get(b"connection", b"").lower() != b"close" and self._http.their_http_version == b"1.1"
        self.is_reusable = self.is_reusable and kept and self._is_read

    def close(self) -> None:
        """Close it at once."""
        self.transport.abort()

    # ------------------------------------------------------------ inside

    def _written(self, method: str, target: bytes, headers: Headers, body: bytes) -> bytes:
        """A request in one piece: a second one would be a packet of its own, and wake the server twice."""
        events: list[h11.Request | h11.Data | h11.EndOfMessage] = [
            h11.Request(method=method, target=target, headers=list(headers)),
            *([h11.Data(data=body)] if body else []),
            h11.EndOfMessage(),
        ]
        return b"".join([self._http.send(event) or b"" for event in events])

    async def _head(self, seconds: float) -> tuple[int, Headers]:
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                data = await self._read(seconds)
                self._http.receive_data(data)
                if not data:
                    raise BrokenError("closed")
            elif isinstance(event, h11.Response):
                return event.status_code, list(event.headers)
            elif not isinstance(event, h11.InformationalResponse):
                raise BrokenError("no answer")

    async def _body(
        self, method: str, status: int, sent: dict[bytes, bytes], first: bytes, seconds: float
    ) -> AsyncIterator[bytes]:
        if method == "HEAD" or status in _BODILESS:
            self.is_reusable = not first
        elif b"transfer-encoding" in sent:
            async for piece in self._chunked(first, seconds):
                yield piece
        elif b"content-length" in sent:
            async for piece in self._counted(int(sent[b"content-length"]), first, seconds):
                yield piece
        else:
            if first:
                yield first
            while piece := await self._read(seconds):
                yield piece

    async def _chunked(self, data: bytes, seconds: float) -> AsyncIterator[bytes]:
        chunks = ChunkedBody()
        while True:
            try:
                piece = chunks.feed(data)
            except ValueError as error:
                raise BrokenError(str(error)) from None
            if piece:
                yield piece
            if chunks.ended:
                self.is_reusable = not chunks.over
                return
            data = await self._read(seconds)
            if not data:
                raise BrokenError("closed")

    async def _counted(self, left: int, data: bytes, seconds: float) -> AsyncIterator[bytes]:
        while left:
            if data:
                yield data[:left]
            over = len(data) > left
            left = max(0, left - len(data))
            if not left:
                self.is_reusable = not over
                return
            data = await self._read(seconds)
            if not data:
                raise BrokenError("closed")
        self.is_reusable = not data

    async def _read(self, seconds: float) -> bytes:
        """All that has come; empty: nothing more will."""
        if not self._pieces and not self._ended:
            self._news.clear()
            async with asyncio.timeout(seconds):
                await self._news.wait()
        if not self._pieces and self._torn:
            raise BrokenError("torn")
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        if self._held >= ENOUGH and not self._ended:
            self.transport.resume_reading()
        self._held = 0
        return data


async def connect(root: str, trusted: ssl.SSLContext | None, seconds: float) -> Wire:
    """A connection to a server. ``trusted``: whose certificates are believed; None: it has none.

    Raises:
        OSError: it cannot be reached; an ``ssl.SSLError`` is one.
        TimeoutError: not within so many seconds.
    """
    parts = urlsplit(root)
    port = parts.port or (443 if trusted else 80)
    async with asyncio.timeout(seconds):
        _, wire = await asyncio.get_running_loop().create_connection(
            Wire, parts.hostname or "", port, ssl=trusted, happy_eyeballs_delay=0.25
        )
    return wire
