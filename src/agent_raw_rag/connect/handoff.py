"""Session -> a prompt with its last exchanges, for another agent. Pure: the fence's random mark is an argument."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_raw_rag.search.fence import closed, fence_note, one_line, opened

if TYPE_CHECKING:
    from agent_raw_rag.search.browse import ReadTurn, SessionItem

CHARS_PER_TOKEN = 3.2
"""On the safe side for English and code; a CJK character counts as one."""
FRAME_TOKENS = 200


def tokens_of(text: str) -> int:
    """About how many tokens a text costs, never too few by much. Loads no tokenizer."""
    wide = sum(char >= "\u2e80" for char in text)
    return int((len(text) - wide) / CHARS_PER_TOKEN) + wide + 8


def last_exchanges(turns: Sequence[ReadTurn], budget: int) -> tuple[list[ReadTurn], int]:
    """The last turns that fit, whole, and how many were left out. From the beginning of an exchange on where one fits; an
    abandoned branch is left out. The last turn is always there, cut if it must be."""
    live = [turn for turn in turns if not turn.abandoned] or list(turns)
    left, kept = budget - FRAME_TOKENS, 0
    for turn in reversed(live):
        left -= tokens_of(turn.text)
        if left < 0:
            break
        kept += 1
    if not kept:
        return [_cut(live[-1], budget - FRAME_TOKENS)], len(turns) - 1
    fitting = live[-kept:]
    begins = [place for place, turn in enumerate(fitting) if turn.role == "user"]
    chosen = fitting[begins[0] :] if begins and kept < len(live) else fitting
    return chosen, len(turns) - len(chosen)


def handoff_prompt(session: SessionItem, turns: Sequence[ReadTurn], left_out: int, title: str, mark: str) -> str:
    """What the other agent reads: where this comes from, what to do, then the fenced history."""
    facts = [session.session, *(one for one in (session.title, session.cwd or session.project, session.branch) if one)]
    head = [
        f"{title}: go on with work that was done in another session ({session.agent}).",
        f"Session: {', '.join(one_line(fact) for fact in facts)}; last spoken in {session.last or 'at an unknown time'}.",
        f"Below are its last {len(turns)} turns; {left_out} others are left out. With the raw-rag tools you can read on: "
        f'raw_rag_context(session="{one_line(session.session)}", turn={turns[0].turn}).',
        "Read them, check the state of the files, say in two sentences where the work stands, then ask what to do next.",
        fence_note(mark),
        opened(mark),
    ]  # fmt: skip
    lines = [f"[{turn.turn}] {turn.role.capitalize()} {turn.time or ''}".rstrip() + f": {turn.text}" for turn in turns]
    return "\n".join([*head, *lines, closed(mark)])


def _cut(turn: ReadTurn, budget: int) -> ReadTurn:
    """The end of a turn that is too long: that is where the work stands."""
    share = max(budget, 50) / tokens_of(turn.text)
    kept = turn.text[-int(len(turn.text) * share) :]
    return replace(turn, text=f"[… the beginning of this turn is left out …] {kept}", truncated=True)
