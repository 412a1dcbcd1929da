"""The models in force: from the settings and from what the store remembers. Each is made once a process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_raw_rag.errors import ModelError

if TYPE_CHECKING:
    from agent_raw_rag.config import Settings
    from agent_raw_rag.encode.base import Encoder, Reranker
    from agent_raw_rag.encode.choice import Choice
    from agent_raw_rag.encode.late import Late
    from agent_raw_rag.runtime.sharing import Sharing
    from agent_raw_rag.store.spaces import SpaceRow


@dataclass
class Models:
    """Safe to use from several threads."""

    settings: Settings
    environment: Mapping[str, str]
    sharing: Sharing
    """With the daemon: what is made here asks it first."""
    _locals: dict[str, Encoder] = field(default_factory=dict, repr=False)
    _encoders: dict[str, Encoder] = field(default_factory=dict, repr=False)
    _rerankers: dict[str, Reranker] = field(default_factory=dict, repr=False)
    _wish: Late | None = field(default=None, repr=False)
    _ready: set[str] = field(default_factory=set, repr=False)
    """Flagship models that were found to be here."""
    _making: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def encoder(self, choice: Choice) -> Encoder:
        """The encoder of a choice, the daemon's where it is shared. Raises ModelError."""
        with self._making:
            if choice.key not in self._encoders:
                self._encoders[choice.key] = self.sharing.encoder(self.local_encoder(choice), choice)
            return self._encoders[choice.key]

    def local_encoder(self, choice: Choice) -> Encoder:
        """The encoder of a choice in this process, whatever the daemon does: for what needs more of it than vectors."""
        from agent_raw_rag.encode.registry import encoder

        with self._making:
            if choice.key not in self._locals:
                self._locals[choice.key] = encoder(choice, self.environment)
            return self._locals[choice.key]

    def encoder_choice(self, active: SpaceRow | None) -> Choice | None:
        """The encoder that the settings mean, for a store whose active space is this; None: lexical search only."""
        from agent_raw_rag.encode.choice import choose_encoder

        settings = self.settings.encoder
        made_by = None if active is None else _choice(active)
        flagship = self._flagship("encoder") if settings.name == "auto" and active is None else None
        return choose_encoder(settings.name, settings.options(), made_by, flagship)

    def searching_encoder(self, active: SpaceRow | None) -> Encoder | None:
        """The encoder of the space that is searched; None: lexical search only.

        Raises:
            ModelError: it cannot be made, or its model is not the one that made the space.
        """
        choice = self.encoder_choice(active)
        if choice is None or active is None or choice.key == _choice(active).key:
            return None if choice is None else self._of(choice, active)
        try:
            return self._of(choice, active)  # the same model, said in another way: a server that moved
        except ModelError:
            return self._of(_choice(active), active)

    def _of(self, choice: Choice, active: SpaceRow | None) -> Encoder:
        encoder = self.encoder(choice)
        if active is not None and encoder.space.name != active.name:
            raise ModelError(
                f"The model {encoder.space.model} is not the one that made the vectors ({active.name}).",
                hint="`raw-rag-ingest` fills a space for it.",
            )
        return encoder

    def reranker(self, active: SpaceRow | None) -> Reranker | Late | None:
        """The reranker that the settings mean where this space is searched; None: none is set. Raises ModelError."""
        from agent_raw_rag.encode.registry import reranker

        choice = self.reranker_choice(active)
        if choice is None or choice.kind == "late":
            return None if choice is None else self._late()
        with self._making:
            if choice.key not in self._rerankers:
                made = reranker(choice, self.environment)
                self._rerankers[choice.key] = self.sharing.reranker(made, choice)
            return self._rerankers[choice.key]

    def reranker_choice(self, active: SpaceRow | None) -> Choice | None:
        """What the settings say of a reranker. ``auto`` is the flagship where its weights are present, else late interaction
        where the embedded model made the vectors that are searched."""
        from agent_raw_rag.encode.choice import Choice

        settings = self.settings.reranker
        if settings.name == "none":
            return None
        if settings.name != "auto":
            return Choice(settings.name, settings.options())
        encoder = _choice(active) if active is not None else self.encoder_choice(None)
        late = Choice("late", {}) if encoder is not None and encoder.kind == "embedded" else None
        return self._flagship("reranker") or late

    def _late(self) -> Late:
        """Late interaction. The model is the one that encodes, loaded once, or the embedded one."""
        from agent_raw_rag.encode.choice import Choice
        from agent_raw_rag.encode.late import Late, TokenEncoder

        def embedded() -> TokenEncoder:
            encoder = self.encoder(Choice("embedded", {}))
            assert isinstance(encoder, TokenEncoder)
            return encoder

        with self._making:
            self._wish = self._wish or Late(embedded)
            return self._wish

    def _flagship(self, what: str) -> Choice | None:
        """MLX's encoder or reranker, on a Mac that has its weights. Nothing is loaded to find out."""
        from agent_raw_rag.encode.choice import Choice
        from agent_raw_rag.encode.known_models import DEFAULT_ENCODER, DEFAULT_RERANKER
        from agent_raw_rag.encode.mlx_backend import mlx_available, mlx_is_native
        from agent_raw_rag.encode.weights import weights_present

        model = DEFAULT_ENCODER if what == "encoder" else DEFAULT_RERANKER
        if model not in self._ready and mlx_is_native() and mlx_available() and weights_present(model):
            self._ready.add(model)  # looking again at every search would read the heads of all files
        return Choice("mlx", {"model": model}) if model in self._ready else None


def _choice(row: SpaceRow) -> Choice:
    from agent_raw_rag.encode.choice import Choice

    return Choice(row.kind, row.options)
