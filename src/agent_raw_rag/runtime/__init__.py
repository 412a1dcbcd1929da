"""Composition root: settings -> store, models, indexes, use cases. The one home of lazy imports.

Hosts call nothing but this. Everything heavy is imported and opened at first use: a handshake or ``--help`` pays for none of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from agent_raw_rag import __version__
from agent_raw_rag.errors import UsageError
from agent_raw_rag.models import DOORS, Actor, Ask, ProjectItem
from agent_raw_rag.runtime.backlogs import keep_up
from agent_raw_rag.runtime.expected import expected
from agent_raw_rag.runtime.parts import Parts
from agent_raw_rag.runtime.reopening import Reopening, needed, reopening
from agent_raw_rag.runtime.rooms import Rooms
from agent_raw_rag.runtime.upkeep import Upkeep
from agent_raw_rag.store.homes import DEFAULT_SPACE, space_path

if TYPE_CHECKING:
    from agent_raw_rag.ingest.forget import Forgotten
    from agent_raw_rag.ingest.run import IngestReport, Note
    from agent_raw_rag.memory.admission import Admission
    from agent_raw_rag.memory.logins import Logins
    from agent_raw_rag.memory.spaces import SpaceRegistry
    from agent_raw_rag.memory.tokens import Tokens
    from agent_raw_rag.runtime.chat import Chat
    from agent_raw_rag.runtime.memory import Memory
    from agent_raw_rag.runtime.portable import Portable
    from agent_raw_rag.search.browse import SessionItem, TurnsResult
    from agent_raw_rag.search.result import SearchResult
    from agent_raw_rag.search.status import StatusReport
    from agent_raw_rag.store.connection import Connection
    from agent_raw_rag.store.reader import Scope
    from agent_raw_rag.store.rows import SessionRow

ALL_PROJECTS = "*"
OWNER = Actor("owner", "cli")
__all__ = ["ALL_PROJECTS", "Ask", "ProjectItem", "Runtime", "expected"]


@dataclass
class Runtime(Parts):
    """One process's view of one store. Safe to use from several threads."""

    @classmethod
    def load(cls, config: str | None = None, environment: Mapping[str, str] | None = None) -> Runtime:
        """The runtime of a configuration.

        Raises:
            ConfigError: it cannot be read, or holds something unknown.
        """
        from agent_raw_rag.config import load

        env = dict(os.environ) if environment is None else dict(environment)
        return cls(load(config, env, _agent_names), env)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._rooms = Rooms(self._in_space)
        self._memory: Memory | None = None
        self._chat: Chat | None = None

    def in_space(self, slug: str) -> Runtime:
        """The runtime of a space: the same settings and models, and a store of its own. Only asked of the default space's.

        Raises:
            BadArgumentError: no space can have this name. Whether there is one of it is not looked at.
        """
        return self if slug == DEFAULT_SPACE else self._rooms.of(slug)

    def open_space(self, slug: str) -> Runtime:
        """``in_space`` for who names a space that must be there.

        Raises:
            BadArgumentError: no space can have this name.
            NotFoundError: there is none of it, or it is disabled.
        """
        from agent_raw_rag.memory.spaces import no_space
        from agent_raw_rag.store.memory_spaces import MemorySpaceTable

        room = self.in_space(slug)
        if room is self:
            return self
        there = os.path.exists(self.settings.store_path())
        row = MemorySpaceTable(self.reader.connection).row(slug) if there else None
        if row is None or not row.enabled:
            raise no_space(slug)
        return room

    def _in_space(self, slug: str) -> Runtime:
        path = space_path(self.settings.store_path(), slug)
        store = self.settings.store.model_copy(update={"path": path})
        return Runtime(self.settings.model_copy(update={"store": store}), self.environment, slug, self.models)

    @property
    def memory(self) -> Memory:
        """What agents and people tell this space, and what it keeps of it."""
        from agent_raw_rag.runtime.memory import Memory

        with self._loading:  # made once, by whichever thread comes first
            self._memory = self._memory or Memory(self)
            return self._memory

    @property
    def chat(self) -> Chat:
        """Chats with a model that has this space's memory; ``Chat.is_set_up`` says whether there is one."""
        from agent_raw_rag.runtime.chat import Chat

        with self._loading:
            self._chat = self._chat or Chat(self, self.memory)
            return self._chat

    def portable(self, slug: str = DEFAULT_SPACE) -> Portable:
        """Taking a space elsewhere, and bringing it back. Only asked of the default space's.

        Raises:
            BadArgumentError, NotFoundError: there is no such space.
        """
        from agent_raw_rag.runtime.portable import Portable

        return Portable(self.open_space(slug), self)

    @cached_property
    def tokens(self) -> Tokens:
        """The tokens that open spaces over HTTP. They stand in the home's store: only asked of the default space's runtime."""
        from agent_raw_rag.memory.tokens import Tokens

        return Tokens(self._home_store)

    @cached_property
    def logins(self) -> Logins:
        """One-time codes for the page. Only asked of the default space's runtime."""
        from agent_raw_rag.memory.logins import Logins

        return Logins(self._home_store)

    @cached_property
    def spaces_registry(self) -> SpaceRegistry:
        """The memory spaces there are. Only asked of the default space's runtime."""
        from agent_raw_rag.memory.spaces import SpaceRegistry

        return SpaceRegistry(self._home_store)

    def admission(self, legacy: Iterable[str] = ()) -> Admission:
        """Who may come in by HTTP, as it is at each moment. ``legacy``: tokens besides those that are stored."""
        from agent_raw_rag.memory.admission import Admission
        from agent_raw_rag.store.connection import connect

        path = self.settings.store_path()
        return Admission(path, lambda: connect(path, write=False), legacy)

    @contextmanager
    def _home_store(self) -> Iterator[Connection]:
        from agent_raw_rag.store.durable import connect_durable

        connection = connect_durable(self.settings.store_path())
        try:
            yield connection
        finally:
            connection.close()

    # ------------------------------------------------------------ writing

    def ingest(
        self, agents: list[str] | None = None, *, again: bool = False, wait_seconds: float = 10.0, embed: bool = True,
        only: Collection[str] | None = None, on_note: Callable[[Note], None] = lambda note: None,
    ) -> IngestReport:  # fmt: skip
        """Read what is new in the logs, index it, and embed the backlog.

        Args:
            agents: Only these; None: all enabled ones.
            again: Read everything that can still be read once more (``--rebuild``).
            wait_seconds: How long to wait for another writer.
            embed: Make vectors too; without, they stay a backlog.
            only: Of the agents' sources, these paths; see ``IngestRun.run``.
            on_note: Called with progress, from this thread. What it raises ends the run between two batches.

        Raises:
            UsageError: an unknown or disabled agent.
            StoreBusyError: another process writes; the message says who.
        """
        from agent_raw_rag.ingest.run import IngestRun

        chosen, began = self._chosen(agents), time.perf_counter()
        with self._writing(wait_seconds, "ingest") as connection:
            run = IngestRun(connection, self.home, self.tokenizer, self.ingest_options, on_note)
            report = run.run(chosen, again=again, only=only)
        if embed:
            self.spaces.embed(report, on_note)
        else:
            if only is None:
                self.spaces.feed()
            report.backlog = self.spaces.backlog()
        if only is None:
            keep_up(self, report, on_note, embed=embed)
        report.seconds = round(time.perf_counter() - began, 3)
        return report

    def forget(
        self, scope: Scope, *, dry_run: bool = False, actor: Actor = OWNER, reason: str | None = None,
        target: str | None = None, kept: bool = False,
    ) -> Forgotten:  # fmt: skip
        """Forget everything in a scope for good, from the text, the vectors and every derived file. The journal says who did it,
        why, and how much it was; ``target`` is what it is called there. What is kept stays, unless ``kept``.

        Raises:
            ProtectedError: the scope names a session that is kept.
            StoreBusyError: another process writes.
        """
        from agent_raw_rag.ingest.run import IngestRun
        from agent_raw_rag.runtime.forgetting import written_down

        with self._writing(10.0, "forget") as connection:
            run = IngestRun(connection, self.home, self.tokenizer, self.ingest_options)
            also = written_down(actor, reason, target, redacting=self.settings.sanitize.redact)
            return run.forget(scope, dry_run=dry_run, kept=kept, also=also)

    def forget_scope(self, ask: Ask) -> Scope:
        """The part of the store that filters name, with the sub-agents of a session.

        Raises:
            UsageError: an unknown agent or date.
            NotFoundError: no such session.
        """
        from agent_raw_rag.ingest.forget import with_sub_agents

        scope = self.scope(ask)
        family = (number for session in scope.sessions for number in with_sub_agents(self.reader, session))
        return replace(scope, sessions=tuple(family))

    @contextmanager
    def _writing(self, wait_seconds: float, purpose: str) -> Iterator[Connection]:
        from agent_raw_rag.store.connection import connect
        from agent_raw_rag.store.lock import WRITER, lock

        with lock(self.home, WRITER, wait_seconds=wait_seconds, purpose=purpose):
            connection = connect(self.settings.store_path(), write=True)
            try:
                yield connection
            finally:
                connection.close()

    # ------------------------------------------------------------ reading

    def search(
        self, query: str, ask: Ask, *, top_k: int | None = None, max_tokens: int | None = None, again: bool = True
    ) -> SearchResult:
        """The passages that answer a query. ``again``: read them again with the reranker, which takes most of the time.

        Raises:
            UsageError: a bad filter or number, an empty query.
            StoreError: there is no store yet.
        """
        asked_at = time.monotonic()
        if not query.strip():
            raise UsageError("The query is empty.", hint="Ask in your own words, as you would ask a colleague.")
        limit = _within("top_k", top_k, self.settings.search.top_k, 1, 100)
        budget = _within("max_tokens", max_tokens, self.settings.search.max_tokens, 200, 100_000)
        return self.funnel.search(
            query, self.scope(ask), limit, max_tokens=budget, zone=self.zone, resume=self.resume, asked_at=asked_at, again=again,
        )  # fmt: skip

    def recent(self, ask: Ask, *, limit: int = 30, max_tokens: int | None = None) -> TurnsResult:
        """The last turns of a project."""
        count = _within("limit_turns", limit, 30, 1, 1000)
        budget = _within("max_tokens", max_tokens, self.settings.search.max_tokens, 200, 100_000)
        result = self.browser.recent(self.scope(ask), count, budget)
        if not result.turns:
            result.projects = self.project_names()
        return result

    def context(
        self,
        session: str,
        turn: int,
        *,
        before: int = 2,
        after: int = 2,
        max_tokens: int | None = None,
        offset: int = 0,
    ) -> TurnsResult:
        """The turns around one."""
        budget = _within("max_tokens", max_tokens, self.settings.search.max_tokens, 200, 100_000)
        before, after = _within("before", before, 2, 0, 200), _within("after", after, 2, 0, 200)
        turn, offset = _within("turn", turn, 1, 1, 1 << 40), _within("offset", offset, 0, 0, 1 << 40)
        return self._resumable(self.browser.context(session, turn, before, after, budget, offset))

    def show(self, session: str) -> TurnsResult:
        """All turns of a session."""
        return self._resumable(self.browser.whole(session))

    def sessions(self, ask: Ask, limit: int = -1) -> list[SessionItem]:
        """Sessions, the one last spoken in first."""
        return [self.resumable(item) for item in self.browser.sessions(self.scope(ask), limit)]

    def _resumable(self, result: TurnsResult) -> TurnsResult:
        result.session = self.resumable(result.session) if result.session else None
        return result

    def resumable(self, item: SessionItem) -> SessionItem:
        """A session of a list, with the command that reopens it."""
        native = item.session.removeprefix(f"{item.agent}:")
        way = reopening(item.agent, native, item.cwd, item.parent_kind, item.source)
        return replace(item, resume=way.shown if way else None)

    def projects(self) -> list[ProjectItem]:
        """The projects there are, with what is in them."""
        from agent_raw_rag.search.zone import shown

        rows, zone = self.reader.projects(), self.zone
        return [ProjectItem(project, sessions, shown(last, zone)) for project, sessions, last in rows]

    def project_names(self, limit: int | None = 30) -> list[str]:
        """The projects there are, the one last spoken in first; None: all."""
        return self.reader.project_names(-1 if limit is None else limit)

    def session_names(self) -> list[str]:
        """The ids of the sessions there are, the one last spoken in first."""
        return self.reader.session_names()

    def status(self, agent: str | None = None) -> StatusReport:
        """What is stored, what ranks, and what went wrong."""
        from agent_raw_rag.runtime import tally
        from agent_raw_rag.search.status import status_report

        if agent is not None and agent not in DOORS:
            self._chosen([agent])
        report = status_report(
            self.reader, self.settings.store_path(), __version__, self.spaces.facts(), self._indexed_up_to(), agent,
            self.zone,
        )  # fmt: skip
        tally.tell(report, self.home)
        return report

    @property
    def upkeep(self) -> Upkeep:
        """Looking after the store."""
        return Upkeep(self.home, self.settings.store_path(), lambda: self.reader)

    def scope(self, ask: Ask) -> Scope:
        """The part of the store that a caller's filters mean.

        Raises:
            UsageError: an unknown agent, role or date.
            NotFoundError: no such session.
        """
        from agent_raw_rag.search.scope import scope_of

        return scope_of(
            self.reader,
            agents=tuple(self._agent_name(ask.agent)),
            project=None if ask.project in (None, ALL_PROJECTS) else ask.project,
            after=ask.after, before=ask.before, branch=ask.branch, role=ask.role, session=ask.session, zone=self.zone,
        )  # fmt: skip

    def _agent_name(self, agent: str | None) -> list[str]:
        from agent_raw_rag.adapters.registry import adapter

        if agent in DOORS:
            return [agent]
        return [adapter(agent).agent] if agent else []

    def resume(self, session: SessionRow) -> str | None:
        """The command line that reopens a session in its agent, from the folder it was started in."""
        path = self.reader.source_path(session.source_id)
        way = reopening(session.agent, session.native, session.cwd, session.parent_kind, path)
        return way.shown if way else None

    def reopening(self, session: str) -> Reopening:
        """How a session is reopened.

        Raises:
            NotFoundError: there is no such session, or no command reopens it.
        """
        row = self.reader.session(session)
        path = self.reader.source_path(row.source_id)
        return needed(reopening(row.agent, row.native, row.cwd, row.parent_kind, path), row)


def _agent_names() -> tuple[str, ...]:
    from agent_raw_rag.adapters.registry import adapters

    return tuple(adapters())


def _within(name: str, value: int | None, default: int, least: int, most: int) -> int:
    if value is None:
        return default
    if not least <= value <= most:
        raise UsageError(f"{name} is {value}, and must be from {least} to {most}.")
    return value
