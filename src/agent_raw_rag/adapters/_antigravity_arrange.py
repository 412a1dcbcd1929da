"""Puts what an Antigravity conversation is made of into one order: its folder, then its steps.

From here on there are five kinds of records. ``place``: the folder. ``step``: a line of a transcript. ``row``: a step of the
database. ``prompt``: a row of the prompt history, where there is no transcript. ``artifact``: a document that the agent
wrote. Their bytes are places in this order, as lines need not stand in the order of the steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agent_raw_rag.adapters._antigravity_place import folder_of, usable
from agent_raw_rag.adapters._antigravity_proto import workspace
from agent_raw_rag.adapters._antigravity_text import arguments, metadata_time
from agent_raw_rag.adapters.base import mapping, sequence
from agent_raw_rag.models import Record

Piece = dict[str, Any]

FULL, CLIPPED = "/transcript_full.jsonl", "/transcript.jsonl"
TRANSCRIPTS = (FULL, CLIPPED)
METADATA = ".metadata.json"


def arrange(records: list[Record]) -> list[Record]:
    """The records of one conversation, in order; a step that was written several times as it was last."""
    origin = records[0].origin if records else ""
    pieces = _conversation(records) if "/" in origin else _database(records)
    return [_record(piece, origin) for piece in pieces]


def _record(piece: Piece, origin: str) -> Record:
    start, end = piece.pop("span", (0, 0))
    return Record(piece, start, end, origin)


def _conversation(records: list[Record]) -> Iterator[Piece]:
    steps = [record for record in records if record.origin.endswith(TRANSCRIPTS)]
    around = [record for record in records if not record.origin.endswith(TRANSCRIPTS)]
    if len({record.origin for record in steps}) > 1:
        return  # the full transcript is there, and is a source of its own
    if steps:
        conversation = "".join(steps[0].origin.rpartition("/brain/")[2].split("/")[:1])
        yield {"kind": "place", "cwd": folder_of(conversation, around, _calls(steps))}
    yield from _steps(steps) if steps else _prompts(around)
    yield from _artifacts(around)


def _prompts(around: list[Record]) -> Iterator[Piece]:
    """What the history has, unless there is a database; and which conversation was the last one prompted."""
    if not any(record.origin.endswith(".db") for record in around):
        history = [record.data for record in around if record.origin.endswith("/history.jsonl")]
        newest = history[-1].get("conversationId") if history else None
        yield from ({"kind": "prompt", "data": row, "newest": newest} for row in history)


def _steps(records: list[Record]) -> Iterator[Piece]:
    """By number. Two lines are one step if number, type and source agree; then the later one counts."""
    latest: dict[tuple[object, ...], Record] = {}
    for place, record in enumerate(records):
        data = record.data
        number = _number(data)
        same = (number, str(data.get("type")), str(data.get("source"))) if number is not None else ("", place)
        latest[same] = record
    again: Counter[int] = Counter()
    for record in sorted(latest.values(), key=lambda record: _order(_number(record.data))):
        number = _number(record.data)
        times = 0 if number is None else again[number]
        again.update(() if number is None else (number,))
        twice = record.origin.endswith(CLIPPED)
        span = (record.start, record.end)
        yield {"kind": "step", "number": number, "times": times, "twice": twice, "data": record.data, "span": span}


def _number(data: Piece) -> int | None:
    number = data.get("step_index")
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _order(number: int | None) -> tuple[bool, int]:
    return number is None, number or 0


def _calls(records: list[Record]) -> Iterator[Piece]:
    for record in records:
        for call in sequence(record.data.get("tool_calls")):
            yield mapping(arguments(mapping(call).get("args"), record.origin.endswith(CLIPPED)))


def _database(records: list[Record]) -> Iterator[Piece]:
    if any(record.origin.endswith(TRANSCRIPTS) for record in records):
        return  # a transcript is there, and is a source of its own
    places = (workspace(record.data.get("blob")) for record in records if record.data.get("kind") == "metadata")
    yield {"kind": "place", "cwd": next((place for found in places if (place := usable(found))), None)}
    yield from (record.data for record in records if record.data.get("kind") == "row")


def _artifacts(around: list[Record]) -> Iterator[Piece]:
    """Documents stand behind all steps, whenever they were written, so that their place does not depend on when they are read."""
    metadata = [record for record in around if record.origin.endswith(METADATA)]
    written = {record.origin.removesuffix(METADATA): metadata_time(record.data) for record in metadata}
    for record in sorted(around, key=lambda record: record.origin):
        if record.origin.endswith(".md"):
            name = record.origin.rpartition("/")[2]
            yield {
                "kind": "artifact",
                "name": name,
                "text": record.data.get("text"),
                "time": written.get(record.origin),
            }
