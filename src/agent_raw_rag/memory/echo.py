"""Our own answers inside what is captured are cut out: a memory that stores what it recalled recalls it ever more. Pure."""

from __future__ import annotations

import re

from agent_raw_rag.memory.render import BLOCK
from agent_raw_rag.search.fence import UNTRUSTED, closed, fence_note, opened

_MARK = r"[0-9A-Za-z]{4,64}"
_ANY = "\0"
"""Stands for the mark while the forms are made into patterns; no form holds it."""


def _pattern(form: str) -> str:
    return re.escape(form).replace(re.escape(_ANY), _MARK)


_HISTORY = re.compile(
    # The line before a passage says where it comes from: "#1 claude:…, turn 3, …".
    rf"(?:^\#\d{{1,4}}\x20[^\n]*\n)?^{_pattern(opened(''))}(?P<mark>{_MARK})\x20*$.*?"
    rf"(?:^{_pattern(closed(''))}(?P=mark)\x20*(?:\n|\Z)|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""A fence of history with what stands in it; one that was cut off reaches to the end of the text."""
_FRAME = re.compile(
    rf"^(?:{_pattern(fence_note(_ANY))}|\d+\ (?:passages?|turns?)\ from\ [^\n]*|To\ resume\ there:[^\n]*"
    rf"|The\ last\ turns\ of\ this\ project,\ from\ raw-rag\.[^\n]*)\x20*(?:\n|\Z)",
    re.MULTILINE,
)
"""What stands around fences. Only looked for where there was one."""


def without_echoes(text: str) -> str:
    """The text without what we recalled. Unchanged if there is nothing of ours in it."""
    told = BLOCK.sub("", text)
    if UNTRUSTED in told or opened("") in told:
        bare = _HISTORY.sub("", told)
        told = _FRAME.sub("", bare) if bare != told else told
    return text if told == text else told.strip()
