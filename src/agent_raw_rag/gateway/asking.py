"""Asking a server of generation models: messages -> words, as they come.

Environment variables and ``.netrc`` are not looked at, and redirects are not followed: what is asked reaches the server that was
configured, and so does its key. Whoever asks may be cancelled at any time; the connection is closed then.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from agent_raw_rag.errors import UpstreamError, UpstreamTimeoutError
from agent_raw_rag.gateway.anthropic import VERSION
from agent_raw_rag.gateway.forms import FORMS, Form
from agent_raw_rag.gateway.frames import Frames
from agent_raw_rag.gateway.shapes import Hearing, Message, Request, error_of, mapping, parsed, sequence, string
from agent_raw_rag.gateway.trust import trusted
from agent_raw_rag.gateway.upstream import Upstream, key_headers
from agent_raw_rag.search.fence import one_line

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 64 * 1024 * 1024
"""Of one answer."""
MOST_ERROR_BYTES = 64 * 1024
LONGEST_MESSAGE = 400
"""Characters of a server's own words about what went wrong."""
MODELS_SECONDS = 10.0
_HINTS = {
    401: "Check the key: llm.key_variable names the environment variable that holds it.",
    403: "Check the key: llm.key_variable names the environment variable that holds it.",
    404: "Check llm.url and the name of the model.",
    429: "The server is busy, or a limit is reached. Ask again later.",
}
OnWords = Callable[[str], Awaitable[None]]
OnAccepted = Callable[[], Awaitable[None]]


async def nothing() -> None:
    """Of who does not want to know."""


