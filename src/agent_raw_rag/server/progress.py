"""An ingest's notes as MCP progress: only ever forward, and not too often."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from anyio import from_thread

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

    from agent_raw_rag.ingest.run import Note

EVERY_SECONDS = 0.1


class Ticker:
    """Sums the steps of all agents and stages into one number that grows. Called from the tool's worker thread."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._stage: tuple[str, str] | None = None
        self._before = 0
        self._current = 0
        self._told_at = -EVERY_SECONDS

    def __call__(self, note: Note) -> None:
        """Tell the client. A call that the client has cancelled ends here."""
        from_thread.check_cancelled()
        if (note.stage, note.text) != self._stage:
            self._before += self._current
            self._stage, self._current = (note.stage, note.text), 0
        self._current = max(self._current, note.done)
        now = time.monotonic()
        if now - self._told_at >= EVERY_SECONDS or note.done == note.total:
            self._told_at = now
            from_thread.run(self._context.report_progress, float(self._before + self._current), None, said(note))


def said(note: Note) -> str:
    """A note in words."""
    if note.stage == "read":
        return f"{note.text}: source {min(note.done + 1, note.total)} of {note.total}"
    return f"vectors: {note.done} of {note.total} chunks"
