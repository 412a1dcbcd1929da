"""JSON lines, streamed from a byte offset: complete lines only, of any length, in constant memory.

Split on ``\\n`` alone (never on U+2028 and its kind), in binary. A last line without a line break is a writer in
progress and is left for the next read, unless it is a whole JSON object already: no proper beginning of an object is
one, so nothing can be missing but the line break. Transparent for ``.zst``; offsets are those of the unpacked text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

from agent_raw_rag.models import BadRecord, Record

BLOCK_BYTES = 1 << 20
_SURROGATE = re.compile("[\ud800-\udfff]")
LINE_LIMIT_BYTES = 192 << 20
"""Longer lines are passed over and counted: no dialogue is that long, and one line must not take the machine's memory."""


def read_lines(path: str, offset: int = 0, limit: int = LINE_LIMIT_BYTES) -> Iterator[Record | BadRecord]:
    """Records of the complete lines from ``offset`` on (which must be the start of a line).

    Raises:
        OSError: the file cannot be opened, read or unpacked.
    """
    blocks = _unpacked(path, offset) if path.endswith(".zst") else _plain(path, offset)
    yield from split_records(blocks, offset, limit)


def split_records(
    blocks: Iterator[bytes], offset: int = 0, limit: int = LINE_LIMIT_BYTES
) -> Iterator[Record | BadRecord]:
    """Cut a stream of byte blocks of any size, which begins at ``offset``, into records; lines over ``limit`` bytes are passed
    over."""
    start = offset
    held: list[bytes] = []
    held_bytes = 0
    dropped = 0
    for block in blocks:
        first, *rest = block.split(b"\n")
        held.append(first)
        held_bytes += len(first)
        for piece in rest:
            end = start + dropped + held_bytes + 1
            record = BadRecord("too-long", start, end) if dropped else parse_line(b"".join(held), start, end)
            if record is not None:
                yield record
            start, held, held_bytes, dropped = end, [piece], len(piece), 0
        if dropped + held_bytes > limit:
            held, held_bytes, dropped = [], 0, dropped + held_bytes
    if held_bytes and not dropped:
        last = parse_line(b"".join(held), start, start + held_bytes + 1)
        if isinstance(last, Record):
            yield last


def parse_line(line: bytes, start: int, end: int) -> Record | BadRecord | None:
    """One line as a record; None for a blank one. Leading NULs (left by a crash) and a byte-order mark are passed over."""
    text = line.lstrip(b"\0\xef\xbb\xbf \t\r")
    if not text.strip():
        return None
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _parse_leniently(text, start, end)
    if isinstance(data, dict):
        return Record(data, start, end)
    return BadRecord("not-object", start, end)


def _parse_leniently(text: bytes, start: int, end: int) -> Record | BadRecord:
    """What the strict parser refuses but agents write: invalid UTF-8, lone surrogates, deep nesting."""
    try:
        data = _sound(json.loads(text.decode("utf-8", "replace"), strict=False))
    except RecursionError:
        return BadRecord("too-deep", start, end)
    except ValueError:
        return BadRecord("json", start, end)
    if isinstance(data, dict):
        return Record(data, start, end)
    return BadRecord("not-object", start, end)


def _sound(value: Any) -> Any:
    """A JSON value whose texts can be written: lone surrogates become U+FFFD, in keys too."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_sound(key): _sound(item) for key, item in value.items()}
    return value


def _plain(path: str, offset: int) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        stream.seek(offset)
        while block := stream.read(BLOCK_BYTES):
            yield block


def _unpacked(path: str, offset: int) -> Iterator[bytes]:
    import zstandard

    try:
        with zstandard.open(path, "rb") as stream:
            left = offset
            while block := stream.read(min(left, BLOCK_BYTES) or BLOCK_BYTES):
                if left:
                    left -= len(block)
                else:
                    yield block
    except zstandard.ZstdError as error:
        raise OSError(f"It cannot be unpacked: {error}.") from error
