"""The bytes of an event stream, in whatever pieces they come, -> its frames. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LONGEST = 8 * 1024 * 1024
"""Bytes of one frame: a longer one is lost, and counted."""
_END_OF_LINE = re.compile(rb"\r\n|\n|\r")
_BLANKS = re.compile(rb"(\r\n|\n)\1{2,}")
"""Ends of lines of which all but two end nothing."""
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream."""

    data: str
    event: str = "message"


class Frames:
    """Reads one stream. However its bytes are cut, its frames are the same. Never raises, whatever the bytes are."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._line = bytearray()
        self._too_long = False
        self._after_cr = False
        self._first = True
        self._data: list[bytes] = []
        self._size = 0
        self._event = b""
        self.lost = 0
        """Frames that were too long."""

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """The frames that end in this piece. To be walked through before the next piece is given."""
        if not piece:
            return
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
        self._after_cr = piece.endswith(b"\r")
        piece = _BLANKS.sub(rb"\1\1", piece)
        *ended, rest = _END_OF_LINE.split(piece)
        for line in ended:
            self._grow(line)
            yield from self._ended()
        self._grow(rest)

    def end(self) -> Iterator[Frame]:
        """The stream has ended: its last frame, where the blank line after it is missing."""
        if self._line or self._too_long:
            yield from self._ended()
        yield from self._frame()

    def _grow(self, part: bytes) -> None:
        if self._too_long or len(self._line) + len(part) > self._longest:
            self._too_long = True
            self._line.clear()
        else:
            self._line += part

    def _ended(self) -> Iterator[Frame]:
        line, too_long = bytes(self._line), self._too_long
        self._line.clear()
        self._too_long = False
        if self._first:
            line, self._first = line.removeprefix(_MARK), False
        if not line and not too_long:
            yield from self._frame()
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if too_long or name == b"data":
            self._add(value, len(value) + 1 if not too_long else self._longest + 1)
        elif name == b"event":
            self._event = value

    def _add(self, value: bytes, size: int) -> None:
        self._size += size
        if self._size > self._longest:
            self._data = []
        else:
            self._data.append(value)

    def _frame(self) -> Iterator[Frame]:
        size, data, event = self._size, self._data, self._event
        self._size, self._data, self._event = 0, [], b""
        if size > self._longest:
            self.lost += 1
        elif data:
            yield Frame(_text(b"\n".join(data)), _text(event) or "message")


def frames_of(pieces: Iterable[bytes]) -> Iterator[Frame]:
    """All frames of a stream."""
    reader = Frames()
    for piece in pieces:
        yield from reader.feed(piece)
    yield from reader.end()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
