"""A request -> the call of its operation -> its answer as JSON."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import anyio.to_thread
from pydantic import BaseModel, ValidationError
from starlette.responses import Response, StreamingResponse

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.server.http.guard import App, Receive, Scope, Send
from agent_raw_rag.server.http.refusals import rendered
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation, Reply
from agent_raw_rag.server.http.routes import Ground, Route
from agent_raw_rag.server.http.visit import visit_of

MOST_QUERY = 20_000
"""Bytes of a query string."""


def route_of(operation: Operation, ground: Ground) -> Route:
    """The route of an operation."""
    return Route(operation.door, operation.app(ground) if operation.app else _app(operation, ground))


def _app(operation: Operation, ground: Ground) -> App:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(operation.body, receive)
        call = _call(operation, ground, scope, body)
        try:
            said = await anyio.to_thread.run_sync(operation.run, call)
        finally:
            if operation.method != "GET" if operation.writes is None else operation.writes:
                ground.wrote()
        await _response(said)(scope, receive, send)

    return answer


def _call(operation: Operation, ground: Ground, scope: Scope, body: BaseModel | None) -> Call:
    visit = visit_of(scope)
    bearer, space = visit.admitted() if operation.needs_space else (visit.known(), visit.space or "")
    query = query_of(operation.query, scope["query_string"])
    runtime = ground.runtime.in_space(space) if space else ground.runtime
    return Call(ground, runtime, bearer, visit.actor, space, visit.match.path, query, body)


async def body_of(form: type[Form] | None, receive: Receive) -> BaseModel | None:
    """What a request's body says. The guard has read it: it comes whole. Raises BadArgumentError: it is of another form."""
    if form is None:
        return None
    content = (await receive()).get("body", b"")
    try:
        return form.model_validate_json(content)
    except ValidationError as error:
        raise _not_understood("The body", error, form) from None


def query_of(form: type[Form] | None, sent: bytes) -> BaseModel | None:
    """What a request's query says. Raises BadArgumentError: it is of another form; a key that there is none of."""
    if len(sent) > MOST_QUERY:
        raise BadArgumentError("The query is too long.", hint=f"At most {MOST_QUERY:,} bytes.")
    pairs = parse_qsl(sent.decode("latin-1"), keep_blank_values=True, errors="replace")
    if form is None:
        if pairs:
            raise BadArgumentError(f"The query has the unknown key {pairs[0][0][:40]!r}.", hint="It takes none.")
        return None
    said: dict[str, Any] = {}
    for name, value in pairs:
        if name in said:
            raise BadArgumentError(f"The query says {name[:40]!r} twice.")
        said[name] = value
    try:
        return form.model_validate_strings(said)
    except ValidationError as error:
        raise _not_understood("The query", error, form) from None


def _not_understood(what: str, error: ValidationError, form: type[Form]) -> BadArgumentError:
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part)[:40] for part in first["loc"])
    keys = ", ".join(field.alias or name for name, field in form.model_fields.items())
    unknown = first["type"] == "extra_forbidden" and len(first["loc"]) == 1
    return BadArgumentError(
        f"{what}: {f'{place}: ' if place else ''}{first['msg'].removeprefix('Value error, ')}.",
        hint=f"Its keys: {keys}." if unknown or first["type"] == "missing" else "",
    )


def _response(said: Any) -> Response:
    if isinstance(said, Reply) and not isinstance(said.content, bytes):
        return StreamingResponse(said.content, media_type=said.media_type, headers=dict(said.headers))
    if isinstance(said, Reply):
        return Response(said.content, media_type=said.media_type, headers=dict(said.headers))
    return Response(rendered(said), media_type="application/json")
