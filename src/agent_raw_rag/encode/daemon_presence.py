"""What is believed of the daemon, and for how long: a small state machine over an injected look and clock.

It is there, or it is away. Either belief holds for a moment, so that a search costs no extra question and an absent daemon no
waiting; then the next caller looks again. A request that fails ends the belief at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

BELIEVED_SECONDS = 2.0
"""How long a daemon that answered is taken to be there and to serve the same models."""
AWAY_SECONDS = 1.0
"""How long after nobody was found nobody is looked for."""
MOST_AWAY_SECONDS = 5.0
"""The same after it was found away again and again: a daemon that hangs costs a look each time."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a daemon says of itself."""

    pid: int
    version: str
    spaces: Sequence[str]
    """Names of the vector spaces that it makes vectors for."""
    rerankers: Sequence[str]
    """Names that it reranks under (``Choice.name``)."""


def read_health(answer: Any) -> Health | None:
    """The answer of ``/health``; None: it is none."""
    if not isinstance(answer, dict):
        return None
    pid, version = answer.get("pid"), answer.get("version")
    spaces, rerankers = answer.get("spaces"), answer.get("rerankers")
    if type(pid) is not int or not isinstance(version, str):
        return None
    if not isinstance(spaces, list) or not isinstance(rerankers, list):
        return None
    return Health(pid, version, tuple(map(str, spaces)), tuple(map(str, rerankers)))


class Presence:
    """Safe to use from several threads: one looks, the others wait for what it sees."""

    def __init__(self, look: Callable[[], Health | None], clock: Callable[[], float]) -> None:
        """``look`` asks the daemon, None: nobody answers. ``clock`` gives seconds and never goes back."""
        self._look = look
        self._clock = clock
        self._lock = Lock()
        self._health: Health | None = None
        self._until: float | None = None
        self._pause = AWAY_SECONDS

    def health(self) -> Health | None:
        """What the daemon last said, at most ``BELIEVED_SECONDS`` ago; None: it is away."""
        with self._lock:
            if self._until is None or self._clock() >= self._until:
                self._believe(self._look())
            return self._health

    def lost(self) -> None:
        """A request to it failed: it is away, for now."""
        with self._lock:
            self._believe(None)

    def _believe(self, health: Health | None) -> None:
        self._health = health
        if health is not None:
            self._pause, lasts = AWAY_SECONDS, BELIEVED_SECONDS
        else:
            lasts, self._pause = self._pause, min(MOST_AWAY_SECONDS, 2 * self._pause)
        self._until = self._clock() + lasts
