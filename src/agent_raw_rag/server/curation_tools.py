"""The curation tools, for whoever may decide what becomes a note: shown only where they were asked for.

Like ``memory_tools``: plain functions that the SDK runs in a worker thread, for any host.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import Field

from agent_raw_rag.memory.results import Candidates, History, JournalShown, Memory, Promoted, Proposed
from agent_raw_rag.models import Actor
from agent_raw_rag.server import curation_wire
from agent_raw_rag.server.making import APPENDS, READS, REPLACES, answer, tool_of
from agent_raw_rag.server.memory_tools import KINDS
from agent_raw_rag.server.tools import Number, Words

if TYPE_CHECKING:
    from agent_raw_rag.runtime import memory as runtime_memory

NO_CANDIDATES = "No candidates."
NO_ACTS = "Nothing is written down."

NoteId = Annotated[str, Field(description="Id of a note: n…")]
CandidateId = Annotated[str, Field(description="Id of a candidate: c…")]


@dataclass(frozen=True)
class CurationTools:
    """The tools over the memory of whichever space a call works in."""

    memory_of: Callable[[Context], runtime_memory.Memory]
    actor_of: Callable[[Context], Actor]
    mark: Callable[[], str] = field(default=lambda: secrets.token_hex(5))

    def memory_propose(
        self, statement: Annotated[str, Field(description="The statement, complete by itself; 3-600 characters")],
        quote: Annotated[str, Field(description="Words of the evidence, copied exactly, that say so")],
        evidence: Annotated[list[str], Field(description="event_id of each turn it rests on")],
        context: Context,
        kind: Annotated[Words, Field(description=f"{KINDS}; default fact")] = None,
        importance: Annotated[Words, Field(description="low, medium or high; high needs statement = quote")] = None,
    ) -> Annotated[CallToolResult, curation_wire.Proposed]:  # fmt: skip
        """Propose a statement that follows from recorded raw events. It is checked at once and waits as a candidate until it
        is promoted."""
        from agent_raw_rag.memory.promotion import Propose

        ask = Propose(statement, quote, tuple(evidence), kind or "fact", importance or "medium")
        proposed = self.memory_of(context).promotion.propose(ask, self.actor_of(context))
        return answer(_proposed(proposed), proposed.as_json())

    def memory_candidates(
        self, context: Context,
        status: Annotated[
            Words, Field(description="pending, conflict, promoted, rejected or all; default pending and conflict")
        ] = None,
        limit: Annotated[Number, Field(description="1-1000; default 50")] = None,
    ) -> Annotated[CallToolResult, curation_wire.Candidates]:  # fmt: skip
        """Statements that wait for a decision, newest first, with the words they rest on."""
        found = self.memory_of(context).promotion.candidates(status, 50 if limit is None else limit)
        return answer(self._fenced(_as_memories(found), _grounds(found)) or NO_CANDIDATES, found.as_json())

    def memory_promote(
        self, ids: Annotated[list[str], Field(description="Ids of candidates: c…")], context: Context,
        note: Annotated[Words, Field(description="Why, in a few words")] = None,
    ) -> Annotated[CallToolResult, curation_wire.Promoted]:  # fmt: skip
        """Make notes of candidates, all or none. One that contradicts a note is refused once; promoted again, it replaces it."""
        promoted = self.memory_of(context).promotion.promote(ids, self.actor_of(context), note)
        return answer(_promoted(promoted), promoted.as_json())

    def memory_reject(
        self, id: CandidateId, reason: Annotated[str, Field(description="Why, in a few words")],  # noqa: A002 - the contract
        context: Context,
    ) -> Annotated[CallToolResult, curation_wire.Rejected]:  # fmt: skip
        """Hide a candidate that is not worth a note. What it rests on stays."""
        rejected = self.memory_of(context).promotion.reject(id, reason, self.actor_of(context))
        return answer(f"{rejected.candidate_id} is rejected.", rejected.as_json())

    def memory_history(
        self,
        id: NoteId,  # noqa: A002 - the contract
        context: Context,
    ) -> Annotated[CallToolResult, curation_wire.History]:
        """What a note was before and what became of it, oldest first."""
        found = self.memory_of(context).notes.history(id)
        return answer(self._fenced(_versions(found), _ends(found)), found.as_json())

    def memory_journal(
        self, context: Context, limit: Annotated[Number, Field(description="1-10000; default 50")] = None,
        since: Annotated[Words, Field(description="2026-11-30, an instant, yesterday, 7d, last week")] = None,
    ) -> Annotated[CallToolResult, curation_wire.Journal]:  # fmt: skip
        """Who wrote, decided or was denied what in this space: the last acts, oldest first. It names ids, never words."""
        shown = self.memory_of(context).journal.rows(50 if limit is None else limit, since)
        return answer(_acts(shown), shown.as_json())

    def _fenced(self, memories: Iterable[Memory], further: Mapping[str, Sequence[str]]) -> str:
        from agent_raw_rag.memory.render import rendered

        return rendered(list(memories), self.mark(), further=further)


def curation_tools(
    memory_of: Callable[[Context], runtime_memory.Memory], actor_of: Callable[[Context], Actor]
) -> list[Tool]:
    """The six curation tools. See ``memory_tools`` for the arguments."""
    tools = CurationTools(memory_of, actor_of)
    return [
        tool_of(tools.memory_propose, "Propose a note", APPENDS),
        tool_of(tools.memory_candidates, "List candidates", READS),
        tool_of(tools.memory_promote, "Promote candidates", REPLACES),
        tool_of(tools.memory_reject, "Reject a candidate", REPLACES),
        tool_of(tools.memory_history, "History of a note", READS),
        tool_of(tools.memory_journal, "Read the journal", READS),
    ]


def _proposed(one: Proposed) -> str:
    again = "" if one.created else " It was proposed before."
    about = f" See {one.candidate.note}." if one.candidate.note else ""
    return f"{one.candidate.id} is {one.candidate.status}.{about}{again}"


def _promoted(found: Promoted) -> str:
    lines = []
    for one in found.promoted:
        how = "was merged into" if one.merged else "is"
        lines.append(
            f"{one.candidate_id} {how} {one.node_id}{f', instead of {one.superseded}' if one.superseded else ''}."
        )
    return "\n".join(lines)


def _as_memories(found: Candidates) -> list[Memory]:
    return [
        Memory(
            source_id=one.id, timestamp=one.created, layer="atom", kind=f"{one.kind}, {one.status}", text=one.statement,
            topic=None, source=one.source, author=one.proposer, score=None, evidence=one.evidence,
        )
        for one in found.candidates
    ]  # fmt: skip


def _grounds(found: Candidates) -> dict[str, list[str]]:
    """Candidate -> what it rests on, and what was said of it."""
    return {
        one.id: [
            f"quote: {one.quote}", f"evidence {', '.join(one.evidence)}",
            *([f"note {one.note}"] if one.note else []), *([f"reason: {one.reason}"] if one.reason else []),
        ]
        for one in found.candidates
    }  # fmt: skip


def _ends(found: History) -> dict[str, list[str]]:
    """Note -> why it no longer holds, and what took its place."""
    return {
        one.id: [
            *([f"reason: {one.reason}"] if one.reason else []),
            *([f"superseded by {one.superseded_by}"] if one.superseded_by else []),
        ]
        for one in found.notes
    }  # fmt: skip


def _versions(found: History) -> list[Memory]:
    return [
        Memory(
            source_id=one.id, timestamp=one.created, layer="atom", kind=f"{one.kind}, {one.status}", text=one.statement,
            topic=one.topic, source=one.source, author=one.author, score=None, evidence=one.evidence, tags=one.tags,
        )
        for one in found.notes
    ]  # fmt: skip


def _acts(shown: JournalShown) -> str:
    lines = [
        f"{row['id']} {row['time']} {row['actor']} {row['action']} {row['target'] or ''}".rstrip() for row in shown.rows
    ]
    return "\n".join(lines) or NO_ACTS
