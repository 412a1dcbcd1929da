"""Events of folders: which folders are to be watched for an agent's roots, and watching them.

A root that does not exist yet is awaited in the nearest folder that does. Only what changes a file is listened to:
that we open a log must not wake us.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agent_raw_rag.adapters.base import Root
from agent_raw_rag.log import NAME

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver, ObservedWatch

_GLOB = re.compile(r"[*?]")
_log = logging.getLogger(NAME)

Place = tuple[str, str]
"""A folder, and what of it is watched: ``tree``, ``folder`` or ``arrival`` (of the folder that is awaited)."""


def places(roots: Iterable[Root]) -> set[Place]:
    """What is to be watched for these roots, as far as it exists now."""
    found: set[Place] = set()
    for root in roots:
        base = os.path.realpath(root.path)
        for pattern in root.patterns:
            *folders, _ = pattern.split("/")
            fixed = next((place for place, part in enumerate(folders) if _GLOB.search(part)), len(folders))
            found.add(_existing(os.path.join(base, *folders[:fixed]), "tree" if fixed < len(folders) else "folder"))
    trees = {path for path, kind in found if kind == "tree"}
    return {(path, kind) for path, kind in found if not _covered(path, kind, trees)}


def _existing(folder: str, kind: str) -> Place:
    while not os.path.isdir(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder, kind = parent, "arrival"
    return folder, kind


def _covered(path: str, kind: str, trees: set[str]) -> bool:
    """Whether a tree that is watched anyway holds it."""
    return any(path.startswith(os.path.join(tree, "")) or (path == tree and kind != "tree") for tree in trees)


class Watch:
    """The folders that are being watched."""

    def __init__(self, on_change: Callable[[str], None], on_arrival: Callable[[str], None]) -> None:
        self._on_change = on_change
        self._on_arrival = on_arrival
        self._observer: BaseObserver | None = None
        self._watched: dict[Place, ObservedWatch] = {}
        self._ended: set[Place] = set()
        """Places whose folder was deleted: their watch is over, even if the folder comes back."""
        self.problem: str | None = None
        """Why some folders are not watched; the scan sees what happens there."""

    def follow(self, wanted: set[Place]) -> set[Place]:
        """Watch these places and no others. Returns those that are watched from now on."""
        for place in (self._watched.keys() - wanted) | (self._watched.keys() & self._ended):
            self._leave(place)
        new, before = wanted - self._watched.keys(), self.problem
        self.problem = None
        entered = {place for place in sorted(new) if self._enter(place)}
        if self.problem is not None and self.problem != before:  # each scan tries it again, and a log is not for that
            _log.warning("%s", self.problem)
        return entered

    def stop(self) -> None:
        """Watch nothing any more."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(1.0)
            self._observer = None
        self._watched.clear()

    def _enter(self, place: Place) -> bool:
        from watchdog import events

        path, kind = place
        arrivals: list[type[FileSystemEvent]] = [events.DirCreatedEvent, events.DirMovedEvent]
        changes: list[type[FileSystemEvent]] = [
            *arrivals, events.DirDeletedEvent, events.FileModifiedEvent, events.FileCreatedEvent,
            events.FileMovedEvent, events.FileDeletedEvent,
        ]  # fmt: skip
        told = self._on_arrival if kind == "arrival" else self._on_change
        handler = _handler(lambda path, gone: self._gone(place) if gone and path == place[0] else told(path))
        filters = arrivals if kind == "arrival" else changes
        try:
            self._watched[place] = self._running().schedule(
                handler, path, recursive=kind == "tree", event_filter=filters
            )
        except OSError as error:  # the system's limit of watches, or a folder that is gone again
            self.problem = f"{path} is not watched: {error.strerror or error}"
            return False
        return True

    def _gone(self, place: Place) -> None:
        self._ended.add(place)
        self._on_arrival(place[0])

    def _leave(self, place: Place) -> None:
        self._ended.discard(place)
        watch = self._watched.pop(place)
        try:
            self._running().unschedule(watch)
        except KeyError:  # its folder was deleted, and it ended by itself
            pass

    def _running(self) -> BaseObserver:
        if self._observer is None:
            from watchdog.observers import Observer

            self._observer = Observer()
            self._observer.daemon = True
            self._observer.start()
        return self._observer


def _handler(told: Callable[[str, bool], None]) -> FileSystemEventHandler:
    """Tells the paths of an event, and whether it is their end."""
    from watchdog.events import EVENT_TYPE_DELETED, FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            for path in (event.src_path, event.dest_path):
                if path:
                    told(os.fsdecode(path), event.event_type == EVENT_TYPE_DELETED)

    return Handler()
