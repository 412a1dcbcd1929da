"""Prompts typed while the model works. They wait in a queue, and often the queue is the only place that holds them.

``enqueue`` .. ``dequeue``: sent when the turn ended; a ``user`` row holds the text, the queue row is a copy.
``enqueue`` .. ``popAll``: taken back by the human, never sent.
``enqueue`` .. ``remove``: delivered inside the running turn, and no ``user`` row follows. From 2.1.9x on an attachment of type
``queued_command`` holds the text, before or after the ``remove``; earlier versions have nothing but the queue rows.

So a prompt is told by whichever of ``remove`` and attachment comes first, and the other one is passed over. Both give the
same key: it is made of the text and the last row that said something, which a forked copy of the session has too.

State: ``queue`` texts that wait; ``told`` marks of prompts one sign of which is still to come (``r`` remove, ``a`` attachment);
``fresh`` marks of prompts told since the model last spoke: a ``user`` row with such a text is their copy;
``attached`` true once the log has attachments: then a ``remove`` without its text tells nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_raw_rag.adapters._claude_blocks import human_parts
from agent_raw_rag.adapters._claude_text import steered
from agent_raw_rag.adapters.base import State, digest, mapping, millis, sequence, string
from agent_raw_rag.models import Event, Message, Part, Role, Text

MAX_QUEUE = 32
MAX_MARKS = 16
_DELIVERED = (None, "absorbed_mid_turn", "delivered_to_agent")
"""Reasons of a ``remove`` that mean: the model got it. Any other may mean that the human deleted it."""


def queue_operation(data: Mapping[str, Any], state: State) -> tuple[Event, ...]:
    """Events of a ``queue-operation`` row."""
    operation, text = data.get("operation"), _plain(data.get("content"))
    waiting = tuple(state.get("queue", ()))
    if operation == "enqueue":
        state["queue"] = (*waiting, text)[-MAX_QUEUE:]
        return ()
    if operation == "popAll":
        state["queue"] = _without(waiting, text) if text in waiting else ()
        return ()
    if operation not in ("dequeue", "remove"):
        return ()
    text = text or (waiting[0] if waiting else "")
    state["queue"] = _without(waiting, text)
    if operation == "dequeue" or data.get("reason") not in _DELIVERED:
        _expected(state, f"r{_mark(steered(text))}")
        return ()
    return _removed(data, steered(text), state)


def queued_command(data: Mapping[str, Any], state: State, role: Role, events: list[Event]) -> Message | None:
    """The message of an attachment row, if it holds a human's prompt that no ``remove`` has told yet."""
    state["attached"] = True
    attachment = mapping(data.get("attachment"))
    if attachment.get("type") != "queued_command" or not _by_human(attachment):
        return None
    parts = human_parts(attachment.get("prompt"), steered, events)
    if not parts or _expected(state, f"a{_mark(words_of(parts))}"):
        return None
    return _tell(data, parts, state, role, "r")


def is_delivered_copy(parts: tuple[Part, ...], state: State) -> bool:
    """Whether a human ``user`` row only repeats a prompt that was told from the queue just now."""
    if not state.get("fresh") and not state.get("queue"):
        return False
    words = words_of(parts)
    mark = _mark(words)
    if mark in state.get("fresh", ()):
        return True
    if words in state.get("queue", ()):
        _expect(state, f"r{mark}")
    return False


def model_spoke(state: State) -> None:
    """The model has answered: from here on an equal ``user`` row is the human saying it again."""
    if state.get("fresh"):
        state["fresh"] = ()


def words_of(parts: tuple[Part, ...]) -> str:
    """The text of a prompt, as the queue has it."""
    return "\n".join(part.text for part in parts if isinstance(part, Text)).strip()


# ---------------------------------------------------------------- steps


def _removed(data: Mapping[str, Any], words: str, state: State) -> tuple[Event, ...]:
    attached = state.get("attached")
    if not words or _expected(state, f"r{_mark(words)}") or (attached and not data.get("content")):
        return ()
    return (_tell(data, (Text(words),), state, Role.USER, "a" if attached else ""),)


def _tell(data: Mapping[str, Any], parts: tuple[Part, ...], state: State, role: Role, other_sign: str) -> Message:
    words = words_of(parts)
    mark = _mark(words)
    if other_sign:
        _expect(state, other_sign + mark)
    state["fresh"] = (*state.get("fresh", ()), mark)[-MAX_MARKS:]
    key = digest("steer", state.get("spoke") or state["session"], words)
    return Message(role, key, parts, millis(data.get("timestamp")), record_id=string(data.get("uuid")))


def _expect(state: State, sign: str) -> None:
    state["told"] = (*state.get("told", ()), sign)[-MAX_MARKS:]


def _expected(state: State, sign: str) -> bool:
    """Whether this sign of a prompt already told was still to come. It came now."""
    told = tuple(state.get("told", ()))
    if sign not in told:
        return False
    state["told"] = _without(told, sign)
    return True


def _by_human(attachment: Mapping[str, Any]) -> bool:
    kind = mapping(attachment.get("origin")).get("kind")
    return (
        attachment.get("commandMode") in (None, "prompt")
        and kind in (None, "human")
        and attachment.get("humanTurn") is not False
        and not attachment.get("isMeta")
    )


def _mark(text: str) -> str:
    return digest(text.strip())[:16]


def _plain(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    return "\n".join(text for block in sequence(content) if (text := string(mapping(block).get("text")))).strip()


def _without(texts: tuple[str, ...], text: str) -> tuple[str, ...]:
    if text not in texts:
        return texts
    place = texts.index(text)
    return (*texts[:place], *texts[place + 1 :])
