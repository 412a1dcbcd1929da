"""Steps of an Antigravity transcript -> events.

There are no call ids: a result belongs to the first open call of the tool that writes results of its type, and one of an
unknown type to the first open call of an unknown tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.adapters._antigravity_text import (
    arguments,
    human_words,
    prompt_of,
    result,
    sender,
    sub_agents,
    tool_name,
)
from agent_raw_rag.adapters.base import State, digest, mapping, millis, sequence, string
from agent_raw_rag.models import Event, Message, Millis, Part, Role, SessionInfo, Text, Thinking, ToolCall, Unknown

INJECTED = frozenset({"CONVERSATION_HISTORY", "KNOWLEDGE_ARTIFACTS", "EPHEMERAL_MESSAGE"})
ANSWERS = frozenset({"PLANNER_RESPONSE", "GENERATE_RESPONSE"})

WRITES = {
    "run_command": "RUN_COMMAND",
    "view_file": "VIEW_FILE",
    "list_dir": "LIST_DIRECTORY",
    "grep_search": "GREP_SEARCH",
    "search_web": "SEARCH_WEB",
    "read_url_content": "READ_URL_CONTENT",
    "generate_image": "GENERATE_IMAGE",
    "invoke_subagent": "INVOKE_SUBAGENT",
    "ask_question": "ASK_QUESTION",
    "replace_file_content": "CODE_ACTION",
    "multi_replace_file_content": "CODE_ACTION",
    "write_to_file": "CODE_ACTION",
    "write_file": "CODE_ACTION",
    "edit_file": "CODE_ACTION",
}
"""Tool -> type of its results."""

RESULTS = frozenset({*WRITES.values(), "GENERIC", "TOOL_RESPONSE"})
OPEN_CALLS = 32
"""Calls older than this many will not be answered any more."""


@dataclass(frozen=True, slots=True)
class Step:
    """An arranged record of a step, and the conversation's state at that place."""

    piece: dict[str, Any]
    state: State

    @property
    def data(self) -> dict[str, Any]:
        """The line as the transcript has it."""
        return mapping(self.piece.get("data"))

    @property
    def kind(self) -> str | None:
        """The step's type."""
        return string(self.data.get("type"))

    @property
    def text(self) -> str:
        """The step's content."""
        return string(self.data.get("content")) or ""

    @property
    def time(self) -> Millis | None:
        """When it was created, to the second."""
        return millis(self.data.get("created_at") or self.piece.get("time"))

    @property
    def id(self) -> str | None:
        """The step's number, with how often it stood before if another step has it too."""
        number, times = self.piece.get("number"), self.piece.get("times")
        return None if number is None else f"{number}.{times}" if times else str(number)

    @property
    def key(self) -> str:
        """Conversation and number; a step without a number has only its content."""
        return f"{self.state['session']}:{self.id or digest(self.kind, self.text, self.data.get('created_at'))}"

    # ------------------------------------------------------------ what was said

    def asked(self, role: Role, words: str) -> Iterator[Event]:
        """Somebody else than the model speaks: what it thought to itself ends here, and its calls are over."""
        yield from self._thought()
        if role is not Role.SUMMARY:
            self.state["calls"] = ()
        if words:
            yield self._message(role, (Text(words),))

    def answered(self, thoughts: object, parts: tuple[Part, ...]) -> Iterator[Event]:
        """The model speaks or calls. If it only thinks, that goes with its next step."""
        own = (thoughts,) if isinstance(thoughts, str) and thoughts.strip() else ()
        self.state["thoughts"] = (*self.state["thoughts"], *own)
        if parts:
            before, self.state["thoughts"] = self.state["thoughts"], ()
            yield self._message(Role.ASSISTANT, (*(Thinking(thought) for thought in before), *parts))

    def _thought(self) -> Iterator[Event]:
        before, self.state["thoughts"] = self.state["thoughts"], ()
        if before:
            yield self._message(Role.ASSISTANT, tuple(Thinking(thought) for thought in before), ":thoughts")

    def _message(self, role: Role, parts: tuple[Part, ...], more: str = "") -> Message:
        return Message(
            role, self.key + more, parts,
            time=self.time, session=self.state["session"], record_id=self.id, group=self.key,
        )  # fmt: skip


