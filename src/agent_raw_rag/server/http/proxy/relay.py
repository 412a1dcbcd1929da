"""Handing a request on and its answer back, byte for byte and at once; what passes by is put aside for the captor."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import anyio
import anyio.to_thread

from agent_raw_rag.errors import NotFoundError, RawRagError, UpstreamError
from agent_raw_rag.gateway import shapes
from agent_raw_rag.gateway.exchange import session_of
from agent_raw_rag.gateway.forms import ANTHROPIC, OPENAI, Form, form_of_path
from agent_raw_rag.gateway.handing import Answer, Connections, Handed
from agent_raw_rag.gateway.shapes import Asked
from agent_raw_rag.gateway.upstream import chosen
from agent_raw_rag.log import NAME
from agent_raw_rag.server.http import refusals
from agent_raw_rag.server.http.guard import Receive, Scope, Send
from agent_raw_rag.server.http.leaving import until_left
from agent_raw_rag.server.http.proxy.captor import Captor, now
from agent_raw_rag.server.http.proxy.overheard import TOO_MANY, Overheard
from agent_raw_rag.server.http.routes import Ground
from agent_raw_rag.server.http.visit import headers_of, shown_secret, visit_of

AT_ONCE = 64 * 1024
"""Bytes of a request that are read in the event loop; a longer one is read in a thread."""
SESSION_HEADERS = ("x-raw-rag-session", "x-ragger-session")
EVENT_STREAM = "text/event-stream"
Read = TypeVar("Read")
_log = logging.getLogger(NAME)


class Relay:
    """The ASGI application behind ``/v1/*``."""

    def __init__(self, ground: Ground, connections: Mapping[str, Connections], captor: Captor) -> None:
        self._ground = ground
        self._connections = connections
        self._upstreams = [one.upstream for one in connections.values()]
        self._captor = captor
        self._under_way = 0
        self._idle = anyio.Event()

    async def idle(self) -> None:
        """Return when nothing is under way."""
        if self._under_way:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and its answer back; stop when whoever asked is gone."""
        body = (await receive()).get("body", b"")
        self._under_way += 1
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(until_left, receive, group.cancel_scope)
                await self._answer(scope, body, send)
                group.cancel_scope.cancel()
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    async def _answer(self, scope: Scope, body: bytes, send: Send) -> None:
        headers = headers_of(scope)
        path: str = scope["raw_path"].decode("latin-1").rstrip("/")
        plain = _plain(path)
        form = ANTHROPIC if "anthropic-version" in headers and plain != OPENAI.path else form_of_path(plain)
        try:
            _check(path)
            is_readable = scope["method"] == "POST" and await _in_turn(shapes.is_readable, body)
            asked = await _in_turn(form.asked, body) if is_readable else Asked(shapes.model_in(body))
            named = next(iter(headers.get("x-raw-rag-upstream", [])), None)
            to = self._connections[chosen(self._upstreams, form.name, asked.model, named).name]
            spoken = scope["method"] == "POST" and plain == form.path
            one = self._overheard(scope, headers, form, asked, wanted=spoken and self._captor.stores)
            if one.wanted and not is_readable:
                one.missing = TOO_MANY
            await self._exchange(to, _handed(scope, headers, body), one, send, spoken=spoken)
        except RawRagError as error:
            await refusals.answer(send, refusals.as_provider(refusals.of_error(error)))

    def _overheard(
        self, scope: Scope, headers: dict[str, list[str]], form: Form, asked: Asked, *, wanted: bool
    ) -> Overheard:
        bearer, space = visit_of(scope).admitted()
        told = next((value for name in SESSION_HEADERS for value in headers.get(name, []) if value), None)
        session = session_of(asked, told, bearer.prefix)
        return Overheard(form, asked, session, space, bearer.actor("proxy"), now(), self._captor.budget, wanted)

    async def _exchange(self, to: Connections, handed: Handed, one: Overheard, send: Send, *, spoken: bool) -> None:
        is_answered = False
        try:
            async with to.open(handed) as answer:
                is_answered = True
                await self._pass(answer, one, send, spoken=spoken)
        except UpstreamError as error:
            _log.warning("proxy: %s (%s)", error.message, to.upstream.root)
            raise
        except anyio.get_cancelled_exc_class():
            if spoken and not is_answered:  # whoever asked is gone before an answer: what was asked is kept
                is_answered = True
                self._captor.take(one)
            raise
        finally:
            if not (is_answered and spoken):
                one.drop()

    async def _pass(self, answer: Answer, one: Overheard, send: Send, *, spoken: bool) -> None:
        packed = b",".join(value for name, value in answer.headers if name == b"content-encoding")
        one.encoding = packed.decode("latin-1")
        if not 200 <= answer.status < 300:
            one.refused()
        try:
            own = [(b"x-session-id", one.session.encode("latin-1", "replace")), (b"x-accel-buffering", b"no")]
            await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers + own})
            await self._pass_body(answer, one, send)
        finally:
            if spoken:
                one.said_at = now()
                self._captor.take(one)

    async def _pass_body(self, answer: Answer, one: Overheard, send: Send) -> None:
        try:
            async for piece in answer.pieces():
                one.add(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except UpstreamError as error:
            _log.warning("proxy: %s", error.message)
            if not _is_stream(answer, one):
                return  # what is not complete must not look so: the connection is cut
            told = b"\n\n" + one.form.error_frame(str(error))
            await send({"type": "http.response.body", "body": told})
            return
        one.whole = True
        await send({"type": "http.response.body", "body": b""})


async def _in_turn(read: Callable[[bytes], Read], body: bytes) -> Read:
    return read(body) if len(body) <= AT_ONCE else await anyio.to_thread.run_sync(read, body)


def _plain(path: str) -> str:
    """A path as servers understand it, however it is spelled."""
    return re.sub("/+", "/", unquote_to_bytes(path).decode("latin-1")).rstrip("/")


def _check(path: str) -> None:
    """Some servers decode a path before they take its dots for what they mean. Raises NotFoundError."""
    decoded = unquote_to_bytes(path).replace(b"\\", b"/")
    if b".." in decoded.split(b"/") or b"\0" in decoded:
        raise NotFoundError("Nothing is served under this path.")


def _handed(scope: Scope, headers: dict[str, list[str]], body: bytes) -> Handed:
    query: bytes = scope["query_string"]
    target: bytes = scope["raw_path"] + (b"?" + query if query else b"")
    return Handed(scope["method"], target, scope["headers"], body, shown_secret(headers, api_key=True) or "")


def _is_stream(answer: Answer, one: Overheard) -> bool:
    """Whether a frame may follow: the answer is an event stream, by what was asked and by what came, or as it says."""
    length = any(name == b"content-length" for name, _ in answer.headers)
    kind: Any = next((value for name, value in answer.headers if name == b"content-type"), b"")
    begins = one.begins.lstrip()[:1]
    says = kind.decode("latin-1").lower().startswith(EVENT_STREAM)
    return not length and not one.encoding and begins not in (b"{", b"[") and (says or one.asked.stream)
