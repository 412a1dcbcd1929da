"""One loaded model, however many processes: which models are worth asking the daemon for, put in front of the local ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_raw_rag.encode.base import Encoder, Reranker
    from agent_raw_rag.encode.choice import Choice
    from agent_raw_rag.encode.daemon_link import Link
    from agent_raw_rag.encode.daemon_presence import Health
    from agent_raw_rag.models import Tokenizer

SHARED_KINDS = {"embedded": 3.0, "mlx": 30.0}
"""Models that take memory of the process they are in, and for how many seconds a search waits for the daemon's answer: as long as
loading the model here would take. A server elsewhere, or a toy, is used directly."""


@dataclass
class Sharing:
    """The daemon of one home folder, as the models of this process use it."""

    home: str
    _is_on: bool = True
    _links: list[Link] = field(default_factory=list, repr=False)
    _local_tokens: Callable[[], Tokenizer] | None = field(default=None, repr=False)
    """Known where this process counts tokens."""
    _is_ready: bool = field(default=False, repr=False)
    """Whether it does so without the daemon, or soon can."""

    def stand_alone(self) -> None:
        """Use the models of this process from now on, those that were handed out too: this is the daemon itself."""
        self._is_on = False
        for link in self._links:
            link.cut()

    def daemon(self) -> Health | None:
        """Who serves the models now; None: each process has its own."""
        return self._link().health() if self._is_on else None

    def encoder(self, local: Encoder, choice: Choice) -> Encoder:
        """The encoder to use: the local one, behind the daemon's if that is worth it."""
        if not self._is_worth(choice):
            return local
        from agent_raw_rag.encode.daemon_encoder import DaemonEncoder, DaemonTokenEncoder
        from agent_raw_rag.encode.late import TokenEncoder

        seconds = SHARED_KINDS[choice.kind]
        if isinstance(local, TokenEncoder):
            return DaemonTokenEncoder(local, local, self._link(), query_seconds=seconds)
        return DaemonEncoder(local, self._link(), query_seconds=seconds)

    def reranker(self, local: Reranker, choice: Choice) -> Reranker:
        """The same for a reranker."""
        if not self._is_worth(choice):
            return local
        from agent_raw_rag.encode.daemon_reranker import DaemonReranker

        return DaemonReranker(local, choice.name, self._link(), seconds=SHARED_KINDS[choice.kind])

    def token_counts(self, texts: Sequence[str], local: Callable[[], Tokenizer]) -> list[int]:
        """How many tokens each text has; ``local`` is loaded only where no daemon counts."""
        self._local_tokens = local
        if not self._is_on:
            return [len(local().encode(text)) for text in texts]
        from agent_raw_rag.encode.daemon_tokens import DaemonTokens

        return DaemonTokens(local, self._link()).counts(texts)

    def expect_counts(self, local: Callable[[], Tokenizer]) -> None:
        """An answer that is being made will be counted: where no daemon counts, load the table of tokens meanwhile."""
        self._local_tokens = local
        if self.daemon() is None:
            self._get_ready()

    def _get_ready(self) -> None:
        """Load the table of tokens beside the question that has no daemon, or just lost it: its answer is going to need it."""
        if self._local_tokens is not None and not self._is_ready:
            self._is_ready = True
            threading.Thread(target=self._local_tokens, name="tokens", daemon=True).start()

    def _is_worth(self, choice: Choice) -> bool:
        return self._is_on and choice.kind in SHARED_KINDS

    def _link(self) -> Link:
        """One for all models, so that one look tells for all."""
        if not self._links:
            from agent_raw_rag.encode.daemon_link import Link

            self._links.append(Link(self.home, when_lost=self._get_ready))
        return self._links[0]
