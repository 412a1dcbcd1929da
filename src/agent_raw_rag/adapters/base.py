"""The row that says everything about an agent, and small pure helpers that several adapters need.

A row tells where an agent's data folders are and what moves them, which path is whose and how it is read, and how a
record becomes events. Nothing outside an adapter's own module knows an agent's name. Third parties register the same
row under the entry-point group ``agent_raw_rag.adapters``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agent_raw_rag.adapters.wiring import Wiring
from agent_raw_rag.models import Event, Millis, Record, Source

State = dict[str, Any]
"""What an adapter carries from record to record of one source. Plain JSON values only, and never changed in place below
the first level (assign a new tuple or string instead): a shallow copy is a snapshot that the cursor stores."""


@dataclass(frozen=True, slots=True)
class Root:
    """One data folder of an agent and what to look for in it."""

    path: str
    patterns: tuple[str, ...]
    """Globs relative to ``path``; ``**`` matches any number of folders. Files that match go to ``classify``."""


@dataclass(frozen=True, slots=True)
class Family:
    """One generation of tables in a foreign database. SQL is data here; only ``sources`` runs it, read-only."""

    name: str
    tables: tuple[str, ...]
    """The family is there if all of these tables are."""
    sessions: str
    """Query without parameters: columns ``session``, ``stamp``. A session is read again when its stamp changed."""
    records: tuple[str, ...]
    """Queries with the parameter ``:session``, run in this order; each row is a record with the row's columns as data. A
    column whose name ends in ``_json`` comes decoded. An empty ``session`` stands for the source's own."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Where an agent says after how many days it deletes its own logs."""

    settings: str
    """A JSON file, relative to a root's path."""
    key: str
    days: int
    """Without the key."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One agent's row."""

    agent: str
    title: str
    """The agent's name for people."""
    roots: Callable[[Mapping[str, str], str], tuple[Root, ...]]
    """(environment, home folder) -> data folders. Folders that do not exist are passed over by the caller."""
    classify: Callable[[Root, str], Source | None]
    """(root, path relative to it, with ``/``) -> the source that this file is, or None: not a conversation."""
    parse: Callable[[Record, State], Iterable[Event]]
    """Events of one record. ``state`` is carried along within the source, and changed by this call."""
    start: Callable[[Source], State]
    """The state before a source's first record."""
    holds: tuple[str, ...] = ()
    """LINES: the entries of ``state`` that hold words not told yet. While they do, the cursor waits before them, so that no
    word is stored that went through no sanitizer."""
    folder: Callable[[str], tuple[Root, ...]] | None = None
    """``roots`` for one data folder that the user names, whatever the environment says. None: it cannot be moved."""
    environment: tuple[str, ...] = ()
    """The environment variables that ``roots`` reads, for the reference page."""
    formats: tuple[str, ...] = ()
    """The format generations it reads, for the reference page."""
    arrange: Callable[[list[Record]], list[Record]] | None = None
    """DOCUMENT and DATABASE: puts the records of one session in order and drops superseded ones before ``parse``."""
    families: tuple[Family, ...] = ()
    """DATABASE: preferred first; a session found in one family is not read from the later ones."""
    retention: Retention | None = None
    """None: it is not known to delete any."""
    handed: Callable[[Source, list[Record]], Source] | None = None
    """LINES: (source, its first records) -> the source as its own agent would have it, where a person gave the file another
    name. None: the name does not matter, or only a right one is known."""
    resume: Callable[[str, str | None], tuple[str, ...]] | None = None
    """(native session id, path of its log where that is known) -> the words of the command that reopens it."""
    wirings: tuple[Wiring, ...] = ()
    """The programs of this agent that ``raw-rag connect`` can wire."""


def digest(*parts: object) -> str:
    """A stable 128-bit content hash in hex, for keys where the log has no id. ``None`` and ``""`` differ."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        hashed.update(b"\0" if part is None else b"\1" + str(part).encode("utf-8", "surrogatepass"))
        hashed.update(b"\xff")
    return hashed.hexdigest()


def millis(value: object) -> Millis | None:
    """An instant from what logs hold: ISO 8601 text, seconds or milliseconds since 1970. None where it is none."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000) if 1 < moment.year < 9999 else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 < value < 1e14:
        return None
    return int(value if value > 1e11 else value * 1000)


def string(value: object) -> str | None:
    """The value if it is a text that is not empty, else None."""
    return value if isinstance(value, str) and value else None


def mapping(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []
