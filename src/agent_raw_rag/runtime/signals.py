"""What a process that runs all the time does when it is told to end, or to take its configuration anew."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def obeyed(stop: Callable[[], None], reload: Callable[[], None]) -> Iterator[None]:
    """Within the block SIGTERM and SIGINT mean ``stop``. SIGHUP means ``reload``, or the end where it says that the terminal was
    closed; Windows has none. Both are called from a signal handler."""
    in_terminal = os.isatty(0)

    def hang_up() -> None:
        if in_terminal and not os.isatty(0):
            stop()
        else:
            reload()

    wanted = {signal.SIGTERM: stop, signal.SIGINT: stop}
    if hasattr(signal, "SIGHUP"):
        wanted[signal.SIGHUP] = hang_up
    before = {number: signal.signal(number, _handler(what)) for number, what in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handler(what: Callable[[], None]) -> Callable[[int, FrameType | None], None]:
    return lambda number, frame: what()
