"""A command that somebody ends from outside: its terminal is closed, or it is told to."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class Told:
    """Whether it was told to end."""

    number: int = 0
    """The signal; 0: it was not."""

    @property
    def status(self) -> int:
        """The exit status that says so; 0: it was not."""
        return 128 + self.number if self.number else 0

    @contextmanager
    def to_end(self) -> Iterator[None]:
        """Within the block SIGTERM and SIGHUP do what SIGINT does, so that what is under way ends in the same good order."""
        wanted = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
        before = {number: signal.signal(number, self._heard) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self.number = self.number or number
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)
