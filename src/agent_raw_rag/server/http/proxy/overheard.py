"""What is heard of one exchange while it passes: bytes are put aside, and nothing is done with them until it is over."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_raw_rag.gateway.forms import Form
from agent_raw_rag.gateway.shapes import Asked
from agent_raw_rag.models import Actor, Millis

MOST = 64 * 1024 * 1024
"""Bytes of an answer that are put aside; what follows passes unheard."""


@dataclass(slots=True)
class Overheard:
    """One exchange."""

    form: Form
    asked: Asked
    session: str
    space: str
    actor: Actor
    asked_at: Millis
    said_at: Millis = 0
    encoding: str = ""
    """How the answer is packed."""
    heard: bool = False
    """It is to be captured: the answer began, and is none that refuses."""
    whole: bool = False
    """The answer's end came."""
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, piece: bytes) -> None:
        """The next piece of the answer."""
        if self.size < MOST:
            self.pieces.append(piece)
        self.size += len(piece)

    @property
    def partial(self) -> bool:
        """Whether the end is missing, of the answer or of what was put aside."""
        return not self.whole or self.size > sum(map(len, self.pieces))
