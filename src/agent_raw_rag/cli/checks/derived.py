"""What is derived from the store, compared with it: the lexical index, and the vector cache of each space, all of their rows.

Where it disagrees answers are wrong without a sign of it: an error. Where it lags they are slower, or a stage is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from agent_raw_rag.cli.checks.finding import Finding, Subject
from agent_raw_rag.runtime import heartbeat

if TYPE_CHECKING:
    from agent_raw_rag.store.spaces import SpaceRow


def words(subject: Subject) -> Iterator[Finding]:
    """The lexical index."""
    from agent_raw_rag.search.status import FEW_WAITING

    upkeep = subject.runtime.upkeep
    found = upkeep.compare_words()
    remedy = f"{subject.command('raw-rag', 'doctor', '--fix')} makes it anew from the store."

    def anew() -> str:
        return f"made anew with {upkeep.rebuild_words()} chunks"

    if found.fault:
        yield Finding("error", "words", f"the lexical index disagrees with the store: {found.fault}", remedy, anew)
    elif found.behind > FEW_WAITING:
        text = f"the lexical index lags by {found.behind} chunks, which are searched one by one"
        yield Finding("warn", "words", text, remedy, anew)
    else:
        yield Finding("ok", "words", f"the lexical index holds {found.rows} chunks and agrees with the store")


def vectors(subject: Subject) -> Iterator[Finding]:
    """Coverage of the space that is searched, and the cache of each."""
    status = subject.status
    assert status is not None
    if status.encoder is None:
        yield Finding("ok", "vectors", "no encoder is set: search goes by words")
    elif status.backlog:
        text = f"{status.backlog} of {status.embedded + status.backlog} chunks have no vector yet ({status.encoder})"
        daemon = heartbeat.state(subject.runtime.home)
        if daemon.running and daemon.heartbeat and daemon.heartbeat.vectors_wait:
            text += f"; the daemon waits with them: {daemon.heartbeat.vectors_wait}"
        yield Finding("warn", "vectors", text, f"{subject.command('raw-rag-ingest')} makes them.")
    else:
        yield Finding("ok", "vectors", f"all {status.embedded} chunks have one ({status.encoder})")
    for space in subject.runtime.upkeep.spaces():
        yield _cache(subject, space)


def _cache(subject: Subject, space: SpaceRow) -> Finding:
    upkeep = subject.runtime.upkeep
    found = upkeep.compare_vectors(space)
    remedy = f"{subject.command('raw-rag', 'doctor', '--fix')} makes it anew from the vectors in the store."
    anew = partial(_anew, subject, space)
    if found.fault:
        text = f"the cache of {space.name} disagrees with the store: {found.fault}"
        return Finding("error", "vector cache", text, remedy, anew)
    if found.behind:
        text = f"the cache of {space.name} lacks {found.behind} vectors that are in the store: they are not searched"
        return Finding("warn", "vector cache", text, remedy, anew)
    return Finding("ok", "vector cache", f"{found.rows} rows of {space.name} agree with the store")


def _anew(subject: Subject, space: SpaceRow) -> str:
    return f"made anew with {subject.runtime.upkeep.rebuild_vectors(space)} rows"
