"""Memories -> as many as a token budget holds, in their order. Pure but for the counting, which is only done if it may matter.

A note is shown whole if there is room; of raw turns, which may be long, each gets a like share of what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent_raw_rag.memory.results import Memory

CUT = " […]"
"""Stands where a text was cut."""
LEAST_ROOM = 60
"""Tokens: a text is not cut to less."""


def fitted(memories: Sequence[Memory], budget: int, count: Callable[[str], int]) -> tuple[list[Memory], int]:
    """The memories whose texts fit, and how many do not. One that is too long by itself is cut, if there is room for its head.

    Args:
        memories: Best first.
        budget: Tokens of all texts together.
        count: Text -> tokens. No text has more tokens than bytes, so that short answers are never counted.
    """
    if sum(len(one.text.encode()) for one in memories) <= budget:
        return list(memories), 0
    kept: list[Memory] = []
    room = budget
    for place, one in enumerate(memories):
        size = count(one.text)
        share = room if one.layer == "atom" else max(LEAST_ROOM, room // (len(memories) - place))
        if size <= min(share, room):
            kept.append(one)
            room -= size
        elif room >= LEAST_ROOM:
            kept.append(_cut(one, min(share, room), count))
            room -= min(share, room)
    return kept, len(memories) - len(kept)


def _cut(one: Memory, room: int, count: Callable[[str], int]) -> Memory:
    text = one.text[: 8 * room]  # few texts have longer tokens, and a turn may have megabytes
    while (size := count(text + CUT)) > room:
        text = text[: min(len(text) - 1, len(text) * room // size)]
    return replace(one, text=text.rstrip() + CUT)
