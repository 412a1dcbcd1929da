"""What a tool or a command is called here: errors name tools, and a few name commands; who speaks HTTP needs operations."""

from __future__ import annotations

import re

OPERATIONS = {
    "memory_candidates": "GET /candidates",
    "memory_capture": "POST /turn",
    "memory_history": "GET /memory/{id}",
    "memory_journal": "GET /journal",
    "memory_promote": "POST /candidates/{id}/promote",
    "memory_recall": "GET /notes",
    "memory_reject": "POST /candidates/{id}/reject",
    "memory_save": "POST /store",
    "memory_search_raw": "POST /search",
    "memory_update": "PUT /memory/{id}",
}
"""Tool -> the operation that does the same. ``memory_propose`` has none."""
_TOOL = re.compile(rf"\b({'|'.join(OPERATIONS)})\b(?: ([nc][0-9a-f]{{20}})\b)?")
_DEPRECATE = re.compile(r"`raw-rag deprecate (n[0-9a-f]{20})[^`]*`")
_AS_SOURCE = ", as source_id"
"""What a tool calls an id; an operation calls it ``id``."""


def as_operations(text: str) -> str:
    """A message with operations in the place of tools and commands; an id that follows goes along."""
    told = _DEPRECATE.sub(lambda found: f"`DELETE /memory/{found[1]}`", text)
    told = _TOOL.sub(lambda found: f"`{OPERATIONS[found[1]].replace('{id}', found[2] or '{id}')}`", told)
    return told if told == text else told.replace(_AS_SOURCE, "")
