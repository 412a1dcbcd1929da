"""What is heard of one exchange while it passes: bytes are put aside, and nothing is done with them until it is over."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field, replace

from agent_raw_rag.gateway.forms import Form
from agent_raw_rag.gateway.shapes import Asked
from agent_raw_rag.models import Actor, Millis

MOST = 64 * 1024 * 1024
"""Bytes of an answer that are put aside; what follows passes unheard."""
MOST_HELD = 256 * 1024 * 1024
"""Bytes that all exchanges hold together, those that run and those that wait for being captured, requests and answers."""
TOO_MUCH = "too much waits for being captured"
TOO_MANY = "a request has too many parts to be read"
TOO_LONG = f"an answer is longer than {MOST:,} bytes"


class Budget:
    """Bytes that may be held. Safe to use from several threads."""

    def __init__(self, most: int = MOST_HELD) -> None:
        self._most = most
        self._lock = threading.Lock()
        self.held = 0

    def take(self, size: int) -> bool:
        """So many more, if they may be."""
        with self._lock:
            if self.held + size > self._most:
                return False
            self.held += size
            return True

    def give(self, size: int) -> None:
        """So many less."""
        with self._lock:
            self.held -= size


@dataclass(slots=True)
class Overheard:
    """One exchange. It holds what was asked from its beginning, and what is answered as it comes, if it is to be captured and the
    budget allows; ``drop`` gives that back."""

    form: Form
    asked: Asked
    session: str
    space: str
    actor: Actor
    asked_at: Millis
    budget: Budget
    wanted: bool
    """It is to be captured."""
    said_at: Millis = 0
    encoding: str = ""
    """How the answer is packed."""
    heard: bool = False
    """Something of it is put aside to be captured."""
    whole: bool = False
    """The answer's end came."""
    missing: str = ""
    """Why some of it was not put aside; empty: all of it was."""
    begins: bytes = b""
    """The answer's first piece, or the beginning of it."""
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0
    """Bytes that passed."""
    _held: int = 0

    def __post_init__(self) -> None:
        if not self.wanted:
            self.asked = replace(self.asked, messages=())
        elif self._take(sum(sys.getsizeof(one.text) for one in self.asked.messages)):
            self.heard = bool(self.asked.messages)
        else:
            self.asked = replace(self.asked, messages=())

    def refused(self) -> None:
        """The upstream refuses: there is nothing to be captured."""
        self.wanted = self.heard = False
        self.missing = ""

    def add(self, piece: bytes) -> None:
        """The next piece of the answer."""
        self.begins = self.begins or piece[:64]
        self.size += len(piece)
        if not self.heard or self.missing:
            return
        if self.size > MOST:
            self.missing = TOO_LONG
        elif self._take(sys.getsizeof(piece)):
            self.pieces.append(piece)

    def drop(self) -> None:
        """Hold nothing more."""
        self.pieces = []
        self.budget.give(self._held)
        self._held = 0

    @property
    def partial(self) -> bool:
        """Whether the end is missing, of the answer or of what was put aside."""
        return not self.whole or bool(self.missing)

    def _take(self, size: int) -> bool:
        if not self.budget.take(size):
            self.missing = TOO_MUCH
            return False
        self._held += size
        return True
