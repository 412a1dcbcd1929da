"""Whether the files of an index are as they were written: tantivy's own checksums, which it does not look at when it reads.

A segment's file ends with a footer (JSON with a CRC-32 of what stands before it), the footer's length and a magic number, both
as little-endian 32-bit numbers (tantivy 0.27, ``directory/footer.rs``). Read block by block: a segment may be a gigabyte.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
"""Of each segment; one with removals has a ``del`` too."""
_MAGIC = 1337
_END = struct.Struct("<II")
_MOST_FOOTER = 50_000
_BLOCK = 1 << 20


def damaged_file(build: Path) -> str | None:
    """The name of the first file of a committed segment that is missing or not as it was written; None: all are sound."""
    try:
        names = list(_segment_files(json.loads((build / "meta.json").read_text("utf-8"))))
    except (OSError, ValueError, KeyError, TypeError):
        return "meta.json"
    return next((name for name in names if not _is_sound(build / name)), None)


def _segment_files(meta: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    for segment in meta["segments"]:
        name = str(segment["segment_id"]).replace("-", "")
        yield from (f"{name}.{part}" for part in PARTS)
        if isinstance(gone := segment["deletes"], dict):
            yield f"{name}.{gone['opstamp']}.del"


def _is_sound(path: Path) -> bool:
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            stream.seek(-_END.size, 2)
            length, magic = _END.unpack(stream.read())
            if magic != _MAGIC or length > _MOST_FOOTER:
                return False
            stream.seek(-_END.size - length, 2)
            told = json.loads(stream.read(length))["crc"]
            stream.seek(0)
            return bool(_checksum(stream, size - _END.size - length) == told)
    except (OSError, ValueError, KeyError, TypeError, struct.error):
        return False


def _checksum(stream: BinaryIO, size: int) -> int:
    found = 0
    while size:
        block = stream.read(min(size, _BLOCK))
        if not block:
            break
        found, size = zlib.crc32(block, found), size - len(block)
    return found