class Watching(Protocol):
    """Sees what goes over the wire, keys masked. Called from the thread of the event loop."""

    def request(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """A request is being sent. Returns its number."""
        ...

    def response(self, number: int, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """What of its answer came."""
        ...


@dataclass(frozen=True)
class Server:
    """A server, and how it is asked."""

    upstream: Upstream
    model: str
    """Asked where nobody names another."""
    environment: Mapping[str, str]
    """Where its key stands."""
    max_tokens: int
    watching: Watching | None = None

    @cached_property
    def root(self) -> str:
        """Its address without ``/v1``. Raises ConfigError."""
        return self.upstream.root

    def headers(self, key: str) -> dict[str, str]:
        """Of a request with this key."""
        kind = {"content-type": "application/json", "accept": "text/event-stream, application/json"}
        version = {"anthropic-version": VERSION} if self.upstream.form == "anthropic" else {}
        return {**kind, **version, **key_headers(self.upstream.form, key)}

    def masked(self, text: str) -> str:
        """A text without the key."""
        key = self.environment.get(self.upstream.key_variable, "").strip()
        return text.replace(key, "***") if key else text


class Asking:
    """Asks one server. Safe to use from several threads and event loops: each question opens a connection of its own."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._form: Form = FORMS[server.upstream.form]

    def hearing(self) -> Hearing:
        """Who listens to one answer, to be given to ``ask``."""
        return self._form.hearing()

    async def ask(
        self,
        model: str,
        messages: Sequence[Message],
        hearing: Hearing,
        on_words: OnWords,
        on_accepted: OnAccepted = nothing,
    ) -> None:
        """Ask for the next message. What comes is in ``hearing``, also where this raises or is cancelled.

        ``on_accepted`` is called once, when the server takes the question and before its first words.

        Raises:
            UpstreamError: the server is not there, refuses, or fails; UpstreamTimeoutError: it cannot be connected to in time.
            ConfigError: its address is none.
        """
        request = self._form.request(model, messages, max_tokens=self.server.max_tokens, stream=True)
        async with _Round(self.server, request) as exchange:
            response = exchange.response
            if not response.is_success:
                raise self._refused(response.status_code, await exchange.body(MOST_ERROR_BYTES))
            await on_accepted()
            if "event-stream" in response.headers.get("content-type", ""):
                await _listen(exchange, hearing, on_words)
            else:
                hearing.whole(await exchange.body(MOST_BYTES))
                if words := hearing.said.words:
                    await on_words(words)
        if error := hearing.said.error:
            raise UpstreamError(f"{self.server.root} failed: {self._shown(error)}")

    async def models(self) -> list[str]:
        """The models that the server offers, in its order.

        Raises:
            UpstreamError, ConfigError: as ``ask``.
        """
        import anyio

        body = b""
        with anyio.move_on_after(MODELS_SECONDS) as scope:
            async with _Round(self.server, Request("/v1/models", b"")) as exchange:
                body = await exchange.body(MOST_BYTES)
                if not exchange.response.is_success:
                    raise self._refused(exchange.response.status_code, body[:MOST_ERROR_BYTES])
        if scope.cancelled_caught:
            raise UpstreamTimeoutError(f"{self.server.root} did not list its models within {MODELS_SECONDS:g} s.")
        found = (string(mapping(one).get("id")) for one in sequence(mapping(parsed(body)).get("data")))
        return [one_line(name) for name in found if name]

    def _refused(self, status: int, body: bytes) -> UpstreamError:
        told = mapping(parsed(body))
        why = error_of(told.get("error")) or string(told.get("message")) or string(told.get("detail"))
        said = f": {self._shown(why)}" if why else ""
        return UpstreamError(f"{self.server.root} answered {status}{said}.", hint=_HINTS.get(status, ""))

    def _shown(self, words: str) -> str:
        return one_line(self.server.masked(words), LONGEST_MESSAGE).rstrip(".")


async def _listen(exchange: _Round, hearing: Hearing, on_words: OnWords) -> None:
    frames = Frames()
    async with aclosing(exchange.pieces(MOST_BYTES)) as pieces:
        async for piece in pieces:
            for frame in frames.feed(piece):
                if words := hearing.frame(frame):
                    await on_words(words)
    for frame in frames.end():
        if words := hearing.frame(frame):
            await on_words(words)
    if frames.lost:
        raise UpstreamError(f"Some of the answer of {exchange.server.root} is missing: frames of it were too long.")


class _Round:
    """One request and its answer, which is read in pieces."""

    def __init__(self, server: Server, request: Request) -> None:
        self.server = server
        self._request = request
        self._number = 0
        self._read = bytearray()
        self.response: httpx2.Response

    async def __aenter__(self) -> _Round:
        import anyio.to_thread

        server, body = self.server, self._request.body
        url, headers = f"{server.root}{self._request.path}", server.headers(server.upstream.key(server.environment))
        headers["accept-encoding"] = "identity"
        verify = await anyio.to_thread.run_sync(trusted, server.root)
        import httpx2

        timeout = httpx2.Timeout(None, connect=server.upstream.connect_seconds)
        self._client = httpx2.AsyncClient(verify=verify, trust_env=False, follow_redirects=False, timeout=timeout)
        if server.watching:
            masked = {name: server.masked(value) for name, value in headers.items()}
            self._number = server.watching.request(url, masked, body)
        try:
            with failures(server):
                request = self._client.build_request(
                    "POST" if body else "GET", url, headers=headers, content=body or None
                )
                self.response = await self._client.send(request, stream=True)
        except BaseException:
            await self._client.aclose()
            raise
        return self

    async def __aexit__(self, *raised: object) -> None:
        import anyio

        with anyio.CancelScope(shield=True):
            await self.response.aclose()
            await self._client.aclose()
        if self.server.watching:
            kept = self.server.masked(self._read.decode("utf-8", "replace")).encode()
            headers = {name: self.server.masked(value) for name, value in self.response.headers.items()}
            self.server.watching.response(self._number, self.response.status_code, headers, kept)

    async def pieces(self, most: int) -> AsyncGenerator[bytes, None]:
        """The body as it comes. Raises UpstreamError: it breaks off, or is longer than anybody reads."""
        size = 0
        with failures(self.server):
            async for piece in self.response.aiter_bytes():
                size += len(piece)
                if size > most:
                    raise UpstreamError(f"{self.server.root} does not come to an end: {most:,} bytes were read.")
                if self.server.watching:
                    self._read += piece
                yield piece

    async def body(self, most: int) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self.pieces(most)])


@contextmanager
def failures(server: Server) -> Iterator[None]:
    """What the library raises becomes ours."""
    import httpx2

    try:
        yield
    except httpx2.TimeoutException:
        raise UpstreamTimeoutError(
            f"{server.root} could not be connected to within {server.upstream.connect_seconds:g} s.",
            hint="Is it running?",
        ) from None
    except httpx2.ConnectError as error:
        raise UpstreamError(
            f"{server.root} cannot be reached: {_reason(error)}.", hint="Is it running? llm.url names it."
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise UpstreamError(f"{server.root} broke off: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    return one_line(str(error) or type(error).__name__, LONGEST_MESSAGE).rstrip(".")
