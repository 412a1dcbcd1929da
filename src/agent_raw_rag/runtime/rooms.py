"""The runtimes of a home's spaces: one each, made at first use, the ones used longest ago given up."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agent_raw_rag.store.homes import checked_slug

MOST = 64
"""A runtime given up closes its files when its last user is done with it."""
Room = TypeVar("Room")


@dataclass
class Rooms(Generic[Room]):
    """Space -> what is kept of it. Safe to use from several threads."""

    make: Callable[[str], Room]
    _kept: OrderedDict[str, Room] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def of(self, slug: str) -> Room:
        """The one of a space. Raises BadArgumentError: no space can have this name."""
        checked_slug(slug)
        with self._lock:
            room = self._kept.get(slug) or self.make(slug)
            self._kept[slug] = room
            self._kept.move_to_end(slug)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return room
