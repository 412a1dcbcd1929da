"""The five memory tools, for any host: stdio has one space and one actor, HTTP reads both from each request.

Each tool is a plain function, which the SDK runs in a worker thread, so that no call holds up another.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import BeforeValidator, Field, WithJsonSchema

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.models import Actor, Capture, Role
from agent_raw_rag.server import memory_wire
from agent_raw_rag.server.making import APPENDS, READS, REPLACES, answer, tool_of
from agent_raw_rag.server.tools import Number, Words, absent

if TYPE_CHECKING:
    from agent_raw_rag.runtime.memory import Memory

ROLES = ("user", "assistant", "tool", "event")
KINDS = "rule, fact, decision, preference, lesson or task"
NOTHING_RECALLED = "Nothing is remembered about this."
NOTHING_FOUND = "No recorded event has these words."

Flag = Annotated[bool | None, BeforeValidator(absent), WithJsonSchema({"type": "boolean"})]
Ids = Annotated[
    list[str] | None, BeforeValidator(absent), WithJsonSchema({"type": "array", "items": {"type": "string"}})
]

Query = Annotated[str, Field(description="What you want to know, in plain words")]
Source = Annotated[str, Field(description="Where it comes from: your name, a person, a file")]
Limit = Annotated[Number, Field(description="1-100; default 5")]
EventLimit = Annotated[Number, Field(description="1-100; default 10")]
Topic = Annotated[Words, Field(description="A label, such as testing or deploys")]
Kind = Annotated[Words, Field(description=KINDS)]


@dataclass(frozen=True)
class MemoryTools:
    """The tools over the memory of whichever space a call works in."""

    memory_of: Callable[[Context], Memory]
    actor_of: Callable[[Context], Actor]
    mark: Callable[[], str] = field(default=lambda: secrets.token_hex(5))

    def memory_recall(
        self, query: Query, context: Context, limit: Limit = None,
        include_raw: Annotated[Flag, Field(description="Raw events too, after the notes")] = None,
        topic: Annotated[Words, Field(description="Only notes with this label")] = None,
        kind: Annotated[Words, Field(description="Only this kind of note")] = None,
        exclude_session: Annotated[Words, Field(description="Your own session: no raw events of it")] = None,
    ) -> Annotated[CallToolResult, memory_wire.Recalled]:  # fmt: skip
        """What was kept on purpose about something: rules first, then facts, decisions, preferences, each with its source.

        Call it before you plan, decide or change something, and when the user refers to what they asked for before."""
        from agent_raw_rag.memory.recall import RecallAsk

        memory = self.memory_of(context)
        raw = memory.include_raw if include_raw is None else include_raw
        found = memory.notes.recall(RecallAsk(query, 5 if limit is None else limit, raw, topic, kind, exclude_session))
        rest = f"\nNot run: {', '.join(found.degraded)}." if found.degraded else ""
        return answer((found.rendered or NOTHING_RECALLED) + rest, found.as_json())

    def memory_save(
        self, content: Annotated[str, Field(description="The statement, complete by itself, in a sentence or two")],
        source: Source, context: Context, topic: Topic = None,
        kind: Annotated[Words, Field(description=f"{KINDS}; default rule")] = None,
        importance: Annotated[Words, Field(description="low, medium or high; default medium")] = None,
        evidence: Annotated[Ids, Field(description="Ids of the events it rests on")] = None,
    ) -> Annotated[CallToolResult, memory_wire.Saved]:  # fmt: skip
        """Keep a statement that must hold from now on, in every later session. For what the user outright wants remembered;
        record everything else with memory_capture. If it corrects a note, use memory_update."""
        from agent_raw_rag.memory.notes import Save

        ask = Save(content, source, topic, kind or "rule", importance or "medium", tuple(evidence or ()))
        saved = self.memory_of(context).notes.save(ask, self.actor_of(context))
        told = f"Saved as {saved.kind} {saved.node_id}." if saved.created else f"Already kept: {saved.node_id}."
        return answer(told, saved.as_json())

    def memory_update(
        self, atom_id: Annotated[str, Field(description="Id that memory_recall or memory_save gave")],
        new_content: Annotated[str, Field(description="The statement that holds now")],
        source: Source, context: Context, note: Annotated[Words, Field(description="Why, in a few words")] = None,
    ) -> Annotated[CallToolResult, memory_wire.Updated]:  # fmt: skip
        """Put a new statement in the place of a note that no longer holds. It keeps topic and kind; the old one stays in the
        history and is recalled no more."""
        updated = self.memory_of(context).notes.update(atom_id, new_content, source, self.actor_of(context), note)
        return answer(f"{updated.new_node_id} replaces {updated.deprecated_atom_id}.", updated.as_json())

    def memory_capture(
        self, content: Annotated[str, Field(description="What was said or done, word for word")], source: Source,
        context: Context,
        session_id: Annotated[Words, Field(description="Your session; default ext:<source>")] = None,
        role: Annotated[Words, Field(description="user, assistant, tool or event; default event")] = None,
        host_turn_id: Annotated[Words, Field(description="Your id of the turn, for retries")] = None,
        timestamp: Annotated[Words, Field(description="When it was; default now")] = None,
    ) -> Annotated[CallToolResult, memory_wire.Captured]:  # fmt: skip
        """Record what was said or done as raw history, for later. memory_search_raw finds it at once, memory_recall after it
        was promoted to a note. Sending it again adds nothing."""
        memory = self.memory_of(context)
        ask = Capture(
            content, source, session=session_id, role=_role(role), host_turn_id=host_turn_id,
            time=memory.instant(timestamp) if timestamp else memory.store.now(),
        )  # fmt: skip
        captured = memory.raw.capture(ask, self.actor_of(context))
        told = (
            f"{captured.event_id}: {captured.note}"
            if captured.recorded
            else f"Nothing recorded: {captured.skipped}. {captured.note}"
        )
        return answer(told, captured.as_json())

    def memory_search_raw(
        self, query: Query, context: Context, limit: EventLimit = None,
        session_id: Annotated[Words, Field(description="Only this session")] = None,
        source: Annotated[Words, Field(description="Only events of this source")] = None,
        after: Annotated[Words, Field(description="2026-11-30, an instant, yesterday, 7d, last week")] = None,
        before: Annotated[Words, Field(description="Likewise")] = None,
    ) -> Annotated[CallToolResult, memory_wire.RawFound]:  # fmt: skip
        """Find recorded raw events by words in any order. For exact words, and when memory_recall has nothing."""
        from agent_raw_rag.memory.raw_search import RawQuery
        from agent_raw_rag.memory.render import rendered
        from agent_raw_rag.memory.results import recalled_event

        ask = RawQuery(query, 10 if limit is None else limit, session_id, source, after, before)
        found = self.memory_of(context).raw.search(ask)
        sessions = {one.event_id: [f"session {one.session_id}"] for one in found.events}
        told = rendered([recalled_event(one) for one in found.events], self.mark(), further=sessions) or NOTHING_FOUND
        return answer(told, found.as_json())


def memory_tools(
    memory_of: Callable[[Context], Memory], actor_of: Callable[[Context], Actor], *, rules: bool = True
) -> list[Tool]:
    """The five memory tools; three without the rule channel.

    Args:
        memory_of: The memory of the space that a call works in; called from a worker thread, for each call.
        actor_of: Who calls, as the journal names them.
        rules: Offer ``memory_save`` and ``memory_update``.
    """
    tools = MemoryTools(memory_of, actor_of)
    channel = [
        tool_of(tools.memory_save, "Keep a statement", APPENDS),
        tool_of(tools.memory_update, "Replace a note", REPLACES),
    ]
    return [
        tool_of(tools.memory_recall, "Recall", READS),
        *(channel if rules else ()),
        tool_of(tools.memory_capture, "Record raw history", APPENDS),
        tool_of(tools.memory_search_raw, "Search raw events", READS),
    ]


def _role(name: str | None) -> Role:
    if name is not None and name not in ROLES:
        raise BadArgumentError(f"There is no role {name[:80]!r}.", hint=f"The roles are: {', '.join(ROLES)}.")
    return Role(name or "event")
