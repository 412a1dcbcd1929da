"""The five tools: their signatures, what a model reads about them, and the call of the runtime behind each."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import BeforeValidator, Field, WithJsonSchema

from agent_raw_rag.adapters.registry import BUILT_IN
from agent_raw_rag.models import DOORS, Ask
from agent_raw_rag.runtime import heartbeat
from agent_raw_rag.search.fence import one_line
from agent_raw_rag.server import wire
from agent_raw_rag.server.budget import keep_within
from agent_raw_rag.server.catch_up import CatchUp
from agent_raw_rag.server.ingesting import read_now
from agent_raw_rag.server.making import answer
from agent_raw_rag.server.progress import Ticker
from agent_raw_rag.server.project import Surroundings
from agent_raw_rag.server.status import bounded, status_content, status_text
from agent_raw_rag.server.text import CUT, EVERYWHERE, ingest_text, search_text, turns_text

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.search.browse import ReadTurn, TurnsResult
    from agent_raw_rag.search.result import SearchResult

Item = TypeVar("Item")
ALL_PROJECTS = "*"
NOTE_TOKENS = 12
"""What the note about dropped passages may cost."""
_LEFT_OUT = re.compile(r" \[…\d+ tokens left out\]\Z")


def absent(value: object) -> object:
    """None for what stands for it: models pass "" where they mean nothing."""
    return None if isinstance(value, str) and not value.strip() else value


Words = Annotated[str | None, BeforeValidator(absent), WithJsonSchema({"type": "string"})]
Number = Annotated[int | None, BeforeValidator(absent), WithJsonSchema({"type": "integer"})]

Project = Annotated[Words, Field(description='Folder of the project. Default: the current one. "*": all')]
Agent = Annotated[Words, Field(description=f"Only this agent: {', '.join(BUILT_IN)}")]
AgentOrDoor = Annotated[Words, Field(description=f"{', '.join(BUILT_IN)}; mcp, http: captured")]
After = Annotated[Words, Field(description="2026-11-30, 2026-11, 2026, an instant, yesterday, 7d, last week")]
Before = Annotated[Words, Field(description="Likewise; inclusive")]
Branch = Annotated[Words, Field(description="Git branch")]
Role = Annotated[Words, Field(description="user, assistant, task, summary, event or tool")]
Session = Annotated[Words, Field(description="Session id")]
TopK = Annotated[Number, Field(description="Passages at most, 1-100; default 15")]
Budget = Annotated[Number, Field(description="Token budget of the answer; default 6000")]
Limit = Annotated[Number, Field(description="1-1000; default 30")]
Around = Annotated[Number, Field(description="How many turns; default 2")]
Offset = Annotated[Number, Field(description="Characters of that turn to skip: to read on in a long one")]


@dataclass
class Tools:
    """The tools over one runtime, opened at the first call."""

    runtime: Callable[[], Runtime]
    surroundings: Surroundings
    catch_up: CatchUp | None = None
    mark: Callable[[], str] = field(default=lambda: secrets.token_hex(5))
    """A new fence for each answer: what is quoted cannot know it, and so cannot close it."""

    def raw_rag_search(
        self, query: Annotated[str, Field(description="What you want to know, in plain words")], context: Context,
        project_path: Project = None, agent: AgentOrDoor = None, after_date: After = None, before_date: Before = None,
        branch: Branch = None, role: Role = None, session: Session = None, top_k: TopK = None, max_tokens: Budget = None,
    ) -> Annotated[CallToolResult, wire.Found]:  # fmt: skip
        """Find what was said and done in past coding-agent sessions on this machine: exact turns, oldest first.

        Search before deciding again, after a compaction, and when the user refers to earlier work. Any language;
        names, paths and error texts match exactly."""
        project, told = self.where(project_path, context, agent)
        ask = _ask(project, agent, after=after_date, before=before_date, branch=branch, role=role, session=session)
        runtime = self.runtime()
        runtime.models.sharing.expect_counts(lambda: runtime.tokenizer)
        result = runtime.search(query, ask, top_k=top_k, max_tokens=max_tokens)
        result.notes += [*told, *self.lag()]
        if any(one.truncated for one in result.passages):
            result.notes.append(CUT)
        mark, where = self.mark(), place(project)
        return self._fitted(
            max_tokens, result, result.passages, lambda one: one.rank,
            lambda: (search_text(result, where, mark), wire.found(result, project)),
        )  # fmt: skip

    def raw_rag_recent(
        self, context: Context, project_path: Project = None, limit_turns: Limit = None, agent: AgentOrDoor = None,
        max_tokens: Budget = None,
    ) -> Annotated[CallToolResult, wire.Turns]:  # fmt: skip
        """The last turns of a project, across all agents, oldest first: what was going on here."""
        project = self._project(project_path, context, agent)
        limit = 30 if limit_turns is None else limit_turns
        result = self.runtime().recent(_ask(project, agent), limit=limit, max_tokens=max_tokens)
        result.notes += self.lag()
        newest = {id(one): -place for place, one in enumerate(result.turns)}
        return self._turns(result, place(project), max_tokens, lambda one: newest[id(one)], None)

    def raw_rag_context(
        self, session: Annotated[str, Field(description="Session id, as an answer gives it")],
        turn: Annotated[int, Field(description="Turn number")], before: Around = None, after: Around = None,
        max_tokens: Budget = None, offset: Offset = None,
    ) -> Annotated[CallToolResult, wire.Turns]:  # fmt: skip
        """Read around a turn that a search found, or the rest of one that was cut."""
        around = {"before": 2 if before is None else before, "after": 2 if after is None else after}
        start = offset or 0
        result = self.runtime().context(session, turn, **around, max_tokens=max_tokens, offset=start)
        where, offset_after = f"around turn {turn} of its session", _next_offset(result, turn, start)
        return self._turns(result, where, max_tokens, lambda one: abs(one.turn - turn), offset_after)

    def raw_rag_ingest(
        self, context: Context, agent: Agent = None
    ) -> Annotated[CallToolResult, wire.Ingested]:  # fmt: skip
        """Read what is new in the agents' logs now. Seldom needed: the server does so when it starts."""
        report = read_now(self.runtime(), [agent] if agent else None, Ticker(context))
        return answer(ingest_text(report), report.as_json())

    def raw_rag_status(self, agent: Agent = None) -> Annotated[CallToolResult, wire.Status]:
        """What is stored of each agent, what ranks, whether a daemon keeps it current and how far it lags, what went wrong."""
        runtime = self.runtime()
        status, daemon = runtime.status(agent), heartbeat.state(runtime.home)
        status.problems += self.lag()
        short = bounded(status)
        return answer(status_text(short, daemon), status_content(short, daemon))

    def _project(self, asked: str | None, context: Context, agent: str | None = None) -> str:
        if agent in DOORS:  # what came through one is seldom of any project
            return asked or ALL_PROJECTS
        return asked or self.surroundings.project(context)

    def where(self, asked: str | None, context: Context, agent: str | None = None) -> tuple[str, list[str]]:
        """The project that a question means, and what to say of it: one without any history would answer nothing, ever."""
        project = self._project(asked, context, agent)
        if asked or project == ALL_PROJECTS or self.runtime().sessions(Ask(project=project), 1):
            return project, []
        return ALL_PROJECTS, [f"{one_line(project)} has no history, so all projects were searched."]

    def lag(self) -> list[str]:
        """What an answer has to say of a catch-up that is still running."""
        running = self.catch_up.running() if self.catch_up else None
        return [running] if running else []

    def _turns(
        self, result: TurnsResult, where: str, max_tokens: int | None, unwanted: Callable[[ReadTurn], int],
        next_offset: int | None,
    ) -> CallToolResult:  # fmt: skip
        mark = self.mark()
        return self._fitted(
            max_tokens, result, result.turns, unwanted,
            lambda: (turns_text(result, where, mark, next_offset), wire.turns(result, next_offset)),
        )  # fmt: skip

    def _fitted(
        self, max_tokens: int | None, result: SearchResult | TurnsResult, items: list[Item],
        unwanted: Callable[[Item], int], render: Callable[[], tuple[str, dict[str, Any]]],
    ) -> CallToolResult:  # fmt: skip
        runtime = self.runtime()
        budget = max_tokens or runtime.settings.search.max_tokens
        dropped = keep_within(budget - NOTE_TOKENS, items, unwanted, render, runtime.token_counts)
        if dropped:
            result.notes.append(f"{dropped} more left out to keep within {budget} tokens.")
        return answer(*render())


def _ask(project: str, agent: str | None, **filters: str | None) -> Ask:
    return Ask(project=project, agent=agent, **filters)


def place(project: str) -> str:
    """A project, or all of them, in words."""
    return EVERYWHERE if project == ALL_PROJECTS else project


def _next_offset(result: TurnsResult, turn: int, start: int) -> int | None:
    """Where reading on in a turn that was cut begins; None: it was not cut."""
    cut = next((one for one in result.turns if one.turn == turn and one.truncated), None)
    return start + len(_LEFT_OUT.sub("", cut.text)) if cut else None