def step_events(step: Step) -> Iterator[Event]:
    """Events of one step."""
    if step.time is not None and not step.state["started"]:
        step.state["started"] = True
        yield SessionInfo(session=step.state["session"], started=step.time)
    kind, source = step.kind, step.data.get("source")
    if kind == "USER_INPUT":
        step.state["task"] = step.state["task"] or (source == "SYSTEM" and not step.state["asked"])
        step.state["asked"] = True
        yield from step.asked(Role.TASK if source == "SYSTEM" else Role.USER, human_words(step.text))
    elif kind in ANSWERS:
        yield from step.answered(step.data.get("thinking"), _said_and_called(step))
    elif kind == "CHECKPOINT":
        yield from step.asked(Role.SUMMARY, step.text.strip())
    elif kind == "SYSTEM_MESSAGE":
        yield from _system_message(step)
    elif kind in RESULTS or (kind not in INJECTED and source == "MODEL"):
        yield from _result(step)
    elif kind not in INJECTED:
        yield Unknown(f"step {kind}")


def _said_and_called(step: Step) -> tuple[Part, ...]:
    said: tuple[Part, ...] = (Text(step.text),) if step.text.strip() else ()
    calls = []
    for number, call in enumerate(mapping(call) for call in sequence(step.data.get("tool_calls"))):
        name = tool_name(call.get("name"))
        given = arguments(call.get("args"), step.piece.get("twice") is True)
        calls.append(ToolCall(name, given, f"{step.key}/{number}"))
    waiting = (*step.state["calls"], *([call.call_id, call.name] for call in calls))
    step.state["calls"] = waiting[-OPEN_CALLS:]
    return (*said, *calls)


def _result(step: Step) -> Iterator[Event]:
    if step.kind not in RESULTS:
        yield Unknown(f"step {step.kind}")
    if step.kind == "INVOKE_SUBAGENT":
        own, cwd = step.state["session"], step.state["cwd"]
        for conversation in sub_agents(step.text, own):
            yield SessionInfo(session=conversation, cwd=cwd, parent=own, parent_kind="subagent")
    call = _answered_call(step.kind, step.state["calls"])
    if call is not None:
        step.state["calls"] = tuple(other for other in step.state["calls"] if other is not call)
        yield Message(
            Role.ASSISTANT, f"{step.key}:result", (result(step.data, call[0]),),
            time=step.time, session=step.state["session"],
        )  # fmt: skip


def _answered_call(kind: str | None, waiting: tuple[Any, ...]) -> Any:
    known = kind in WRITES.values()
    fitting = [call for call in waiting if WRITES.get(call[1]) == (kind if known else None)]
    others = [call for call in waiting if call[1] not in WRITES] if known else [*waiting]
    return next(iter(fitting or others), None)


def _system_message(step: Step) -> Iterator[Event]:
    """Never words of the conversation; but a sub-agent learns from one who started it."""
    other = sender(step.text) if step.state["task"] else None
    if other and other != step.state["session"]:
        yield SessionInfo(session=step.state["session"], parent=other, parent_kind="subagent")


# ---------------------------------------------------------------- beside the transcript


def history_prompt(row: dict[str, Any], newest: object, state: State) -> Iterator[Event]:
    """A prompt from the history, for a conversation whose transcripts are both empty.

    While it is the last one that was prompted, its transcripts may be about to be written.
    """
    words, own = prompt_of(row), state["session"]
    if state["variant"] != "clipped" or row.get("conversationId") != own or newest == own or not words:
        return
    time = millis(row.get("timestamp"))
    yield SessionInfo(session=own, cwd=string(row.get("workspace")), started=time)
    yield Message(Role.USER, digest(own, "history", time, words), (Text(words),), time=time, session=own)


def artifact(piece: dict[str, Any], state: State) -> Iterator[Event]:
    """A document that the agent wrote, as it is now."""
    text, name = piece.get("text"), str(piece.get("name"))
    if isinstance(text, str) and text.strip():
        yield Message(
            Role.ASSISTANT, digest(state["session"], "artifact", name), (Text(text),),
            time=millis(piece.get("time")), session=state["session"], record_id=name,
        )  # fmt: skip
