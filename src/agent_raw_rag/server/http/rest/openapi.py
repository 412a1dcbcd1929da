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
from agent_raw_rag.server.http.rest.operation import Form, Operation, Reply, Stream
from agent_raw_rag.server.http.routes import Route

OPENAPI = Door("/openapi.json", ("GET", "HEAD"), needs_token=False, needs_space=False)
_REFERENCES = "#/components/schemas/{model}"
_EVERYWHERE = (400, 401, 403, 404, 421, 503)
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
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "agent-raw-rag", "version": __version__, "license": {"name": "MIT", "identifier": "MIT"}},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }  # fmt: skip


def _operation(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    about = inspect.cleandoc(one.run.__doc__ or "")
    said: dict[str, Any] = {
        "operationId": one.run.__name__, "tags": [one.tag], "summary": about.partition("\n")[0], "description": about,
        "parameters": [*_path_parameters(one), *_query_parameters(one, schemas), _space_header()],
        "responses": {"200": _answer(one, schemas), **{str(status): _refusal() for status in {*_EVERYWHERE, *one.errors}}},
        "x-scope": one.scope,
    }  # fmt: skip
    if one.body is not None:
        schema = _schema(one.body, schemas, "validation")
        said["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return said


def _path_parameters(one: Operation) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", one.path)
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}} for name in names
    ]


def _query_parameters(one: Operation, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    if one.query is None:
        return []
    whole = TypeAdapter(one.query).json_schema(mode="validation", ref_template=_REFERENCES)
    schemas.update(whole.pop("$defs", {}))
    needed = whole.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": schema}
        for name, schema in whole["properties"].items()
    ]


def _space_header() -> dict[str, Any]:
    about = "The space; without it the token's own."
    return {
        "name": SPACE_HEADERS[0],
        "in": "header",
        "required": False,
        "description": about,
        "schema": {"type": "string"},
    }


def _answer(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    if one.answer is Reply:
        return {"description": "The file.", "content": {"*/*": {}}}
    if isinstance(one.answer, type) and issubclass(one.answer, Stream):
        about = inspect.cleandoc(one.answer.__doc__ or "")
        return {"description": about, "content": {"text/event-stream": {"schema": {"type": "string"}}}}
    schema = _schema(one.answer, schemas, "serialization")
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}


def _refusal() -> dict[str, Any]:
    reference = {"$ref": _REFERENCES.format(model="Error")}
    return {"description": "Refused.", "content": {"application/json": {"schema": reference}}}


def _schema(kind: type[Form] | Any, schemas: dict[str, Any], mode: JsonSchemaMode) -> dict[str, Any]:
    """The schema of a type; what it is made of goes into ``schemas``."""
    found = TypeAdapter(kind).json_schema(mode=mode, ref_template=_REFERENCES)
    schemas.update(found.pop("$defs", {}))
    return found
