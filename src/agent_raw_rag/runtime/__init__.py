"""Composition root: settings -> store, models, indexes, use cases. The one home of lazy imports.

Hosts call nothing but this. Everything heavy is imported and opened at first use: a handshake or ``--help`` pays for none of it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from agent_raw_rag import __version__
from agent_raw_rag.errors import ConfigError, UsageError
from agent_raw_rag.models import Ask, ProjectItem
from agent_raw_rag.runtime.expected import expected
from agent_raw_rag.runtime.models import Models
from agent_raw_rag.runtime.reopening import Reopening, needed, reopening
from agent_raw_rag.runtime.sharing import Sharing
from agent_raw_rag.runtime.spaces import VectorSpaces
from agent_raw_rag.runtime.upkeep import Upkeep

if TYPE_CHECKING:
    from datetime import tzinfo

    from agent_raw_rag.adapters.base import Adapter, Root
    from agent_raw_rag.config import SearchSettings, Settings
    from agent_raw_rag.encode.base import Encoder
    from agent_raw_rag.ingest.forget import Forgotten
    from agent_raw_rag.ingest.run import IngestOptions, IngestReport, Note
    from agent_raw_rag.models import Tokenizer
    from agent_raw_rag.search.browse import Browser, SessionItem, TurnsResult
    from agent_raw_rag.search.funnel import Funnel
    from agent_raw_rag.search.result import SearchResult
    from agent_raw_rag.search.status import StatusReport
    from agent_raw_rag.store.connection import Connection
    from agent_raw_rag.store.reader import Reader, Scope
    from agent_raw_rag.store.rows import SessionRow
    from agent_raw_rag.store.spaces import SpaceRow

ALL_PROJECTS = "*"
__all__ = ["ALL_PROJECTS", "Ask", "ProjectItem", "Runtime", "expected"]


@dataclass
class Runtime:
    """One process's view of one store. Safe to use from several threads."""

    settings: Settings
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    models: Models = field(init=False, repr=False)
    """Encoders and rerankers, as the settings and the store's spaces mean them."""
    spaces: VectorSpaces = field(init=False, repr=False)
    """The vector spaces of the store: filling, listing, dropping them, and the encoder of the one that is searched."""
    _funnel: Funnel | None = field(default=None, init=False, repr=False)
    _local: threading.local = field(default_factory=threading.local, repr=False)
    _loading: threading.RLock = field(default_factory=threading.RLock, repr=False)

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
        # At once: two threads that made them at first use would each load a model (since 3.12 cached_property has no lock).
        self.models = Models(self.settings, self.environment, Sharing(self.home))
        self.spaces = VectorSpaces(self.home, self.settings, self.models, lambda: self.reader)

    # ------------------------------------------------------------ parts, made at first use

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """cl100k_base from the package's own data."""
        from agent_raw_rag.encode.tokens import tokenizer

        return tokenizer()

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens of cl100k_base each text has."""
        return self.models.sharing.token_counts(texts, lambda: self.tokenizer)

    @property
    def reader(self) -> Reader:
        """The reading side of the store, one connection a thread.

        Raises:
            StoreError: there is no store yet.
        """
        from agent_raw_rag.store.opened import Opened

        opened: Opened | None = getattr(self._local, "opened", None)
        if opened is None or not opened.is_current():  # somebody may have removed or replaced the file
            self._local.opened = opened = Opened.at(self.settings.store_path())
        return opened.reader

    @property
    def home(self) -> str:
        """The folder of the store and of everything derived from it."""
        return os.path.dirname(self.settings.store_path())

    def agents(self) -> dict[str, tuple[Adapter, tuple[Root, ...]]]:
        """The enabled agents, with the folders their logs are looked for in."""
        from agent_raw_rag.adapters.registry import adapters
        from agent_raw_rag.config import SourceSettings, user_home

        home = user_home(self.environment)
        found: dict[str, tuple[Adapter, tuple[Root, ...]]] = {}
        for name, row in adapters().items():
            source = self.settings.sources.get(name, SourceSettings())
            if not source.enabled:
                continue
            folders = [os.path.abspath(os.path.expanduser(folder)) for folder in source.folders]
            if folders and row.folder is None:
                raise ConfigError(f"sources.{name}.folders: the logs of {row.title} cannot be moved.")
            roots = tuple(root for folder in folders if row.folder for root in row.folder(folder))
            found[name] = (row, roots or row.roots(self.environment, home))
        return found

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
        report.seconds = round(time.perf_counter() - began, 3)
        return report

    def forget(self, scope: Scope, *, dry_run: bool = False) -> Forgotten:
        """Forget everything in a scope for good, from the text, the vectors and every derived file."""
        from agent_raw_rag.ingest.run import IngestRun

        with self._writing(10.0, "forget") as connection:
            run = IngestRun(connection, self.home, self.tokenizer, self.ingest_options)
            return run.forget(scope, dry_run=dry_run)

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

    def _chosen(self, agents: list[str] | None) -> dict[str, tuple[Adapter, tuple[Root, ...]]]:
        from agent_raw_rag.adapters.registry import adapter

        enabled = self.agents()
        for name in agents or ():
            adapter(name)  # an unknown name is an error that lists the known ones
            if name not in enabled:
                raise UsageError(f"Agent {name!r} is switched off.", hint=f"Set sources.{name}.enabled = true.")
        return {name: enabled[name] for name in (agents or enabled)}

    @cached_property
    def ingest_options(self) -> IngestOptions:
        """What the settings say about ingest."""
        from agent_raw_rag.chunker import Windows
        from agent_raw_rag.ingest.run import IngestOptions
        from agent_raw_rag.sanitize import Options

        keep, windows = self.settings.sanitize, self.settings.chunks
        return IngestOptions(
            Options(redact=keep.redact, error_tail_lines=keep.error_tail_lines),
            Windows(windows.size, windows.overlap),
        )

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

    def search(self, query: str, ask: Ask, *, top_k: int | None = None, max_tokens: int | None = None) -> SearchResult:
        """The passages that answer a query.

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
            query, self.scope(ask), limit, max_tokens=budget, zone=self.zone, resume=self.resume, asked_at=asked_at
        )

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
        return [self._with_resume(item) for item in self.browser.sessions(self.scope(ask), limit)]

    def _resumable(self, result: TurnsResult) -> TurnsResult:
        result.session = self._with_resume(result.session) if result.session else None
        return result

    def _with_resume(self, item: SessionItem) -> SessionItem:
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
        from agent_raw_rag.search.status import status_report

        if agent is not None:
            self._chosen([agent])
        return status_report(
            self.reader, self.settings.store_path(), __version__, self.spaces.facts(), self._indexed_up_to(), agent,
            self.zone,
        )  # fmt: skip

    @property
    def upkeep(self) -> Upkeep:
        """Looking after the store."""
        return Upkeep(self.home, self.settings.store_path(), lambda: self.reader)

    @property
    def browser(self) -> Browser:
        """The reading use cases."""
        from agent_raw_rag.search.browse import Browser

        return Browser(self.reader, self.zone)

    @property
    def zone(self) -> tzinfo:
        """The user's time zone."""
        from agent_raw_rag.search.zone import SYSTEM_ZONE

        return SYSTEM_ZONE

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

    @property
    def funnel(self) -> Funnel:
        """The ranking stages over this store, made once."""
        with self._loading:
            if self._funnel is None:
                search, encoder = self.settings.search, self.spaces.encoder
                self._funnel = self.funnel_over(self.home, lambda: self.reader, search, encoder)
            return self._funnel

    def funnel_over(
        self, home: str, reader: Callable[[], Reader], search: SearchSettings, encoder: Callable[[], Encoder | None]
    ) -> Funnel:
        """The ranking stages over any store, with other search settings and this runtime's models: for measuring."""
        from agent_raw_rag.search.funnel import Funnel

        return Funnel(home, reader, encoder, search, lambda: self.models.reranker(self._searched_space()))

    def _searched_space(self) -> SpaceRow | None:
        """The space that is searched; None: none yet, or there is no store."""
        return self.spaces.active() if os.path.exists(self.settings.store_path()) else None

    def _indexed_up_to(self) -> int:
        return self.funnel.words.index(self.reader).high_water


def _agent_names() -> tuple[str, ...]:
    from agent_raw_rag.adapters.registry import adapters

    return tuple(adapters())


def _within(name: str, value: int | None, default: int, least: int, most: int) -> int:
    if value is None:
        return default
    if not least <= value <= most:
        raise UsageError(f"{name} is {value}, and must be from {least} to {most}.")
    return value
