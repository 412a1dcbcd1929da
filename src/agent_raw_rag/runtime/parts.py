"""What a runtime is made of: readers, models, indexes, the agents there are. Each made at first use; the home of lazy imports."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from agent_raw_rag.errors import ConfigError, UsageError
from agent_raw_rag.runtime.models import Models
from agent_raw_rag.runtime.sharing import Sharing
from agent_raw_rag.runtime.spaces import VectorSpaces
from agent_raw_rag.store.homes import DEFAULT_SPACE

if TYPE_CHECKING:
    from datetime import tzinfo

    from agent_raw_rag.adapters.base import Adapter, Root
    from agent_raw_rag.config import SearchSettings, Settings
    from agent_raw_rag.encode.base import Encoder, Reranker
    from agent_raw_rag.encode.late import Late
    from agent_raw_rag.ingest.run import IngestOptions
    from agent_raw_rag.models import Tokenizer
    from agent_raw_rag.search.browse import Browser
    from agent_raw_rag.search.funnel import Funnel
    from agent_raw_rag.store.reader import Reader
    from agent_raw_rag.store.spaces import SpaceRow


@dataclass
class Parts:
    """The parts of one process's view of one store. Safe to use from several threads."""

    settings: Settings
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    space: str = DEFAULT_SPACE
    """The space whose store this is."""
    shared: Models | None = field(default=None, repr=False)
    """The models of the home's default space, where this is another one: they are loaded once."""
    models: Models = field(init=False, repr=False)
    """Encoders and rerankers, as the settings and the store's spaces mean them."""
    spaces: VectorSpaces = field(init=False, repr=False)
    """The vector spaces of the store: filling, listing, dropping them, and the encoder of the one that is searched."""
    _funnel: Funnel | None = field(default=None, init=False, repr=False)
    _local: threading.local = field(default_factory=threading.local, repr=False)
    _loading: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        # At once: two threads that made them at first use would each load a model (since 3.12 cached_property has no lock).
        self.models = self.shared or Models(self.settings, self.environment, Sharing(self.home))
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

    def _chosen(self, agents: list[str] | None) -> dict[str, tuple[Adapter, tuple[Root, ...]]]:
        from agent_raw_rag.adapters.registry import adapter

        enabled = self.agents()
        for name in agents or ():
            adapter(name)  # an unknown name is an error that lists the known ones
            if name not in enabled:
                raise UsageError(f"Agent {name!r} is switched off.", hint=f"Set sources.{name}.enabled = true.")
        return {name: enabled[name] for name in (agents or enabled)}

    def enabled(self, agent: str) -> tuple[Adapter, tuple[Root, ...]]:
        """An agent's row, with the folders its logs are looked for in.

        Raises:
            UsageError: it is unknown, or switched off.
        """
        return next(iter(self._chosen([agent]).values()))

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

        return Funnel(home, reader, encoder, search, self.reranker)

    def reranker(self) -> Reranker | Late | None:
        """The reranker that the settings mean; None: none is set. Raises ModelError."""
        return self.models.reranker(self._searched_space())

    def _searched_space(self) -> SpaceRow | None:
        """The space that is searched; None: none yet, or there is no store."""
        return self.spaces.active() if os.path.exists(self.settings.store_path()) else None

    def _indexed_up_to(self) -> int:
        return self.funnel.words.index(self.reader).high_water
