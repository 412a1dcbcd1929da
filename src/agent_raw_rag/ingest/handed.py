"""A log that a person hands over: the agent is found by what it says, and it is read as if it lay in the agent's own folder.

So the later ingest of the same log, wherever it lies then, finds every turn stored already.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.commit import Committer
from agent_raw_rag.ingest.exported import Imported
from agent_raw_rag.ingest.reading import read_batches, start_cursor
from agent_raw_rag.ingest.sync import Sync
from agent_raw_rag.models import BadRecord, Record, Shape, Source
from agent_raw_rag.sources.lines import read_lines

LOOKED_AT = 200
"""Records that tell whose log it is."""
_FOLDERS = 3
"""Of the file's path are shown to the adapters: sub-agents' logs are known by their folders."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A log and whose it is."""

    adapter: Adapter
    source: Source


def recognise(path: str, adapters: Iterable[Adapter]) -> Handed:
    """Whose log a file is.

    Raises:
        SourceError: it cannot be read, or no adapter finds a turn in it.
    """
    try:
        records = list(islice(read_lines(path), LOOKED_AT))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error
    found = [(_told(handed, records), handed) for handed in _candidates(path, adapters, records)]
    best = max(found, key=lambda one: one[0], default=None)
    if best is None or best[0][0] == 0:
        raise SourceError(
            f"{path} is no export and no log that is known.",
            hint="`raw-rag import --help` says what is.",
        )
    return best[1]


def read_log(
    committer: Committer, path: str, adapters: Iterable[Adapter], on_chunks: Callable[[int], None] = lambda count: None
) -> tuple[str, Imported]:
    """Store what is new in a log. Returns its agent's name. The caller holds the writer lock. Killed in between, it is run again.

    Raises:
        SourceError: it cannot be read, or nobody's turns are in it.
    """
    handed = recognise(path, adapters)
    agent = handed.adapter.agent
    report = Sync(committer, committer.sources, on_chunks=on_chunks).run_one(handed.adapter, handed.source)
    for failed, why in report.failed.items():
        raise SourceError(f"{failed} could not be read to its end: {why}.", hint="What was read is stored.")
    result = Imported([agent], sessions=1, unchanged=not report.read, added=report.added)
    for name, number in committer.sources.tally_of(handed.source.path).items():
        kind, _, what = name.split("|", 2)
        counted = result.malformed if kind == "skipped" else result.unknown
        counted[what] = counted.get(what, 0) + number
    return agent, result


def _candidates(path: str, adapters: Iterable[Adapter], records: list[Record | BadRecord]) -> Iterator[Handed]:
    *folders, name = os.path.abspath(path).replace(os.sep, "/").split("/")
    near = folders[-_FOLDERS:] if len(folders) > _FOLDERS else folders[1:]
    root = Root("/".join(folders[: len(folders) - len(near)]), ("**/*",))
    for adapter in adapters:
        source = adapter.classify(root, "/".join([*near, name]))
        if source is not None and source.shape is Shape.LINES:
            good = [record for record in records if isinstance(record, Record)]
            yield Handed(adapter, adapter.handed(source, good) if adapter.handed else source)


def _told(handed: Handed, records: list[Record | BadRecord]) -> tuple[int, int]:
    """(turns, less what is unknown) that an adapter finds in the first records."""
    turns, unknown = set(), 0
    for batch in read_batches(handed.adapter, records, start_cursor(handed.adapter, handed.source)):
        turns |= {turn.key for turn in batch.turns}
        unknown = sum(batch.tally.values())
    return len(turns), -unknown
