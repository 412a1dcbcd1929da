"""Arrow 5: clean turns -> chunks. Pure: a function of a session's token stream and nothing else.

The stream of a session is its live turns in order, each rendered as ``Speaker: text`` and a line break and encoded on its
own, so that a new turn never changes the tokens before it. Window *i* covers tokens ``[i*step, i*step + size)`` with
``step = size - overlap``; it exists if it holds a token that the window before it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_raw_rag.models import Chunk, CleanText, Role, Tokenizer

SIZE = 256
OVERLAP = 32
_SPEAKER = {role: role.value.capitalize() for role in Role}


@dataclass(frozen=True, slots=True)
class Piece:
    """One turn's stretch of the token stream."""

    ordinal: int
    start_token: int
    tokens: Sequence[int]
    settled: bool


@dataclass(frozen=True, slots=True)
class Windows:
    """How long a window is and how far the next one reaches back into it, in tokens."""

    size: int = SIZE
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise ValueError(f"The overlap ({self.overlap}) must be at least 0 and less than the size ({self.size}).")

    @property
    def step(self) -> int:
        """Tokens from the start of one window to the start of the next."""
        return self.size - self.overlap

    def first_touching(self, token: int) -> int:
        """Index of the first window that ends after ``token``: where cutting begins when that token changes."""
        return max(0, (token - self.size) // self.step + 1)

    def exists(self, index: int, total: int) -> bool:
        """Whether a stream of ``total`` tokens has a window of this index."""
        return total > 0 and (index == 0 or index * self.step + self.overlap < total)


def rendered(role: Role, text: CleanText) -> str:
    """The line that a turn contributes to its session's stream."""
    return f"{_SPEAKER[role]}: {text}\n"


def cut(pieces: Iterable[Piece], first: int, tokenizer: Tokenizer, windows: Windows) -> list[Chunk]:
    """All windows from index ``first`` on. ``pieces`` are in order, without a gap, and begin at or before the token where
    that window starts."""
    line = [piece for piece in pieces if piece.tokens]
    if not line:
        return []
    base = line[0].start_token
    tokens = [token for piece in line for token in piece.tokens]
    total = base + len(tokens)
    settled = _settled_until(line)
    chunks: list[Chunk] = []
    index, place = first, 0
    while windows.exists(index, total):
        start = index * windows.step
        end = min(start + windows.size, total)
        while _end(line[place]) <= start:
            place += 1
        last = place
        while _end(line[last]) < end:
            last += 1
        text = whole_characters(tokenizer.decode(tokens[start - base : end - base]))
        stable = end - start == windows.size and end <= settled
        chunks.append(Chunk(index, text, start, end, line[place].ordinal, line[last].ordinal, stable))
        index += 1
    return chunks


def whole_characters(data: bytes) -> CleanText:
    """Text of a window whose ends may stand inside a character: such a character belongs to the neighbour window, which
    holds it whole thanks to the overlap."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return CleanText(data[start:].decode("utf-8", "ignore"))


def _end(piece: Piece) -> int:
    return piece.start_token + len(piece.tokens)


def _settled_until(line: list[Piece]) -> int:
    for piece in line:
        if not piece.settled:
            return piece.start_token
    return _end(line[-1])
