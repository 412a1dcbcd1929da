"""The guard: one ASGI middleware before every route of the application, whatever is behind it.

In this order, and no answer says more than the step it failed at: Host (421), Origin (403), token (401), path (404, 405),
space (404), scope (403), form of the body (400, 413). What comes after is the schema, and its tool's business.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

import anyio

from agent_raw_rag.log import NAME
from agent_raw_rag.memory.admission import Admission, Bearer
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.runtime import expected
from agent_raw_rag.server.http import refusals
from agent_raw_rag.server.http.doors import NOWHERE, Door, Doors
from agent_raw_rag.server.http.headers import guarded
from agent_raw_rag.server.http.names import Names
from agent_raw_rag.server.http.quiet import frames
from agent_raw_rag.server.http.refusals import Refused
from agent_raw_rag.server.http.visit import KEY, Visit, headers_of, named_space, shown_secret
from agent_raw_rag.store.homes import DEFAULT_SPACE
from agent_raw_rag.store.tokens import LOGIN

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_SECONDS = 30.0
"""How long a body may take to arrive."""
_log = logging.getLogger(NAME)


class Witness(Protocol):
    """Who is told of denials and of uses. Never blocks."""

    def denied(self, actor: Actor, space: str, reason: str, target: str | None, now: Millis) -> None:
        """A request was refused to somebody."""
        ...

    def used(self, number: int, now: Millis) -> None:
        """A token was used."""
        ...


class Guard:
    """The middleware."""

    def __init__(
        self, app: App, *, doors: Doors, names: Names, admission: Admission, witness: Witness, body_limit: int,
        clock: Callable[[], Millis] = lambda: time.time_ns() // 1_000_000,
    ) -> None:  # fmt: skip
        self._app = app
        self._doors = doors
        self._names = names
        self._admission = admission
        self._witness = witness
        self._limit = body_limit
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        visit = scope[KEY]
        answer = _Answer(send)
        try:
            door = self._let_in(scope, visit)
            inner = await self._with_body(scope, receive, door) if door.body != "none" else receive
            await self._app(scope, inner, answer)
        except _Gone:
            return
        except Refused as refused:
            await answer.refuse(_worded(refused, visit))
        except Exception as error:
            await answer.refuse(_worded(_failed(error, visit), visit))

    def _let_in(self, scope: Scope, visit: Visit) -> Door:
        headers, match = headers_of(scope), self._doors.at(scope["raw_path"], scope["method"])
        door = match.door
        visit.match, visit.path = match, door.path
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not self._names.has_host(hosts[0]):
            raise refusals.wrong_host()
        if not all(self._names.has_origin(origin) for origin in origins):
            raise refusals.wrong_origin()
        open_to_all = not door.needs_token and scope["method"] in door.methods
        visit.bearer = self._bearer(shown_secret(headers, api_key=door.api_key), door, open_to_all=open_to_all)
        if door is NOWHERE:
            raise refusals.no_path()
        if scope["method"] not in door.methods:
            raise refusals.wrong_method(match.allowed)
        if visit.bearer is not None:
            self._enter(visit, visit.bearer, named_space(headers), door)
        if door.body == "json" and not _is_json(headers):
            raise refusals.no_json()
        return door

    def _bearer(self, secret: str | None, door: Door, *, open_to_all: bool) -> Bearer | None:
        if secret is None and open_to_all:
            return None
        now = self._clock()
        bearer = self._admission.bearer(secret, now) if secret is not None else None
        if bearer is not None and LOGIN in bearer.scopes and door.scope != LOGIN:
            bearer = None  # a one-time code opens nothing else
        if bearer is None:
            self._witness.denied(Actor("unknown", "http"), DEFAULT_SPACE, "unauthorized", None, now)
            raise refusals.used_link() if door.scope == LOGIN else refusals.unauthorized()
        if bearer.number is not None and self._admission.is_use_due(bearer, now):
            self._witness.used(bearer.number, now)
        return bearer

    def _enter(self, visit: Visit, bearer: Bearer, space: str | None, door: Door) -> None:
        if space is None and door.own_space:
            space = self._admission.own_space(bearer)
        if space is not None and self._admission.may_enter(bearer, space):
            visit.space = space
        elif door.needs_space or space is not None:
            self._witness.denied(visit.actor, DEFAULT_SPACE, "no_space", None, self._clock())
            raise refusals.no_space()
        if door.scope is not None and door.scope not in bearer.scopes:
            self._witness.denied(visit.actor, visit.space or DEFAULT_SPACE, "scope", door.scope, self._clock())
            raise Refused(
                403, "forbidden", f"The token lacks the scope {door.scope}.",
                f"`raw-rag token create --scope {door.scope}` makes one that has it.",
            )  # fmt: skip

    async def _with_body(self, scope: Scope, receive: Receive, door: Door) -> Receive:
        """The whole body, read before anything is done with it."""
        limit = door.body_limit or self._limit
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(not value.isdigit() or int(value[:20]) > limit for value in lengths):
            raise refusals.too_large(limit)
        body = bytearray()
        try:
            with anyio.fail_after(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise _Gone
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise refusals.too_large(limit)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise refusals.too_slow() from None
        first: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def replay() -> Message:
            return first.pop() if first else await receive()

        return replay


def _failed(error: Exception, visit: Visit) -> Refused:
    """The answer to what went wrong. Whoever showed no token learns no path of ours."""
    known = expected(error)
    if known is None:
        _log.error("a request to %s failed: %s", visit.path, frames(error))
        return refusals.of_bug(error)
    if visit.bearer is None:
        _log.error("a request to %s failed: %s", visit.path, known)
        return refusals.unavailable()
    return refusals.of_error(known)


def _worded(refused: Refused, visit: Visit) -> Refused:
    """In the form that the clients of the door read."""
    return refusals.as_provider(refused) if visit.match.door.api_key else refused


class _Gone(Exception):  # noqa: N818 - nobody is there to be told
    """Whoever asked has left."""


class _Answer:
    """What is sent, and whether any of it was."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def __call__(self, message: Message) -> None:
        self._begun = True
        await self._send(guarded(message))

    async def refuse(self, refused: Refused) -> None:
        """Answer with a refusal; what has begun cannot be taken back, and ends."""
        if self._begun:
            return
        await refusals.answer(self, refused)


def _is_json(headers: dict[str, list[str]]) -> bool:
    kinds = headers.get("content-type", [])
    return len(kinds) == 1 and kinds[0].partition(";")[0].strip().lower() == "application/json"
