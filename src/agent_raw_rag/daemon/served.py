"""The models that the daemon answers for: by the name of a vector space, and by the name of a reranker."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from agent_raw_rag.encode.base import Discovers, Encoder, Reranker
from agent_raw_rag.encode.late import Late
from agent_raw_rag.errors import ModelError, NotFoundError, StoreError

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

FACTS_SECONDS = 1.0
"""How long what is said of the models may be old: many processes ask, and the store is to be asked seldom."""


class ServedModels:
    """Those of a runtime, as its settings and its store mean them. Safe to use from several threads."""

    def __init__(self, runtime: Runtime, clock: Callable[[], float] = time.monotonic) -> None:
        self._runtime = runtime
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
        choice = self._runtime.models.reranker_choice()
        made = self._runtime.models.reranker()
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
        choice, reranker = self._runtime.models.reranker_choice(), None
        try:
            reranker = self._runtime.models.reranker()
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
        for find in (self._searching, self._filling):
            try:
                encoder = find()
                if encoder is not None and not isinstance(encoder, Discovers):  # a server elsewhere is asked directly
                    encoders.setdefault(encoder.space.name, encoder)
            except ModelError as error:
                problems.append(error)
        return list(encoders.values()), problems

    def _searching(self) -> Encoder | None:
        try:
            return self._runtime.spaces.encoder()
        except StoreError:  # there is no store yet
            return None

    def _filling(self) -> Encoder | None:
        try:
            active = self._runtime.spaces.active()
        except StoreError:
            active = None
        choice = self._runtime.models.encoder_choice(active)
        return self._runtime.models.encoder(choice) if choice is not None else None
