"""Puts what an OpenCode session is made of into one order: its facts, then its messages with their parts, then a revert.

The pieces come as rows of three table generations or as JSON files of two layouts; from here on there are four kinds of
records. ``session``: facts under common names. ``message``: one of 1.x, ``info`` and ``parts``. ``row``: one of 2.x, ``type`` and
``info``. ``revert``: the id of the first message taken back. They have no bytes: each is made of several rows or files.
"""

from __future__ import annotations

from typing import Any

import orjson

from agent_raw_rag.adapters.base import mapping, millis, sequence, string
from agent_raw_rag.models import Record

Piece = dict[str, Any]

SUPERSEDES = frozenset({"user", "assistant", "compaction", "idle"})
"""2.x: after a row of these types an unfinished answer before it stays as it is."""


def arrange(records: list[Record]) -> list[Record]:
    """The records of one session, in order, each whole in itself."""
    pieces = [piece for record in records if (piece := _piece(record)) is not None]
    facts = next((piece for piece in pieces if piece["kind"] == "session"), None)
    talk = _talk(pieces)
    _mark_open(talk)
    out = ([facts] if facts else []) + talk
    if facts and facts["revert"]:
        out.append({"kind": "revert", "session": facts["session"], "from": facts["revert"]})
    origin = records[0].origin if records else ""
    return [Record(piece, origin=origin) for piece in out]


# ---------------------------------------------------------------- one piece


def _piece(record: Record) -> Piece | None:
    if record.origin.endswith(".json"):
        return _file(record)
    data = record.data
    match data.get("kind"):
        case "session":
            return _facts(data, data.get("time_created"), data.get("parent_id"))
        case "message" | "row" as kind:
            return _message(data, mapping(data.get("data_json")), kind)
        case "part":
            return _part(mapping(data.get("data_json")), data.get("message_id"), data.get("id"))
    return None


def _file(record: Record) -> Piece | None:
    """A file's kind is its folder's name, its own name is the id inside it."""
    data = record.data
    place = record.origin.rpartition("storage/")[2].removesuffix(".json").split("/")
    kind = place[1] if place[0] == "session" and place[1:2] in (["info"], ["message"], ["part"]) else place[0]
    if kind == "message":
        return _message({"id": data.get("id") or place[-1], "session_id": data.get("sessionID")}, data, kind)
    if kind == "part":
        return _part(data, data.get("messageID") or "".join(place[-2:-1]), place[-1])
    if kind in ("session", "info"):
        return _facts(data, mapping(data.get("time")).get("created"), data.get("parentID"))
    return None


def _facts(data: Piece, created: object, parent: object) -> Piece:
    return {
        "kind": "session",
        "session": string(data.get("id")),
        "parent": string(parent),
        "fork": string(data.get("fork_session_id")),
        "cwd": string(data.get("directory")),
        "title": string(data.get("title")),
        "version": string(data.get("version")),
        "started": millis(created),
        "revert": string(_object(data.get("revert")).get("messageID")),
    }


def _message(row: Piece, info: Piece, kind: str) -> Piece:
    time = millis(mapping(info.get("time")).get("created"))
    return {
        "kind": kind,
        "id": str(row.get("id") or ""),
        "session": string(row.get("session_id")),
        "type": string(row.get("type") if kind == "row" else info.get("role")),
        "time": time if time is not None else millis(row.get("time_created")),
        "info": info,
        "parts": [*sequence(info.get("parts"))] if kind == "message" else [],
        "open": False,
    }


def _part(data: Piece, message: object, number: object) -> Piece:
    return {"kind": "part", "message": str(message or ""), "order": str(number or ""), "data": data}


def _object(value: object) -> Piece:
    """A JSON object, written out or not."""
    if not isinstance(value, str):
        return mapping(value)
    try:
        return mapping(orjson.loads(value))
    except orjson.JSONDecodeError:
        return {}


# ---------------------------------------------------------------- their order


def _talk(pieces: list[Piece]) -> list[Piece]:
    messages = {piece["id"]: piece for piece in pieces if piece["kind"] == "message"}
    for part in sorted((piece for piece in pieces if piece["kind"] == "part"), key=lambda part: str(part["order"])):
        if part["message"] in messages:
            messages[part["message"]]["parts"].append(part["data"])
    old = sorted(messages.values(), key=lambda message: (message["time"] or 0, message["id"]))
    return _woven([piece for piece in pieces if piece["kind"] == "row"], old)


def _woven(rows: list[Piece], messages: list[Piece]) -> list[Piece]:
    """New rows in their order, and each old message before the first new row that is later."""
    woven: list[Piece] = []
    waiting = iter([*messages, None])
    message = next(waiting)
    for row in rows:
        while message is not None and (message["time"] or 0) < (row["time"] or 0):
            woven.append(message)
            message = next(waiting)
        woven.append(row)
    return woven + ([message] if message else []) + [rest for rest in waiting if rest]


def _mark_open(talk: list[Piece]) -> None:
    """The last message is open if it is an answer without an end: it may still grow."""
    last = next((piece for piece in reversed(talk) if _supersedes(piece)), None)
    if last is not None and last["type"] == "assistant":
        info = last["info"]
        last["open"] = mapping(info.get("time")).get("completed") is None and not info.get("error")


def _supersedes(piece: Piece) -> bool:
    return piece["kind"] == "message" or piece["type"] in SUPERSEDES
