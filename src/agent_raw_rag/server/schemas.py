"""JSON schemas as short as they can be without saying less: what every agent reads in every session. Pure."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def slim_output(schema: Schema) -> Schema:
    """A slim schema without its lists of required keys: answers always have every key, and the server checks that."""
    return _without_required(slim(schema))


def slim(schema: Schema) -> Schema:
    """The same schema without titles, defaults that say nothing, and ``anyOf`` where a list of types says it."""
    short = {key: _slim_value(key, value) for key, value in schema.items() if not _says_nothing(key, value)}
    return _types(short)


def _says_nothing(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or (key, value) in (
        ("default", None),
        ("additionalProperties", True),
    )


def _slim_value(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: slim(one) for name, one in value.items()}
    if isinstance(value, dict):
        return slim(value)
    if isinstance(value, list):
        return [slim(one) if isinstance(one, dict) else one for one in value]
    return value


def _types(schema: Schema) -> Schema:
    """``anyOf: [{type: x, …}, {type: null}]`` -> ``type: [x, null], …``."""
    choices = schema.get("anyOf", [])
    if len(choices) != 2 or choices[1] != {"type": "null"} or not isinstance(choices[0].get("type"), str):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**choices[0], "type": [choices[0]["type"], "null"], **rest}


def _without_required(schema: Schema) -> Schema:
    kept = {key: value for key, value in schema.items() if key != "required"}
    if "$defs" in kept:
        kept["$defs"] = {name: _without_required(one) for name, one in kept["$defs"].items()}
    return kept
