"""Fitting turns into an answer's token budget: whole where they fit, else head and tail around what was hit. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_raw_rag.models import Tokenizer
from agent_raw_rag.store.rows import ShownTurn

HEAD_SHARE = 0.2
_SPEAKER = {"user": "User", "assistant": "Assistant", "task": "Task", "summary": "Summary"}


@dataclass(frozen=True, slots=True)
class Fitted:
    """Text that keeps to its budget."""

    text: str
    tokens: int
    truncated: bool


def line(turn: ShownTurn, time: str | None) -> str:
    """A turn as it is read: number, speaker, time, text."""
    mark = " (abandoned branch)" if turn.abandoned else ""
    when = f" {time}" if time else ""
    return f"[{turn.ordinal}] {_SPEAKER[turn.role.value]}{when}{mark}: {turn.text}"


def fit(lines: Sequence[str], budget: int, tokenizer: Tokenizer, *, focus: int = 0, at: float = 0.0) -> Fitted:
    """Lines within ``budget`` tokens. ``focus`` is the line that was hit, and ``at`` (0..1) where in it.

    Lines are dropped from the far ends first; if the focused line alone is too long, its head and the stretch around the
    hit stay.
    """
    counts = [_count(text, tokenizer) for text in lines]
    first, last = focus, focus
    used = counts[focus]
    if used > budget:
        text = excerpt(lines[focus], budget, at, tokenizer)
        return Fitted(text, _count(text, tokenizer), True)
    while True:
        candidates = [place for place in (first - 1, last + 1) if 0 <= place < len(lines)]
        fitting = [place for place in candidates if used + counts[place] <= budget]
        if not fitting:
            break
        nearest = min(fitting, key=lambda place: abs(place - focus))
        used += counts[nearest]
        first, last = min(first, nearest), max(last, nearest)
    truncated = (first, last) != (0, len(lines) - 1)
    return Fitted("\n".join(lines[first : last + 1]), used, truncated)


def excerpt(text: str, budget: int, at: float, tokenizer: Tokenizer) -> str:
    """Head of a long text and the stretch around ``at`` (0..1), with what was left out said in between."""
    total = _count(text, tokenizer)
    if total <= budget:
        return text
    room = max(8, budget - 24)
    per_token = len(text) / total
    head = int(room * HEAD_SHARE * per_token)
    span = int(room * (1 - HEAD_SHARE) * per_token)
    start = min(max(head, int(at * len(text)) - span // 2), max(head, len(text) - span))
    parts = [text[:head]]
    if start > head:
        parts.append(f" […{int((start - head) / per_token)} tokens left out…] ")
    parts.append(text[start : start + span])
    rest = len(text) - start - span
    if rest > 0:
        parts.append(f" […{int(rest / per_token)} tokens left out]")
    return "".join(parts)


def _count(text: str, tokenizer: Tokenizer) -> int:
    return len(tokenizer.encode(text)) + 1
