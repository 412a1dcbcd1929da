"""Names of new chats."""

from __future__ import annotations

import uuid


def new_session() -> str:
    """The id of a chat that nobody named: random, so that two never meet."""
    return f"chat-{uuid.uuid4()}"
