"""When a model of this process may leave memory again: the daemon has been answering for a while, so it is not needed.

Above: the encoder and the reranker that ask the daemon first. Below: any model that can be unloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

KEPT_SECONDS = 60.0
"""How long an own model is kept after its last use, while the daemon answers."""


@runtime_checkable
class Unloads(Protocol):
    """A model that can leave memory; its next use loads it again."""

    def unload(self) -> None:
        """Give the memory back. Calls that are under way end well."""
        ...


class Spare:
    """A model of this process that stands in for the daemon's."""

    def __init__(self, model: object, clock: Callable[[], float]) -> None:
        self._model = model
        self._clock = clock
        self._used: float | None = None

    def used(self) -> None:
        """It just answered in the daemon's place."""
        self._used = self._clock()

    def idle(self) -> None:
        """The daemon just answered. Unloads the model if that has been so for a while."""
        used = self._used
        if used is not None and self._clock() - used >= KEPT_SECONDS:
            self._used = None
            if isinstance(self._model, Unloads):
                self._model.unload()
