"""Glimpses of a project -> the text that a hook puts into an agent's context, within a token budget. Pure but for the
machine's time zone."""

from __future__ import annotations

import time
from collections.abc import Iterable

from agent_raw_rag.search.fence import closed, fence_note, one_line, opened
from agent_raw_rag.store.glance import Glimpse, Told

AFTER_COMPACTION = 2000
AT_START = 800
"""Tokens. At a start the agent may have all it needs; what it does not need costs every session."""
LINE_TOKENS, FRAME_TOKENS, LEAST_TOKENS = 16, 120, 60
_CUT = " […] "


def recap(glimpses: Iterable[Glimpse], own: str | None, source: str, mark: str) -> str:
    """The last turns of this project; "" if there are none.

    Args:
        glimpses: The sessions, the one last spoken in first.
        own: Native id of the session that asks. After a compaction its turns are what is missing; else it knows them.
        source: What began: ``compact``, ``resume``, ``startup``, ...
        mark: Of the fence.
    """
    compacted = source == "compact"
    left = (AFTER_COMPACTION if compacted else AT_START) - FRAME_TOKENS
    wanted = sorted((one for one in glimpses if compacted or one.native != own), key=lambda one: one.native != own)
    blocks: list[str] = []
    for one in wanted:
        lines, left = _fitting(one.turns, left)
        if lines:
            title = f", {one_line(one.title, 80)}" if one.title else ""
            blocks.insert(0, "\n".join([f"— session {one_line(one.agent)}:{one_line(one.native)}{title}", *lines]))
        if left < LEAST_TOKENS:
            break
    if not blocks:
        return ""
    head = [
        "The last turns of this project, from raw-rag. raw_rag_search finds more, raw_rag_context reads on.",
        fence_note(mark),
        opened(mark),
    ]
    return "\n".join([*head, *blocks, closed(mark)])


def _fitting(turns: list[Told], budget: int) -> tuple[list[str], int]:
    """The last turns that fit, and what is left. A turn that does not fit is cut in its middle, and is the last taken."""
    lines: list[str] = []
    for turn in reversed(turns):
        if budget < LEAST_TOKENS:
            break
        room = budget - LINE_TOKENS
        lines.insert(0, _line(turn, turn.text if turn.tokens <= room else _middle_cut(turn, room)))
        budget -= min(turn.tokens, room) + LINE_TOKENS
    return lines, budget


def _line(turn: Told, text: str) -> str:
    when = time.strftime(" %Y-%m-%d %H:%M", time.localtime(turn.time / 1000)) if turn.time is not None else ""
    return f"[{turn.ordinal}] {turn.role.capitalize()}{when}: {text}"


def _middle_cut(turn: Told, room: int) -> str:
    chars = max(int(len(turn.text) * room / turn.tokens) - len(_CUT), 2)
    return f"{turn.text[: chars // 2]}{_CUT}{turn.text[-(chars // 2) :]}"
