"""Who says what in a Codex rollout, as messages with keys. The state that is carried from record to record begins here.

``chain`` is a hash over the lineage's seed and all that the human said since. The key of a human turn is the chain that it
leads to; all else is keyed by chain and place in the exchange, or by chain and call id. A legacy fork copies its
parent's history word for word and re-stamps it; its seed is the parent's, so the copies have the parent's keys until
the human says something else. The chain never goes back on a rollback: a fork copies what was rolled back, too.
"""

from __future__ import annotations

from agent_raw_rag.adapters._codex_human import Prompt
from agent_raw_rag.adapters.base import State, digest
from agent_raw_rag.models import (
    Event,
    Image,
    Message,
    Millis,
    Role,
    Rollback,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_RECENT_TURNS = 256


def begin(session: str) -> State:
    """The state before the first record."""
    return {
        "session": session,
        "chain": digest("codex", session),
        "step": 0,
        "held": [],
        "heard": [],
        "wrote": None,
        "turns": "",
        "silent": True,
    }


def seed(state: State, session: str) -> None:
    """The lineage that the following history belongs to."""
    state["chain"] = digest("codex", session)


def human(state: State, prompt: Prompt, time: Millis | None, record_id: str | None = None) -> list[Event]:
    """A turn of the human (in a sub-agent: an order of its parent)."""
    if prompt.empty:
        return []
    key = digest(state["chain"], "user", prompt.text.strip(), len(prompt.images))
    state.update(chain=key, step=0, silent=False, wrote=None, turns=(state["turns"] + "u")[-_RECENT_TURNS:])
    words = (Text(prompt.text),) if prompt.text.strip() else ()
    parts = (*words, *(Image(label) for label in prompt.images))
    return [Message(_speaker(state), key, parts, time, record_id=record_id)]


def shell(state: State, command: str, time: Millis | None, record_id: str | None) -> list[Event]:
    """A command that the human ran. A turn of theirs, but none that a rollback counts."""
    state["turns"] = (state["turns"] + "s")[-_RECENT_TURNS:]
    return [Message(_speaker(state), _key(state, "shell", command), (Text(command),), time, record_id=record_id)]


def order(state: State, text: str, author: str | None, time: Millis | None, record_id: str | None) -> list[Event]:
    """What another agent wrote to this one, under that agent's name."""
    if not text.strip():
        return []
    text = f"[{author}] {text}" if author else text
    state["turns"] = (state["turns"] + "s")[-_RECENT_TURNS:]
    return [Message(Role.TASK, _key(state, "order", text), (Text(text),), time, record_id=record_id)]


def summary(state: State, text: str, time: Millis | None) -> list[Event]:
    """A compaction's summary."""
    return [Message(Role.SUMMARY, _key(state, "summary", text), (Text(text),), time)] if text.strip() else []


def words(state: State, text: str, time: Millis | None, record_id: str | None = None) -> list[Event]:
    """Words of the model."""
    if not text.strip():
        return []
    return [Message(Role.ASSISTANT, _key(state, "words", text), (Text(text),), time, record_id=record_id)]


def thinking(state: State, text: str, time: Millis | None, record_id: str | None) -> list[Event]:
    """Readable reasoning."""
    if not text.strip():
        return []
    return [Message(Role.ASSISTANT, _key(state, "thinking", text), (Thinking(text),), time, record_id=record_id)]


def action(
    state: State, parts: tuple[ToolCall | ToolResult, ...], time: Millis | None, record_id: str | None
) -> list[Event]:
    """A call with or without its result, or a result."""
    if not parts:
        return []
    first = parts[0]
    if isinstance(first, ToolResult):
        key = f"result {first.call_id}"  # a result begins no turn: its key is never stored
    else:
        state["silent"] = False
        call = first.call_id
        key = digest(state["chain"], "call", call) if call else _key(state, "call", first.name)
    return [Message(Role.ASSISTANT, key, parts, time, record_id=record_id)]


def roll_back(state: State, exchanges: int) -> list[Event]:
    """The last prompts were taken back, with the human's shell commands among them."""
    turns: str = state["turns"]
    cut = len(turns)
    for _ in range(min(max(0, exchanges), cut)):
        cut = max(turns.rfind("u", 0, cut), 0)
    state["turns"] = turns[:cut]
    return [Rollback(exchanges=len(turns) - cut)] if cut < len(turns) else []


def _key(state: State, kind: str, text: str) -> str:
    state["step"] += 1
    state["silent"] = False
    return digest(state["chain"], state["step"], kind, text.strip())


def _speaker(state: State) -> Role:
    return Role.TASK if state.get("task") else Role.USER
