"""A chunked body, in whatever pieces it comes, -> its bytes. Pure.

All chunks of a piece at once, since an event stream has one for each token: what is done for each of them is what a relay costs.
"""

from __future__ import annotations

LONGEST_LINE = 4096
MOST_TRAILERS = 65_536
_HEX = frozenset(b"0123456789abcdefABCDEF")


class ChunkedBody:
    """Reads one body."""

    def __init__(self) -> None:
        self._rest = b""
        self._need = 0
        """Bytes to come of the chunk that is read, with the two that end it."""
        self._trailing: int | None = None
        self.ended = False
        """The last chunk came, and the lines after it."""
        self.over = b""
        """What came after the end."""

    def feed(self, piece: bytes) -> bytes:
        """The body's bytes in the next piece. Raises ValueError: that is no chunked body."""
        data = self._rest + piece if self._rest else piece
        self._rest = b""
        found: list[bytes] = []
        at, size = 0, len(data)
        while at < size and not self.ended:
            if self._need:
                at = self._chunk(data, at, size, found)
                if at < 0:
                    break
                continue
            end = data.find(b"\r\n", at)
            if end < 0:
                if size - at > LONGEST_LINE:
                    raise ValueError("a chunk's line has no end")
                self._rest = data[at:]
                break
            self._line(data[at:end])
            at = end + 2
        if self.ended:
            self.over += data[at:]
        return b"".join(found)

    def _chunk(self, data: bytes, at: int, size: int, found: list[bytes]) -> int:
        """Take what there is of a chunk; where it goes on, or -1: with the next piece."""
        need = self._need
        if size - at >= need:
            end = at + need - 2
            if data[end : at + need] != b"\r\n":
                raise ValueError("a chunk is longer than it says")
            found.append(data[at:end])
            self._need = 0
            return at + need
        there = min(size - at, need - 2)
        if there > 0:
            found.append(data[at : at + there])
            self._need = need - there
        self._rest = data[at + max(there, 0) :]  # the first of the two that end it
        return -1

    def _line(self, line: bytes) -> None:
        if self._trailing is not None:
            self._trailing += len(line) + 2
            if self._trailing > MOST_TRAILERS:
                raise ValueError("the lines after the last chunk have no end")
            self.ended = not line
            return
        digits = line.partition(b";")[0].strip(b" \t")
        if not 0 < len(digits) <= 15 or not _HEX.issuperset(digits):
            raise ValueError("a chunk does not say its size")
        length = int(digits, 16)
        if length:
            self._need = length + 2
        else:
            self._trailing = 0
