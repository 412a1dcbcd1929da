"""Use case: stores -> a backup, while they are in use. One store: a file with a manifest beside it;
several: a folder with one manifest."""

from __future__ import annotations

import os
import pathlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.errors import StoreError, UsageError
from agent_raw_rag.memory.portable.manifest import (
    NAME,
    SUFFIX,
    CopyFacts,
    Manifest,
    described,
    write_manifest,
)
from agent_raw_rag.memory.results import stamp
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store.backup import facts_of, faults_of, snapshot, sync
from agent_raw_rag.store.connection import connect, transaction
from agent_raw_rag.store.journal import Journal


@dataclass(frozen=True)
class BackedUp:
    """The answer to ``raw-rag backup``."""

    path: str
    manifest: str
    stores: list[CopyFacts]

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        kept = [_plain(one) for one in self.stores]
        return {"path": self.path, "manifest": self.manifest, "stores": kept}


def _plain(one: CopyFacts) -> dict[str, Any]:
    return {"space": one.space, "file": one.file, "bytes": one.bytes, "sha256": one.sha256, "counts": one.counts}


def back_up_one(store: str, space: str, target: str, *, program: str, now: Millis, actor: Actor) -> BackedUp:
    """Back one store up to a file. A file of that name is replaced, when all is written and found sound.

    Raises:
        StoreError: there is no store, or the copy cannot be written or is not sound.
        UsageError: the target is a folder, or the store itself.
    """
    _refuse_odd(store, target)
    if os.path.isdir(target):
        raise UsageError(f"{target} is a folder.", hint="Name a file, or give --all-spaces.")
    manifest = target + SUFFIX
    _make_place_for(target)
    with _drafts(target + ".new", manifest + ".new") as (draft, written):
        facts = _checked_copy(store, space, draft, os.path.basename(target))
        write_manifest(written, _manifest([facts], program, now))
        os.replace(draft, target)
        os.replace(written, manifest)
        sync(os.path.dirname(os.path.abspath(target)))
    _note(store, actor, now, facts)
    return BackedUp(target, manifest, [facts])


def back_up_all(stores: Mapping[str, str], target: str, *, program: str, now: Millis, actor: Actor) -> BackedUp:
    """Back all stores (space -> path) up to a folder. An earlier backup of that name is replaced; another folder is not.

    Raises:
        StoreError: there is no store, or a copy cannot be written or is not sound.
        UsageError: something else is in the target's place.
    """
    if os.path.exists(target) and not os.path.isfile(os.path.join(target, NAME)):
        raise UsageError(f"{target} is there already, and no backup of several spaces.", hint="Name another folder.")
    _make_place_for(target)
    draft, old = f"{target.rstrip('/')}.new", f"{target.rstrip('/')}.old"
    with _drafts(draft, old):
        _make_folder(draft)
        copies = [
            _checked_copy(path, space, os.path.join(draft, f"{space}.db"), f"{space}.db")
            for space, path in stores.items()
        ]
        write_manifest(os.path.join(draft, NAME), _manifest(copies, program, now))
        sync(draft)
        if os.path.exists(target):
            os.replace(target, old)
        os.replace(draft, target)
        sync(os.path.dirname(os.path.abspath(target)))
    for facts in copies:
        _note(stores[facts.space], actor, now, facts)
    return BackedUp(target, os.path.join(target, NAME), copies)


def _make_place_for(target: str) -> None:
    """Make the folder that a backup goes to, for its owner alone; one that is there stays as it is."""
    folder = os.path.dirname(os.path.abspath(target))
    try:
        for path in reversed([folder, *map(str, pathlib.Path(folder).parents)]):
            if not os.path.isdir(path):
                pathlib.Path(path).mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(
            f"{target} cannot be written, as the folder {folder} cannot be made: {error.strerror or error}.",
            hint="Name a place that you may write to.",
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(
            f"{target} cannot be written: {folder} is closed to you.", hint="Name a place that you may write to."
        )


def _make_folder(path: str) -> None:
    try:
        pathlib.Path(path).mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(f"The folder {path} cannot be made: {error.strerror}.") from error


def _refuse_odd(store: str, target: str) -> None:
    for beside in (store, f"{store}-wal", f"{store}-shm"):
        if os.path.realpath(beside) == os.path.realpath(target):
            raise UsageError(f"{target} belongs to the store itself.", hint="Name a file elsewhere.")


def _checked_copy(store: str, space: str, draft: str, name: str) -> CopyFacts:
    snapshot(store, draft)
    faults = faults_of(draft)
    if faults:
        raise StoreError(
            f"The store {store} is damaged: {faults[0]}.", hint="No backup was made of it; the one before is as it was."
        )
    return described(draft, space, facts_of(draft), name)


def _manifest(copies: Sequence[CopyFacts], program: str, now: Millis) -> Manifest:
    return Manifest(stamp(now) or "", program, tuple(copies))


@contextmanager
def _drafts(*paths: str) -> Iterator[tuple[str, ...]]:
    """Places for what is not whole yet; what is left there, of now or of a run that was killed, is removed."""
    _remove(paths)
    try:
        yield paths
    finally:
        _remove(paths)


def _remove(paths: Sequence[str]) -> None:
    for path in paths:
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)


def _note(store: str, actor: Actor, now: Millis, facts: CopyFacts) -> None:
    """In the journal, after the copy: no backup tells of itself."""
    detail = {"sha256": facts.sha256, "bytes": facts.bytes}
    with closing(connect(store, write=True)) as connection, transaction(connection):
        Journal(connection).add(actor, "backup", time=now, target=facts.space, detail=detail)
