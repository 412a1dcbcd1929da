"""Handing a request on and its answer back, byte for byte and at once; what passes by is put aside for the captor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

import anyio
import anyio.to_thread

from agent_raw_rag.errors import NotFoundError, RawRagError, UpstreamError
from agent_raw_rag.gateway.exchange import session_of
from agent_raw_rag.gateway.forms import ANTHROPIC, OPENAI, Form, form_of_path
from agent_raw_rag.gateway.handing import Answer, Handed, Link
from agent_raw_rag.gateway.shapes import Asked
from agent_raw_rag.gateway.upstream import chosen
from agent_raw_rag.server.http.guard import Receive, Scope, Send
from agent_raw_rag.server.http.leaving import until_left
from agent_raw_rag.server.http.proxy.captor import Captor, now
from agent_raw_rag.server.http.proxy.overheard import Overheard
from agent_raw_rag.server.http.proxy.said import say, worded
from agent_raw_rag.server.http.routes import Ground
from agent_raw_rag.server.http.visit import headers_of, shown_secret, visit_of

AT_ONCE = 64 * 1024
"""Bytes of a request that are read in the event loop; a longer one is read in a thread."""
SESSION_HEADERS = ("x-raw-rag-session", "x-ragger-session")
EVENT_STREAM = "text/event-stream"


class Relay:
    """The ASGI application behind ``/v1/*``."""

    def __init__(self, ground: Ground, links: Mapping[str, Link], captor: Captor) -> None:
        self._ground = ground
        self._links = links
        self._upstreams = [link.upstream for link in links.values()]
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
        form = ANTHROPIC if "anthropic-version" in headers and path != OPENAI.path else form_of_path(path)
        try:
            _check(path)
            asked = await _read(form, body)
            named = next(iter(headers.get("x-raw-rag-upstream", [])), None)
            link = self._links[chosen(self._upstreams, form.name, asked.model, named).name]
            one = self._overheard(scope, headers, form, asked)
            spoken = scope["method"] == "POST" and path == form.path
            async with link.open(_handed(scope, headers, body)) as answer:
                await self._pass(answer, one, send, spoken=spoken)
        except RawRagError as error:
            await say(send, form, error)

    def _overheard(self, scope: Scope, headers: dict[str, list[str]], form: Form, asked: Asked) -> Overheard:
        bearer, space = visit_of(scope).admitted()
        told = next((value for name in SESSION_HEADERS for value in headers.get(name, []) if value), None)
        return Overheard(form, asked, session_of(asked, told, bearer.prefix), space, bearer.actor("proxy"), now())

    async def _pass(self, answer: Answer, one: Overheard, send: Send, *, spoken: bool) -> None:
        packed = b",".join(value for name, value in answer.headers if name == b"content-encoding")
        one.encoding = packed.decode("latin-1")
        one.heard = spoken and 200 <= answer.status < 300
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
                if one.heard:
                    one.add(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except UpstreamError as error:
            if not _is_stream(answer, one):
                return  # what is not complete must not look so: the connection is cut
            told = b"\n\n" + one.form.error_frame(worded(error))
            await send({"type": "http.response.body", "body": told})
            return
        one.whole = True
        await send({"type": "http.response.body", "body": b""})


async def _read(form: Form, body: bytes) -> Asked:
    return form.asked(body) if len(body) <= AT_ONCE else await anyio.to_thread.run_sync(form.asked, body)


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
    begins = b"".join(one.pieces[:1]).lstrip()[:1]
    says = kind.decode("latin-1").lower().startswith(EVENT_STREAM)
    return not length and not one.encoding and begins != b"{" and (says or one.asked.stream)
