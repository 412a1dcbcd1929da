"""Windows -> pieces: which turns stand in a window, and with what text. Pure.

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
WHOLE_CHARS = 1200
"""A longer turn is taken by what the window holds of it. So long a turn is about a window's length."""
_SPEAKERS = "|".join(re.escape(rendered(role, CleanText("")).strip()) for role in Role)
_speaker = re.compile(f"(?:{_SPEAKERS}) ").match


@dataclass(frozen=True, slots=True)
class Piece:
    """One turn's part in a window."""

    turn: int
    """Its ordinal in the session."""
    text: str
    """What the window holds of it."""
    begins: bool
    """Whether the turn begins here, with its speaker."""
    line: str = ""
    """The turn's whole line if it is short; else empty."""

    @property
    def said(self) -> str:
        """What the window holds, without the speaker that the chunker put before it."""
        return _without_speaker(self.text) if self.begins else self.text.rstrip("\n")

    @property
    def whole(self) -> str:
        """A short turn's whole text, even where the window cuts it: whoever finds the window is shown the whole turn."""
        return _without_speaker(self.line) if self.line else self.said


def pieces(text: str, lines: Sequence[tuple[int, str]]) -> list[Piece]:
    """The pieces of a window in order.

    Args:
        text: The window's.
        lines: (ordinal, rendered line) of each turn that it covers; ``WHOLE_CHARS`` and one more of its characters will do.
    """
    return [
        Piece(turn, text[start:end], begins, line if len(line) <= WHOLE_CHARS else "")
        for (turn, line), (start, end, begins) in zip(lines, stretches(text, [line for _, line in lines]), strict=True)
        if end > start
    ]


def stretches(text: str, lines: Sequence[str]) -> list[tuple[int, int, bool]]:
    """Where each line stands in a window, and whether it begins there.

    A line that is not found (the window ends within its first character) has a stretch of nothing.
    """
    starts: list[int | None] = []
    place = 0
    for number, line in enumerate(lines):
        at = _start(text, line[:HEAD_CHARS], place) if number else 0
        starts.append(at)
        place = place if at is None else at + 1
    found, end = [], len(text)
    for number, at in reversed(list(enumerate(starts))):
        found.append((end if at is None else at, end, number > 0 or _begins(text, lines[0])))
        end = end if at is None else at
    return found[::-1]


def _without_speaker(line: str) -> str:
    speaker = _speaker(line)
    return line[speaker.end() if speaker else 0 :].rstrip("\n")


def _begins(text: str, line: str) -> bool:
    head = line[:HEAD_CHARS]
    return text.startswith(head) or head.startswith(text)


def _start(text: str, head: str, place: int) -> int | None:
    """Where a line with this head begins after ``place``; at the end of the text a part of the head will do."""
    found = text.find("\n" + head, max(place - 1, 0))
    if found >= 0:
        return found + 1
    rest = range(max(place, len(text) - len(head)), len(text))
    return next((at for at in rest if text[at - 1 : at] == "\n" and head.startswith(text[at:])), None)
