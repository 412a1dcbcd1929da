"""The tag of notes that are not to be retired, and the refusal."""

from __future__ import annotations

from agent_raw_rag.errors import ProtectedError

KEEP = "keep"


def protected(note: str) -> ProtectedError:
    """The refusal to retire a note with the tag, or to put in its place what contradicts it."""
    return ProtectedError(
        f"{note} is tagged {KEEP!r}: it is protected.", hint=f"`raw-rag keep --off {note}` lets it go."
    )
