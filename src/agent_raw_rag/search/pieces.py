"""Windows -> pieces: which stretch of a window's text is whose turn. Pure.

A window is cut out of its session's lines (``Speaker: text``), so every turn in it but the first begins at a line break
with a beginning that the store knows. A few characters of it are enough: a turn may be megabytes long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_raw_rag.chunker import rendered
from agent_raw_rag.models import CleanText, Role

HEAD_CHARS = 80
"""So much of a turn's line is looked for."""
_SPEAKERS = "|".join(re.escape(rendered(role, CleanText("")).strip()) for role in Role)
_speaker = re.compile(f"(?:{_SPEAKERS}) ").match


@dataclass(frozen=True, slots=True)
class Piece:
    """One turn's stretch of a window."""

    turn: int
    """Its ordinal in the session."""
    text: str
    begins: bool
    """Whether the turn begins here, with its speaker."""

    @property
    def said(self) -> str:
        """The text without the speaker that the chunker put before it."""
        speaker = _speaker(self.text) if self.begins else None
        return self.text[speaker.end() :].rstrip("\n") if speaker else self.text.rstrip("\n")


def pieces(text: str, lines: Sequence[tuple[int, str]]) -> list[Piece]:
    """The pieces of a window in order. ``lines``: (ordinal, beginning of the rendered line) of each turn that it covers.

    A turn whose line is not found (a window that ends within its first character) has no piece.
    """
    if not lines:
        return []
    starts: list[tuple[int, int]] = []
    place = 0
    for number, (turn, line) in enumerate(lines):
        at = 0 if number == 0 else _start(text, line[:HEAD_CHARS], place)
        if at is not None:
            starts.append((turn, at))
            place = at + 1
    ends = [*(at for _, at in starts[1:]), len(text)]
    first = lines[0][1][:HEAD_CHARS]
    return [
        Piece(turn, text[at:end], begins=number > 0 or text.startswith(first))
        for number, ((turn, at), end) in enumerate(zip(starts, ends, strict=True))
        if end > at
    ]


def _start(text: str, head: str, place: int) -> int | None:
    """Where a line with this head begins after ``place``; at the end of the text a part of the head will do."""
    found = text.find("\n" + head, max(place - 1, 0))
    if found >= 0:
        return found + 1
    rest = range(max(place, len(text) - len(head)), len(text))
    return next((at for at in rest if text[at - 1 : at] == "\n" and head.startswith(text[at:])), None)
