"""Codex events (``event_msg``): the human's words, results, rollbacks, and turn items of paginated rollouts -> events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_raw_rag.adapters import _codex_twins as twins
from agent_raw_rag.adapters import _codex_voices as voices
from agent_raw_rag.adapters._codex_calls import report_parts
from agent_raw_rag.adapters._codex_human import prompt_in_event, prompt_in_turn_item
from agent_raw_rag.adapters.base import State, mapping, sequence, string
from agent_raw_rag.models import Event, Millis, SessionInfo, Unknown

Payload = dict[str, Any]
Handler = Callable[[Payload, State, Millis | None], list[Event]]


def _user_message(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    prompt = prompt_in_event(payload)
    return [] if prompt.empty else twins.heard_human(state, prompt, time)


def _agent_message(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    text = string(payload.get("message")) or ""
    return twins.heard_model(state, text, time) if text.strip() else []


def _user_item(item: Payload, state: State, time: Millis | None) -> list[Event]:
    prompt = prompt_in_turn_item(item)
    return [] if prompt.empty else twins.heard_human(state, prompt, time)


def _agent_item(item: Payload, state: State, time: Millis | None) -> list[Event]:
    told = [string(mapping(part).get("text")) or "" for part in sequence(item.get("content"))]
    text = "\n".join(one for one in told if one)
    return twins.heard_model(state, text, time) if text.strip() else []


def _plan_item(item: Payload, state: State, time: Millis | None) -> list[Event]:
    text = string(item.get("text")) or ""
    return twins.planned(state, text, time) if text.strip() else []


def _review_item(item: Payload, state: State, time: Millis | None) -> list[Event]:
    return twins.reviewed(state, string(item.get("review")) or string(item.get("content")) or "", time)


def _review(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    """The reviewer's verdict and its findings, in the order in which Codex itself shows them."""
    output = mapping(payload.get("review_output"))
    told = [string(output.get("overall_explanation")) or ""]
    for finding in map(mapping, sequence(output.get("findings"))):
        told += [f"{string(finding.get('title')) or ''}\n{string(finding.get('body')) or ''}".strip()]
    return twins.reviewed(state, "\n\n".join(one for one in told if one), time)


def _report(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    return voices.action(state, report_parts(payload), time, None)


def _rolled_back(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    count = payload.get("num_turns")
    return [*twins.release(state), *voices.roll_back(state, count if isinstance(count, int) else 0)]


def _boundary(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    """A task began or ended: what waits for a twin waits in vain."""
    return twins.release(state)


def _named(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    title = string(payload.get("thread_name"))
    return [SessionInfo(title=title)] if title else []


def _nothing(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    return []


def _completed(payload: Payload, state: State, time: Millis | None) -> list[Event]:
    item = mapping(payload.get("item"))
    kind = string(item.get("type")) or ""
    handler = _ITEMS.get(kind)
    return handler(item, state, time) if handler else [Unknown(f"item/{kind}"[:80])]


def _table(handlers: dict[Handler, str]) -> dict[str, Handler]:
    return {name: handler for handler, names in handlers.items() for name in names.split()}


_ITEMS = _table(
    {
        _user_item: "UserMessage",
        _agent_item: "AgentMessage",
        _plan_item: "Plan",
        _review_item: "ExitedReviewMode",
        _report: "CommandExecution FileChange McpToolCall DynamicToolCall CollabAgentToolCall WebSearch",
        _nothing: "Reasoning ContextCompaction ImageView ImageGeneration EnteredReviewMode HookPrompt Extension Sleep"
        " SubAgentActivity TodoList Error",
    }
)

EVENTS = _table(
    {
        _user_message: "user_message",
        _agent_message: "agent_message",
        _completed: "item_completed",
        _review: "exited_review_mode",
        _rolled_back: "thread_rolled_back",
        _named: "thread_name_updated",
        _report: "exec_command_end patch_apply_end mcp_tool_call_end dynamic_tool_call_response",
        _boundary: "task_started task_complete turn_started turn_complete turn_completed turn_aborted shutdown_complete",
        _nothing: "agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break token_count context_compacted"
        " web_search_begin web_search_end image_generation_begin image_generation_end entered_review_mode"
        " sub_agent_activity thread_settings_applied thread_goal_updated guardian_assessment guardian_warning"
        " view_image_tool_call dynamic_tool_call_request collab_agent_spawn_begin collab_agent_spawn_end"
        " collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin collab_waiting_end"
        " collab_close_begin collab_close_end collab_resume_begin collab_resume_end error warning stream_error"
        " undo_started undo_completed background_event plan_update turn_diff session_configured"
        " exec_command_begin mcp_tool_call_begin patch_apply_begin model_reroute model_verification"
        " deprecation_notice item_started hook_started hook_completed",
    }
)
"""What to do with an event of this type. Those that repeat what stands elsewhere, or are for the screen alone, do nothing."""
