"""The configurations that are compared: the settings in force, with stages and switches turned off one by one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent_raw_rag.chunker import Windows
from agent_raw_rag.config import SearchSettings, Settings
from agent_raw_rag.errors import UsageError

FULL = "full"
"""Everything as it is configured."""
SWITCHES = ("learned", "exact", "neighbours", "time_words", "recency", "near_duplicates")
NO_RERANK = {"rerank_budget_ms": 0}
_BARE = {**dict.fromkeys(SWITCHES, False), **NO_RERANK}
STAGES: dict[str, dict[str, object]] = {
    "lexical": {**_BARE, "lexical": True, "dense": False},
    "dense": {**_BARE, "lexical": False, "dense": True},
    "fused": {**_BARE, "lexical": True, "dense": True},
    FULL: {},
}
"""Name -> what it changes. The first three are bare: no switch of ``SWITCHES``, no reranking."""
SIZES = (128, 256, 512)


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings of the ranking under a name."""

    name: str
    search: SearchSettings
    windows: Windows
    changed: tuple[tuple[str, object], ...] = ()
    """Keys that differ from the settings in force."""


def stages(settings: Settings, names: Iterable[str]) -> list[Configuration]:
    """The stages of these names.

    Raises:
        UsageError: an unknown name.
    """
    found = []
    for name in dict.fromkeys(names):
        if name not in STAGES:
            raise UsageError(f"There is no stage {name!r}.", hint=f"Known: {', '.join(STAGES)}.")
        found.append(_changed(settings, name, STAGES[name]))
    return found


def comparison(settings: Settings, *, recut: bool = True) -> list[Configuration]:
    """All stages, every switch turned over alone, and (``recut``) windows of other sizes with the same share of overlap."""
    search = settings.search
    found = stages(settings, STAGES)
    found += [_turned_over(settings, one) for one in SWITCHES]
    if search.rerank_budget_ms:
        found.append(_changed(settings, "without rerank", NO_RERANK))
        if search.learned:
            found.append(_changed(settings, "without rerank, without learned", {**NO_RERANK, "learned": False}))
    if recut:
        found += [_recut(settings, size) for size in SIZES if size != settings.chunks.size]
    return found


def _turned_over(settings: Settings, switch: str) -> Configuration:
    on = bool(getattr(settings.search, switch))
    return _changed(settings, f"{'without' if on else 'with'} {switch}", {switch: not on})


def _changed(settings: Settings, name: str, change: Mapping[str, object]) -> Configuration:
    search = settings.search.model_copy(update=change)
    told = tuple((key, value) for key, value in change.items() if getattr(settings.search, key) != value)
    return Configuration(name, search, Windows(settings.chunks.size, settings.chunks.overlap), told)


def _recut(settings: Settings, size: int) -> Configuration:
    overlap = size * settings.chunks.overlap // settings.chunks.size
    changed = (("chunks.size", size), ("chunks.overlap", overlap))
    return Configuration(f"windows of {size}", settings.search, Windows(size, overlap), changed)
