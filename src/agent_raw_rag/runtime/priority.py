"""Work that nobody waits for steps back: whoever asks for a vector, a search or a note gets the machine first."""

from __future__ import annotations

import os
import sys
import threading

STEPS = 10
"""Of niceness."""


def step_back() -> None:
    """Lower the priority of this thread and of those it will start. Only Linux has one for each thread."""
    if sys.platform == "linux":
        own = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, own, min(os.getpriority(os.PRIO_PROCESS, own) + STEPS, 19))
