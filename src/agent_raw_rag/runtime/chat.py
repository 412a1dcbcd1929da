"""Chats over one space: its memory, the model of the settings, and what is stored of both sides."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from agent_raw_rag.errors import ConfigError, NotConfiguredError, RawRagError
from agent_raw_rag.log import NAME

if TYPE_CHECKING:
    from agent_raw_rag.config import Settings
    from agent_raw_rag.gateway.asking import Asking, Watching
    from agent_raw_rag.gateway.conversation import Conversation, Store
    from agent_raw_rag.gateway.history import History
    from agent_raw_rag.gateway.prompt import Prompting
    from agent_raw_rag.memory.results import Captured
    from agent_raw_rag.memory.results import Memory as Remembered
    from agent_raw_rag.models import Actor, Capture
    from agent_raw_rag.runtime.memory import Memory
    from agent_raw_rag.runtime.parts import Parts

MOST_PERSONA_BYTES = 4_000_000
STORE_SECONDS = 10.0
"""A locked store is tried so long for each side; nobody waits for that but a process that ends."""
SET_UP = 'Say which in {file}: [llm] url = "http://127.0.0.1:11434/v1", model = "…".'
_log = logging.getLogger(NAME)


def not_set_up(settings: Settings) -> NotConfiguredError:
    """The error of a chat without a model: what is missing, and the file in which to say it."""
    missing = [name for name in ("url", "model") if not getattr(settings.llm, name)]
    lacking = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
    file = settings.file or os.path.join(settings.home, "config.toml")
    return NotConfiguredError(f"No model answers here: [llm] {lacking} not set.", hint=SET_UP.format(file=file))


@dataclass
class Chat:
    """The chats of one space. Safe to use from several threads."""

    parts: Parts
    memory: Memory
    watching: Watching | None = None
    """Sees what goes over the wire."""
    _made: Conversation | None = field(default=None, init=False, repr=False)
    _making: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def is_set_up(self) -> bool:
        """Whether there is a model to ask."""
        return self.parts.settings.llm.is_set_up

    @property
    def model(self) -> str:
        """The one that is asked where nobody names another."""
        return self.parts.settings.llm.model

    @cached_property
    def asking(self) -> Asking:
        """The server of the settings. Raises NotConfiguredError: there is none."""
        from agent_raw_rag.gateway.asking import Asking, Server
        from agent_raw_rag.gateway.upstream import Upstream

        llm = self.parts.settings.llm
        if not llm.is_set_up:
            raise not_set_up(self.parts.settings)
        upstream = Upstream("[llm]", llm.url, llm.form, llm.key_variable, connect_seconds=llm.connect_seconds)
        return Asking(Server(upstream, llm.model, self.parts.environment, llm.max_tokens, self.watching))

    @property
    def conversation(self) -> Conversation:
        """What holds the chats. Raises NotConfiguredError: there is no model."""
        with self._making:  # made once: it may be all that knows what was said
            self._made = self._made or self._new_conversation()
            return self._made

    def settle(self) -> None:
        """Return when all that was said until now is stored, or counted as what could not be."""
        if self._made is not None:
            self._made.settle()

    def _new_conversation(self) -> Conversation:
        from agent_raw_rag.gateway.conversation import Conversation

        return Conversation(
            asking=self.asking, prompting=lambda: self._prompting, history=self._history(), remember=self._remember,
            store=self._store, label=self._labelled, now=self.memory.store.now,
            timeout_seconds=self.parts.settings.llm.timeout_seconds, failed=self._failed, counted=self._counted,
            named=self._named, held=self._held,
        )  # fmt: skip

    @cached_property
    def _prompting(self) -> Prompting:
        from agent_raw_rag.gateway.prompt import DEFAULT_SYSTEM, Prompting

        llm, chat = self.parts.settings.llm, self.parts.settings.chat
        return Prompting(
            self._count, llm.context_tokens, llm.max_tokens, chat.system or DEFAULT_SYSTEM,
            [_persona(path) for path in chat.persona_files], chat.persona_share,
        )  # fmt: skip

    def _history(self) -> History:
        from agent_raw_rag.gateway.history import PassingHistory, StoredHistory

        if self._store is None:
            return PassingHistory(self.parts.settings.capture.session_idle_seconds)
        return StoredHistory(self.memory.store)

    @property
    def _store(self) -> Store | None:
        return None if self.parts.settings.capture.store_turns == "false" else self._capture

    def _capture(self, captures: Sequence[Capture], actor: Actor) -> Sequence[Captured]:
        from agent_raw_rag.store.durable import waiting

        with waiting(STORE_SECONDS):
            return self.memory.raw.capture_all(captures, actor)

    def _labelled(self, capture: Capture) -> Capture:
        from agent_raw_rag.memory.keeping import as_configured

        return as_configured(capture, self.parts.settings.capture.store_turns) or capture

    def _held(self, session: str) -> AbstractContextManager[object] | None:
        passes = self.parts.settings.capture.store_turns == "session"
        return self.memory.live_session(session) if passes else None

    def _named(self, session: str) -> str:
        """A session's id as the store keeps it."""
        from agent_raw_rag.sanitize import clean_name
        from agent_raw_rag.sanitize.scrub import scrub

        return clean_name(session) if self.parts.settings.sanitize.redact else " ".join(scrub(session).split())

    def _remember(self, question: str, session: str | None) -> Sequence[Remembered]:
        """Notes that score enough, then raw turns where there is room for more."""
        from agent_raw_rag.memory.asked import LONGEST_QUERY
        from agent_raw_rag.memory.fit import fitted
        from agent_raw_rag.memory.raw_search import RawQuery
        from agent_raw_rag.memory.recall import RecallAsk
        from agent_raw_rag.memory.results import recalled_event

        settings, query = self.parts.settings, question[:LONGEST_QUERY]
        most = settings.chat.memories
        if not most:
            return []
        notes = self.memory.notes.recall(RecallAsk(query, most)).memories
        kept = [one for one in notes if one.score is None or one.score >= settings.chat.min_score]
        if room := most - len(kept):
            found = self.memory.raw.search(RawQuery(query, room, exclude_session=session)).events
            kept += [recalled_event(one) for one in found[:room]]
        return fitted(kept, settings.memory.budget_tokens, self._count)[0]

    def _count(self, text: str) -> int:
        return len(self.parts.tokenizer.encode(text))

    def _failed(self, what: str, error: Exception) -> str:
        """In words, and without a word of what was said."""
        from agent_raw_rag.runtime.expected import expected

        why = str(expected(error) or type(error).__name__)
        _log.warning("chat: %s failed: %s", what, why)
        return why

    def _counted(self, calls: int, why: str | None) -> None:
        from agent_raw_rag.runtime import tally

        try:
            tally.add(self.parts.home, "chat", calls=calls, errors=int(why is not None), why=why)
        except (OSError, RawRagError) as error:
            _log.warning("chat: a call was not counted: %s", error)


def _persona(path: str) -> str:
    """A persona file's text. Raises ConfigError: it cannot be read."""
    place = os.path.abspath(os.path.expanduser(path))
    try:
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read(MOST_PERSONA_BYTES)
    except OSError as error:
        raise ConfigError(f"chat.persona_files: {path} cannot be read: {error.strerror or error}.") from None
