"""Codex response items: what the model was given or produced -> events."""

from __future__ import annotations

from typing import Any

from agent_raw_rag.adapters import _codex_human as human
from agent_raw_rag.adapters import _codex_twins as twins
from agent_raw_rag.adapters import _codex_voices as voices
from agent_raw_rag.adapters._codex_calls import call_parts, output_parts
from agent_raw_rag.adapters._codex_session import found_cwd
from agent_raw_rag.adapters.base import State, mapping, sequence, string
from agent_raw_rag.models import Event, Millis, Unknown

Item = dict[str, Any]

_IGNORED = frozenset(
    (
        "ghost_snapshot",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "context_compaction",
        "additional_tools",
        "configuration_update",
        "other",
    )
)
_CALLS = frozenset(
    (
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "tool_search_call",
        "web_search_call",
        "image_generation_call",
    )
)
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))


def response_item(item: Item, state: State, time: Millis | None, *, bare: bool = False) -> list[Event]:
    """Events of one item. ``bare``: the file has no events, so nothing waits for a twin."""
    kind = string(item.get("type")) or ""
    if kind == "message":
        return _message(item, state, time, bare)
    record_id = string(item.get("id"))
    if kind in _OUTPUTS:
        results = output_parts(item, reported=state.get("paginated") is True)
        return [*twins.release(state), *voices.action(state, results, time, record_id)]
    if kind in _CALLS:
        parts = call_parts(item)
        made = (
            voices.action(state, parts, time, record_id) if parts else [Unknown(f"response_item/{kind} without name")]
        )
        return [*twins.release(state), *made]
    if kind == "reasoning":
        return [*twins.release(state), *voices.thinking(state, _reasoning(item), time, record_id)]
    if kind == "agent_message":
        said = "\n".join(human.texts_of(item))
        return [*twins.release(state), *voices.order(state, said, string(item.get("author")), time, record_id)]
    return [] if kind in _IGNORED else [Unknown(f"response_item/{kind}"[:80])]


def _message(item: Item, state: State, time: Millis | None, bare: bool) -> list[Event]:
    role = item.get("role")
    if role == "user":
        return _user(item, state, time, bare)
    if role == "assistant":
        return _assistant(item, state, time, bare)
    return [] if role in ("developer", "system") else [Unknown(f"message/{role}"[:80])]


def _user(item: Item, state: State, time: Millis | None, bare: bool) -> list[Event]:
    record_id = string(item.get("id"))
    events: list[Event] = []
    for text in human.texts_of(item):
        if (command := human.shell_command(text)) is not None:
            events += [*twins.release(state), *voices.shell(state, command, time, record_id)]
        events += found_cwd(human.cwd_in(text), state)
    prompt = human.prompt_in_item(item)
    return events + (voices.human(state, prompt, time, record_id) if bare else twins.wrote_human(state, prompt, time))


def _assistant(item: Item, state: State, time: Millis | None, bare: bool) -> list[Event]:
    parts = [mapping(part) for part in sequence(item.get("content"))]
    told = [string(part.get("text")) or string(part.get("refusal")) or "" for part in parts]
    text = string(item.get("content")) or "\n".join(one for one in told if one)
    if not text.strip():
        return []
    record_id = string(item.get("id"))
    return voices.words(state, text, time, record_id) if bare else twins.wrote_model(state, text, time, record_id)


def _reasoning(item: Item) -> str:
    """The readable summary, or the open thoughts of models that show them."""
    for field in ("summary", "content"):
        told = [string(mapping(part).get("text")) for part in sequence(item.get(field))]
        if any(told):
            return "\n".join(text for text in told if text)
    return ""
