"""Sessions and notes as Markdown, for people. Nothing reads it back. Pure.

What was said may hold Markdown of its own, headings too: it stands in a quotation, so that it cannot pass for the page's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent_raw_rag.memory.results import stamp

LIVE = "live"
"""The status of a turn that is shown."""
Values = Mapping[str, Any]


def session_section(session: Values, turns: Iterable[Values]) -> str:
    """A session with its live turns."""
    title = " ".join((session["title"] or "").split())
    facts = [f"`{session['session']}`", stamp(session["started"]), session["project"], session["branch"]]
    parts = [f"# {title or session['session']}", " · ".join(fact for fact in facts if fact)]
    for number, turn in enumerate(turns, start=1):
        if turn["status"] == LIVE:
            parts.append(_heading(number, turn))
            parts.append(_quoted(turn["text"]))
    return "\n\n".join(parts) + "\n\n"


def note_section(note: Values) -> str:
    """A note."""
    facts = [f"`{note['id']}`", note["kind"], note["status"], note["topic"], note["source"], stamp(note["created"])]
    return f"# Note\n\n{' · '.join(fact for fact in facts if fact)}\n\n{_quoted(note['statement'])}\n\n"


def _heading(number: int, turn: Values) -> str:
    marks = [
        turn["role"],
        stamp(turn["time"]),
        f"`{turn['id']}`",
        "on an abandoned branch" if turn["abandoned"] else None,
    ]
    return f"## {number}. {' · '.join(mark for mark in marks if mark)}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
