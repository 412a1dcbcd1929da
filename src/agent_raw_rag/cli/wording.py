"""What a tool is called in a terminal: errors name tools, as most who read them are agents; a person needs commands."""

from __future__ import annotations

import re

COMMANDS = {
    "memory_candidates": "candidates list",
    "memory_capture": 'capture "…"',
    "memory_history": "history {id}",
    "memory_journal": "journal list",
    "memory_promote": "promote {id}",
    "memory_recall": 'recall "…"',
    "memory_reject": 'reject {id} --reason "…"',
    "memory_save": 'save "…"',
    "memory_search_raw": 'search-raw "…"',
    "memory_update": 'update {id} "…"',
}
"""Tool -> the command that does the same. ``memory_propose`` has none."""
_TOOL = re.compile(rf"\b({'|'.join(COMMANDS)})\b(?: ([nc][0-9a-f]{{20}})\b)?")


def as_commands(text: str) -> str:
    """A message with commands to be pasted in the place of tools; an id that follows a tool's name goes along."""
    return _TOOL.sub(lambda found: f"`raw-rag {COMMANDS[found[1]].format(id=found[2] or 'ID')}`", text)
