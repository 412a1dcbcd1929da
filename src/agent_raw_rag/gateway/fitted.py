"""What is said without end -> what one capture takes of it. Pure."""

from __future__ import annotations

from dataclasses import replace

from agent_raw_rag.memory.raw import MOST_CONTENT
from agent_raw_rag.models import Capture

_WORD = 4096
"""No word is so long that it must be cut; a longer one is."""


def fitted(capture: Capture) -> Capture:
    """A capture whose content is no longer than the memory takes: what is longer is cut after a word, and partial."""
    text = capture.content
    if len(text) <= MOST_CONTENT:
        return capture
    return replace(capture, content=text[: _place(text)], partial=True)


def _place(text: str) -> int:
    """Where it is cut: after a blank, so that no secret is cut in two, of which neither half would be known for one."""
    found = (at for at in range(MOST_CONTENT, MOST_CONTENT - _WORD, -1) if text[at - 1].isspace())
    return next(found, MOST_CONTENT)
