"""What binds an index folder to the store: ``meta.json``, replaced in one step after each commit of the index."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

FORMAT = 2
"""Raised with every change of the schema or of ``terms``: an index of another format is built anew."""


@dataclass(frozen=True, slots=True)
class State:
    """One build of the index, and how far it has come."""

    generation: str
    """The store's: the index is worthless beside another store."""
    build: str = ""
    """Name of the folder that holds the index. A new one for each build, so that readers of an old one are not disturbed."""
    high_water: int = 0
    """The chunk id up to which everything has been added."""
    dropped: int = 0
    """The store's count of removals up to which everything has been taken out."""
    docs: int = 0
    """Chunks in the index."""
    added_docs: int = 0
    added_terms: int = 0
    """All that was ever added, for the mean length of a chunk."""
    format: int = FORMAT

    @property
    def mean_terms(self) -> float:
        """Mean number of terms of a chunk; 1 where nothing is known."""
        return self.added_terms / self.added_docs if self.added_terms else 1.0


def read_state(folder: Path, generation: str) -> State | None:
    """The state of a folder; None if it is missing, damaged, of another format or of another generation."""
    try:
        state = State(**json.loads((folder / "meta.json").read_text("utf-8")))
        numbers = (state.high_water, state.dropped, state.docs, state.added_docs, state.added_terms)
        sound = state.build.isalnum() and all(isinstance(number, int) for number in numbers)
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    return state if sound and (state.format, state.generation) == (FORMAT, generation) else None


def write_state(folder: Path, state: State) -> None:
    """Replace the state of a folder: after a crash there is the old one or the new one."""
    draft = folder / "meta.json.new"
    with open(draft, "w", encoding="utf-8", opener=_private) as stream:
        json.dump(asdict(state), stream)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(folder / "meta.json")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
