"""``GET /openapi.json``: the operations as an OpenAPI 3.1 document."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from starlette.responses import Response

from agent_raw_rag import __version__
from agent_raw_rag.server.http.doors import Door
from agent_raw_rag.server.http.guard import Receive, Scope, Send
from agent_raw_rag.server.http.refusals import SPACE_HEADERS, rendered
from agent_raw_rag.server.http.rest.operation import Form, Operation, Reply
from agent_raw_rag.server.http.routes import Route
from agent_raw_rag.server.whole_objects import WholeObjects

OPENAPI = Door("/openapi.json", ("GET", "HEAD"), needs_token=False, needs_space=False)
_REFERENCES = "#/components/schemas/{model}"
_EVERYWHERE = (400, 401, 403, 404, 421, 503)
_OF_BODIES = (408, 413)
_ABOUT = """\
The memory of `raw-rag serve` over HTTP. Every request but those to `/health` and `/openapi.json` shows a token, as
`Authorization: Bearer …`, and works in one space: the one that `X-Raw-Rag-Space` names, else the token's own. Bodies are
JSON with `Content-Type: application/json`. Times are ISO 8601 in UTC, ids are strings. Every refusal has one form: `error` and
`code` (the same word), `message`, `hint`. A list that goes on has a `next`, to be passed as `cursor` with the same filters.

Two more doors are served beside these operations, each with a protocol of its own: `/mcp/memory` speaks MCP over streamable
HTTP, and `/v1/*` is passed on to the configured model servers, byte by byte, and remembered; it asks for the scope `proxy`."""
_REASONS = {
    400: "The request was not understood; `message` says what is wrong.", 401: "No token, or one that is not live.",
    403: "The token does not allow this, or a page of another origin asks.", 404: "There is no such thing, or no such space.",
    408: "The body did not arrive in time.", 409: "It contradicts what is there.", 413: "The body is too large.",
    421: "The Host is not one of this server's.", 502: "The model server failed.", 503: "The store or a model is not usable now.",
    504: "The model server did not answer in time.",
}  # fmt: skip
_ERROR = {
    "type": "object", "required": ["error", "code", "message", "hint"], "additionalProperties": False,
    "properties": {name: {"type": "string"} for name in ("error", "code", "message", "hint")},
}  # fmt: skip


def openapi_route(operations: Iterable[Operation]) -> Route:
    """The route that serves the document."""
    content = rendered(document(operations))

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(content, media_type="application/json")(scope, receive, send)

    return Route(OPENAPI, answer)


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The OpenAPI document of some operations."""
    schemas: dict[str, Any] = {"Error": _ERROR}
    paths: dict[str, dict[str, Any]] = dict(_unguarded())
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "agent-raw-rag", "version": __version__, "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }  # fmt: skip


def _operation(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    about = inspect.cleandoc(one.run.__doc__ or "")
    refusals = {*_EVERYWHERE, *one.errors, *(_OF_BODIES if one.body else ())}
    said: dict[str, Any] = {
        "operationId": one.run.__name__, "tags": [one.tag], "summary": about.partition("\n")[0], "description": about,
        "parameters": [*_path_parameters(one), *_query_parameters(one, schemas), _space_header()],
        "responses": {"200": _answer(one, schemas), **_refusals(refusals)},
        "x-scope": one.scope,
    }  # fmt: skip
    if one.body is not None:
        schema = _schema(one.body, schemas, "validation")
        said["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return said


def _unguarded() -> dict[str, dict[str, Any]]:
    """The two paths that ask for no token."""
    alive = {
        "type": "object", "required": ["status", "version"],
        "properties": {
            "status": {"const": "ok"}, "version": {"type": "string"},
            "spaces": {"type": "object", "description": "Counts of each space that the token may read."},
        },
    }  # fmt: skip
    told: dict[str, tuple[str, dict[str, Any]]] = {
        "health": ("Whether it serves; counts, to whoever may read.", alive),
        "openapi.json": ("This document.", {"type": "object"}),
    }
    return {
        f"/{name}": {"get": _plain(name.partition(".")[0], about, schema)} for name, (about, schema) in told.items()
    }


def _plain(name: str, about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": name, "tags": ["server"], "summary": about, "security": [{}, {"token": []}],
        "responses": {"200": _json("Done.", schema), **_refusals({401, 403, 404, 421})},
    }  # fmt: skip


def _path_parameters(one: Operation) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", one.path)
    schema = {"type": "string", "minLength": 1}
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name in names]


def _query_parameters(one: Operation, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    if one.query is None:
        return []
    whole = TypeAdapter(one.query).json_schema(mode="validation", ref_template=_REFERENCES)
    _add(whole.pop("$defs", {}), schemas)
    needed = whole.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": schema}
        for name, schema in whole["properties"].items()
    ]


def _space_header() -> dict[str, Any]:
    about = "The space; without it the token's own."
    schema = {"type": "string"}
    return {"name": SPACE_HEADERS[0], "in": "header", "required": False, "description": about, "schema": schema}


def _answer(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    if one.answer is Reply:
        return {"description": "Done.", "content": {media: {} for media in one.media}}
    return _json("Done.", _schema(one.answer, schemas, "serialization"))


def _refusals(statuses: Iterable[int]) -> dict[str, Any]:
    schema = {"$ref": _REFERENCES.format(model="Error")}
    return {str(status): _json(_REASONS.get(status, "Refused."), schema) for status in sorted(statuses)}


def _json(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _schema(kind: type[Form] | Any, schemas: dict[str, Any], mode: JsonSchemaMode) -> dict[str, Any]:
    """The schema of a type; what it is made of goes into ``schemas``."""
    found = TypeAdapter(kind).json_schema(mode=mode, ref_template=_REFERENCES, schema_generator=WholeObjects)
    _add(found.pop("$defs", {}), schemas)
    return found


def _add(more: dict[str, Any], schemas: dict[str, Any]) -> None:
    for name, schema in more.items():
        assert schemas.setdefault(name, schema) == schema, f"two types of the name {name}"
