"""Fitting turns into an answer's token budget: whole where they fit, else head and tail around what was hit. Pure.

Token counts are the store's own, so that nothing is encoded again; what is cut is cut in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_raw_rag.models import Role
from agent_raw_rag.store.rows import ShownTurn

HEAD_SHARE = 0.2
LINE_TOKENS = 28
"""What a line's number, speaker and time cost beside its text."""
MARK_TOKENS = 12
"""What saying that something was left out costs."""
_SPEAKER = {role.value: role.value.capitalize() for role in Role}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an answer, with what it costs in tokens."""

    text: str
    tokens: int
    head: int = 0
    """Characters of the text that stand before what was said: number, speaker and time."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is left of one line."""

    place: int
    """Which of the lines."""
    text: str
    """Without its head."""
    truncated: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """Text that keeps to its budget."""

    text: str
    tokens: int
    truncated: bool
    said: tuple[Said, ...] = ()
    """The same, line by line."""


def line(turn: ShownTurn, time: str | None) -> Line:
    """A turn as it is read: number, speaker, time, text."""
    mark = " (abandoned branch)" if turn.abandoned else ""
    when = f" {time}" if time else ""
    head = f"[{turn.ordinal}] {_SPEAKER[turn.role.value]}{when}{mark}: "
    return Line(head + turn.text, turn.tokens + LINE_TOKENS, len(head))


def fit(lines: Sequence[Line], budget: int, *, focus: int = 0, at: float = 0.0) -> Fitted:
    """Lines within ``budget`` tokens. ``focus`` is the line that was hit, and ``at`` (0..1) where in it.

    Lines are dropped from the far ends first; if the focused line alone is too long, its head and the stretch around the
    hit stay.
    """
    first, last = focus, focus
    used = lines[focus].tokens
    if used > budget:
        cut = excerpt(lines[focus], budget, at)
        return replace(cut, said=tuple(replace(one, place=focus) for one in cut.said))
    while True:
        near = [place for place in (first - 1, last + 1) if 0 <= place < len(lines)]
        fitting = [place for place in near if used + lines[place].tokens <= budget]
        if not fitting:
            break
        nearest = min(fitting, key=lambda place: abs(place - focus))
        used += lines[nearest].tokens
        first, last = min(first, nearest), max(last, nearest)
    truncated = (first, last) != (0, len(lines) - 1)
    kept = lines[first : last + 1]
    said = (Said(place, one.text[one.head :], False) for place, one in enumerate(kept, first))
    return Fitted("\n".join(one.text for one in kept), used, truncated, tuple(said))


def excerpt(whole: Line, budget: int, at: float) -> Fitted:
    """Head of a long text and the stretch around ``at`` (0..1), with what was left out said in between."""
    text, total = whole.text, whole.tokens
    if total <= budget or not text:
        return Fitted(text, total, False, (Said(0, text[whole.head :], False),))
    room = max(8, budget - 2 * MARK_TOKENS)
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
        parts.append(f" […{max(1, int(rest / per_token))} tokens left out]")
    shown = "".join(parts)
    return Fitted(shown, budget, True, (Said(0, shown[min(whole.head, len(parts[0])) :], True),))
