"""The models that the daemon answers for: by the name of a vector space, and by the name of a reranker."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from agent_raw_rag.encode.base import Encoder, Reranker
from agent_raw_rag.encode.choice import Choice
from agent_raw_rag.encode.late import Late
from agent_raw_rag.errors import ModelError, NotFoundError, StoreError

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.store.spaces import SpaceRow

ELSEWHERE = "http"
FACTS_SECONDS = 1.0
"""How long what is said of the models may be old: many processes ask, and the store is to be asked seldom."""


class ServedModels:
    """Those of a runtime, as its settings and its store mean them. Safe to use from several threads."""

    def __init__(self, runtime: Runtime, clock: Callable[[], float] = time.monotonic) -> None:
        self.runtime = runtime
        self._clock = clock
        self._lock = Lock()
        self._facts: tuple[float, dict[str, Any]] | None = None

    def facts(self) -> dict[str, Any]:
        """``space`` that is searched, ``spaces``, ``reranker`` for people, ``rerankers``, ``problems``. Loads no model."""
        with self._lock:
            if self._facts is None or self._clock() - self._facts[0] >= FACTS_SECONDS:
                self._facts = (self._clock(), self._found_facts())
            return self._facts[1]

    def encoder(self, space: str = "") -> Encoder:
        """The encoder of a space; "": of the one that is searched.

        Raises:
            NotFoundError: no such space is served here.
            ModelError: the model is missing or damaged.
        """
        encoders, problems = self._encoders()
        for encoder in encoders:
            if space in ("", encoder.space.name):
                return encoder
        if problems and not encoders:
            raise problems[0]
        raise NotFoundError(f"No vectors are made here for {space or 'any space'}.", hint="GET /health lists `spaces`.")

    def reranker(self, name: str = "") -> Reranker:
        """The reranker of a name (``Choice.name``); "": the one that is set.

        Raises:
            NotFoundError: there is none of this name.
            ModelError: it cannot be made.
        """
        active = self._active()
        choice = self.runtime.models.reranker_choice(active)
        made = self.runtime.models.reranker(active)
        if isinstance(made, Late):
            raise NotFoundError(
                f"{made.name} goes with a search, not with a list of passages.", hint="POST /search does it."
            )
        if choice is None or made is None or name not in ("", choice.name, made.name):
            raise NotFoundError(f"There is no reranker {name or 'here'}.", hint="GET /health lists `rerankers`.")
        return made

    def _found_facts(self) -> dict[str, Any]:
        encoders, problems = self._encoders()
        spaces = [encoder.space.name for encoder in encoders]
        active = self._active()
        choice, reranker = self.runtime.models.reranker_choice(active), None
        try:
            reranker = self.runtime.models.reranker(active)
        except ModelError as error:
            problems.append(error)
        return {
            "space": spaces[0] if spaces else None,
            "spaces": spaces,
            "reranker": reranker.name if reranker else None,
            "rerankers": [choice.name] if choice and reranker and not isinstance(reranker, Late) else [],
            "problems": [str(problem) for problem in problems],
        }

    def _encoders(self) -> tuple[list[Encoder], list[ModelError]]:
        """Of the space that is searched, then of the one that fills, if that is another; and why one is missing."""
        encoders: dict[str, Encoder] = {}
        problems: list[ModelError] = []
        for choice in self._choices():
            try:
                encoder = self.runtime.models.encoder(choice)
                encoders.setdefault(encoder.space.name, encoder)
            except ModelError as error:
                problems.append(error)
        return list(encoders.values()), problems

    def _choices(self) -> list[Choice]:
        """Of encoders in this process. A server elsewhere is asked directly, and may take its time to say its space."""
        active = self._active()
        wanted = self.runtime.models.encoder_choice(active)
        made_by = [] if active is None else [Choice(active.kind, active.options)]
        return [] if wanted is None else [one for one in (*made_by, wanted) if one.kind != ELSEWHERE]

    def _active(self) -> SpaceRow | None:
        try:
            return self.runtime.spaces.active()
        except StoreError:  # there is no store yet
            return None
