"""Use case: a backup -> the store it was made of, or another space's. What is replaced is kept, dated, beside the store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from agent_raw_rag.derived import cache_files, lexical_folder
from agent_raw_rag.errors import StoreBusyError, StoreError, UsageError
from agent_raw_rag.ingest.feed import feed_lexical
from agent_raw_rag.ingest.feed_vectors import feed_cache
from agent_raw_rag.memory.portable.manifest import CopyFacts, read_manifest, sha256_of
from agent_raw_rag.models import Actor
from agent_raw_rag.store.backup import facts_of, faults_of, overwrite_store, set_aside
from agent_raw_rag.store.connection import Connection, connect, transaction
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.lock import DAEMON, EMBEDDER, SOCKET, WRITER, lock, served
from agent_raw_rag.store.migrations import NAMES
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.spaces import Spaces
from agent_raw_rag.store.standing import count_returned, revoke_again, standing_of
from agent_raw_rag.store.users import user_of

WAIT_SECONDS = 2.0
END_IT = "End it first (the daemon, a server, an agent that runs one), then restore."


@dataclass(frozen=True)
class Restored:
    """The answer to ``raw-rag restore``, of one space."""

    space: str
    store: str
    kept: str | None
    """Where what was replaced lies now; None: there was nothing."""
    counts: dict[str, int]
    """Table -> rows, of what was put back."""
    returned: int
    """Turns that had been forgotten since the backup was made, and are back."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


def choose(backup: str, space: str | None) -> list[tuple[str, CopyFacts]]:
    """(path, facts) of the stores in a backup that are to be put back: all, or the one of a space. Each is proved whole.

    Raises:
        NotFoundError: there is no such backup, or no manifest with it.
        UsageError: it holds several stores and none of this space.
        StoreError: it is damaged, or made by a newer version of this program.
    """
    folder, manifest = read_manifest(backup)
    single = not os.path.isdir(backup)
    chosen = [one for one in manifest.stores if single or space in (None, one.space)]
    if not chosen:
        held = ", ".join(one.space for one in manifest.stores)
        raise UsageError(f"The backup holds no space {space!r}.", hint=f"It holds: {held}.")
    found = [(backup if single else os.path.join(folder, one.file), one) for one in chosen]
    for path, facts in found:
        _prove(path, facts)
    return found


def _prove(path: str, facts: CopyFacts) -> None:
    unknown = [name for name in facts.schema if name not in NAMES]
    if unknown:
        raise StoreError(
            f"The backup {path} was made by a newer version of this program ({unknown[-1]}).", hint="Update this one."
        )
    if not os.path.exists(path) or os.path.getsize(path) != facts.bytes or sha256_of(path) != facts.sha256:
        raise StoreError(
            f"The backup {path} is not what its manifest says: it was cut, changed or mixed up.",
            hint="Nothing was restored. Bring the file and the manifest of one and the same backup.",
        )
    faults = faults_of(path)
    if faults:
        raise StoreError(f"The backup {path} is damaged: {faults[0]}.", hint="Nothing was restored.")
    found = facts_of(path)
    if found.schema != facts.schema:
        raise StoreError(f"The backup {path} has another schema than its manifest says.", hint="Nothing was restored.")
    if not found.schema or found.schema != NAMES[: len(found.schema)] or not found.generation:
        raise StoreError(f"{path} is no store of this program.", hint="Nothing was restored.")


def restore(
    path: str, facts: CopyFacts, store: str, space: str, root_home: str, *, now: datetime, actor: Actor
) -> Restored:
    """Put a proved copy in the place of a space's store, and make everything derived anew.

    Args:
        path: The copy, and what its manifest says of it.
        facts: See ``choose``.
        store: The store to replace, or to make.
        space: Its space.
        root_home: The folder of the default space's store: the daemon's locks are there.
        now: For the name of what is kept, and the journal.
        actor: Who does it.

    Raises:
        StoreBusyError: a process uses the store; the message says which.
    """
    home = os.path.dirname(store)
    with _alone(home, root_home, store):
        before = standing_of(store)
        kept = set_aside(store, "before-restore", now)
        overwrite_store(store, path)
        with closing(connect(store, write=True)) as connection:  # this brings an older schema up to date
            detail = {"sha256": facts.sha256, "kept": os.path.basename(kept) if kept else None}
            with transaction(connection):
                revoke_again(connection, before)
                returned = count_returned(connection, before)
                Journal(connection).add(actor, "restore", time=int(now.timestamp() * 1000), target=space, detail=detail)
            _derive(connection, home)
    return Restored(space, store, kept, facts.counts, returned)


@contextmanager
def _alone(home: str, root_home: str, store: str) -> Iterator[None]:
    """Nobody writes, embeds, watches, serves, or has the store open."""
    try:
        with ExitStack() as stack:
            hosts = [DAEMON, SOCKET, *served(root_home)]
            for folder, which in (*((root_home, host) for host in hosts), (home, EMBEDDER), (home, WRITER)):
                stack.enter_context(lock(folder, which, wait_seconds=WAIT_SECONDS, purpose="restore"))
            user = user_of(store)
            if user is not None:
                raise StoreBusyError(f"Process {user} has the store {store} open.")
            yield
    except StoreBusyError as error:
        raise StoreBusyError(error.message, hint=END_IT) from error


def _derive(connection: Connection, home: str) -> None:
    """The index and the caches know the store that was replaced by the same name: they go, and are made anew."""
    for file in cache_files(home):
        os.remove(file)
    shutil.rmtree(lexical_folder(home), ignore_errors=True)
    feed_lexical(Reader(connection), home, 1)
    for space in Spaces(connection).rows():
        feed_cache(connection, home, space.name, space.dim)
