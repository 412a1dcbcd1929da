"""What of a Claude Code ``user`` row a human typed. Pure text rules; everything else of the row is harness text.

The harness writes more and more text under ``role: "user"``: context files, reminders, command echoes, notifications. The
rule is a closed one: a row is human unless one of the marks below says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_raw_rag.adapters.base import mapping

SUMMARY_OPENING = "This session is being continued from a previous conversation"
WARMUP = "Warmup"
"""The whole prompt of the agents that Claude Code 2.0.x started only to warm its cache."""

_REMINDER = ("<system-reminder>", "</system-reminder>")
_EDITOR_NOTES = tuple((f"<{name}>", f"</{name}>") for name in ("ide_opened_file", "ide_selection", "ide_diagnostics"))
_TASK_NOTICE = '{"task_id":'
_COMMAND = ("<command-name>", "<command-message>", "<command-args>")
_HARNESS = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "Caveat: The messages below",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "<ide_opened_file>",
    "<ide_selection>",
    "<user-memory-input>",
    "<user-prompt-submit-hook>",
    "<teammate-message ",
    "<cross-session-message ",
    "[Request interrupted by user",
    "[SYSTEM NOTIFICATION",
    SUMMARY_OPENING,
    "Continue from where you left off.",
)


def said(text: str) -> str:
    """The human's words in one text block; "" if the harness wrote it.

    Reminders and the editor's notes are cut out; of a slash command its name and arguments stay, if it has arguments.
    """
    words = _without_editor_notes(without_reminders(text))
    if words is not text:
        words = words.strip()
    head = words.lstrip()
    if head.startswith(_COMMAND):
        return _command(head)
    return "" if not head or head.startswith(_HARNESS) else words


def steered(text: str) -> str:
    """``said`` for a prompt from the queue, where notices of finished tasks wait too, and slash commands, which are run
    and never sent to the model."""
    words = said(text)
    head = words.strip()
    bare_command = head.startswith("/") and "/" not in head[1:] and len(head.split(None, 1)) == 1
    return "" if bare_command or head.startswith(_TASK_NOTICE) else words


def is_summary(data: Mapping[str, Any], text: str) -> bool:
    """Whether a ``user`` row is the summary that a compaction left."""
    return bool(data.get("isCompactSummary")) or text.lstrip().startswith(SUMMARY_OPENING)


def by_human(data: Mapping[str, Any]) -> bool:
    """Whether the fields around a ``user`` row leave it a human's. Its text may still be the harness's: see ``said``."""
    kind = mapping(data.get("origin")).get("kind")
    return by_model(data) and kind in (None, "human") and data.get("rowSource") not in ("harness", "recorded")


def by_model(data: Mapping[str, Any]) -> bool:
    """Whether a ``user`` row of a sub-agent is an order to it, and not harness text."""
    if data.get("isMeta") or data.get("isVisibleInTranscriptOnly"):
        return False
    return data.get("toolUseResult") is None and data.get("sourceToolUseID") is None


def without_reminders(text: str) -> str:
    """The text without its ``<system-reminder>`` spans. The same object if there are none."""
    opening, closing = _REMINDER
    kept, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(closing)
    return "".join([*kept, text[at:]]) if kept else text


def between(text: str, opening: str, closing: str) -> str:
    """What stands between the first opening and the last closing mark; "" if one of them is missing."""
    start, end = text.find(opening), text.rfind(closing)
    return text[start + len(opening) : end] if 0 <= start < end else ""


def _without_editor_notes(text: str) -> str:
    """The text without the notes of what is open in the editor, which stand before it."""
    for opening, closing in _EDITOR_NOTES:
        while text.lstrip().startswith(opening) and (end := text.find(closing)) >= 0:
            text = text[end + len(closing) :]
    return text


def _command(text: str) -> str:
    words = between(text, "<command-args>", "</command-args>").strip()
    name = between(text, "<command-name>", "</command-name>").strip()
    return f"{name} {words}".strip() if words else ""
