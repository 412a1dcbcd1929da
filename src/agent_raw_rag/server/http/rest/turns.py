"""``POST /turn``: both sides of one exchange, for hooks and programs that have just heard it."""

from __future__ import annotations

import hashlib

from pydantic import Field
from typing_extensions import TypedDict

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.keeping import as_configured
from agent_raw_rag.memory.results import Captured
from agent_raw_rag.models import Capture, Role
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation


class TurnForm(Form):
    """What was said."""

    user: str
    assistant: str | None = None
    session_id: str = Field(description="Your id of the conversation.")
    turn_index: int | None = Field(
        None, ge=0, lt=2**53, description="Its place in the conversation. Without it an exchange is known by its words."
    )
    model: str | None = Field(None, description="Who answered.")
    source: str | None = Field(None, description="Who tells it. Default: the token's label.")
    timestamp: str | None = Field(None, description="When it was. Default: now.")


class Told(TypedDict):
    """What became of it."""

    status: str
    """``captured``, ``duplicate`` (it was there already), ``disabled`` (nothing is stored here: `[capture] store_turns`) or
    ``skipped`` (nothing of it can be stored, as of what was recalled from here)."""
    turn_id: str | None
    """Of the user's side."""
    turn_ids: list[str]
    """Of both sides."""


def capture_turn(call: Call) -> Told:
    """Record an exchange as raw history, word for word; the user's side first, both or none. Sent again, it is the same turn."""
    asked = call.asked(TurnForm)
    if not asked.session_id.strip():
        raise BadArgumentError("The session_id is blank.", hint="Give your id of the conversation.")
    if not asked.user.strip():
        raise BadArgumentError("The user's side is blank.", hint="Say what the user said.")
    store_turns = call.runtime.settings.capture.store_turns
    told = [told for one in _captures(call, asked) if (told := as_configured(one, store_turns))]
    if not told:
        return {"status": "disabled", "turn_id": None, "turn_ids": []}
    captured = call.runtime.memory.raw.capture_all(told, call.actor)
    ids = [one.event_id for one in captured if one.event_id is not None]
    return {"status": _status(captured), "turn_id": captured[0].event_id, "turn_ids": ids}


def _captures(call: Call, asked: TurnForm) -> list[Capture]:
    memory = call.runtime.memory
    time = memory.instant(asked.timestamp) if asked.timestamp else memory.store.now()
    sides = [(Role.USER, asked.user, None), (Role.ASSISTANT, asked.assistant, asked.model)]
    return [
        Capture(
            said, call.source if asked.source is None else asked.source, door="http", session=asked.session_id, role=role,
            host_turn_id=_own_id(asked), time=time, author=author,
        )
        for role, said, author in sides
        if said is not None and said.strip()
    ]  # fmt: skip


def _own_id(asked: TurnForm) -> str | None:
    """What makes a retry the same exchange: its place, else both sides together, so that "go on" may be said twice."""
    if asked.turn_index is not None:
        return f"turn:{asked.turn_index}"
    if asked.assistant is None:
        return None
    told = f"{' '.join(asked.user.split())}\0{' '.join(asked.assistant.split())}"
    return f"said:{hashlib.blake2b(told.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"


def _status(captured: list[Captured]) -> str:
    recorded = [one for one in captured if one.recorded]
    if not recorded:
        return "skipped"
    return "duplicate" if all(one.duplicate for one in recorded) else "captured"


OPERATIONS = (Operation("POST", "/turn", "history", capture_turn, Told, scope="write", body=TurnForm),)
