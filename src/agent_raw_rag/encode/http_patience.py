"""How long a server is waited for: timeouts, repeated attempts, and the pause after it was found dead."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

CONNECT_SECONDS = 2.0
"""For a connection to be made: a host that is there answers far sooner."""
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0
PAUSE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock that a client reads and the ways it waits; replaced where nothing should really wait."""

    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random  # noqa: S311 - spreads clients out, guards nothing
    """0 to 1."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How much of a caller's time one call may take."""

    timeout_seconds: float
    """For the server to go on with its answer."""
    deadline_seconds: float
    """For everything: all attempts and the waits between them."""
    retries: int = 0
    """Further attempts."""
    pause_seconds: float = PAUSE_SECONDS
    """For so long after a dead server, calls fail at once."""


def wait_seconds(attempt: int, headers: Mapping[str, str], chance: float) -> float:
    """How long to wait after a failed attempt (0: the first): what the server asks for, else twice as long each time.

    Half of our own wait is left to chance, so that clients that failed together do not come back together.
    """
    asked = retry_after(headers)
    if asked is not None:
        return asked
    longest = min(FIRST_WAIT_SECONDS * float(1 << min(attempt, 16)), LONGEST_WAIT_SECONDS)
    return longest * (0.5 + chance / 2)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that ``Retry-After`` asks for, a number or a date (RFC 9110, 10.2.3); None: it says nothing usable.

    A date is compared with the answer's own ``Date``: two clocks need not agree.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until, now = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None


class Circuit:
    """Open after a server was found dead: until the pause is over, nobody waits for it again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._closed_at = float("-inf")
        self._why = ""

    def open(self, seconds: float, why: str) -> None:
        """Let calls fail at once for so long."""
        self._closed_at, self._why = self._clock() + seconds, why

    def close(self) -> None:
        """The server answered."""
        self._closed_at = float("-inf")

    def why_open(self) -> str | None:
        """What was wrong, and for how long it is not asked again; None: it may be asked."""
        left = self._closed_at - self._clock()
        return f"{self._why} It is asked again in {left:.0f} s." if left > 0 else None
