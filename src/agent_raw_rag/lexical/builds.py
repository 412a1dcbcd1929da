"""Index folders: making one, opening one, and what is wrong with one, in our own words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy

from agent_raw_rag.errors import StoreBusyError, StoreError
from agent_raw_rag.lexical.schema import new_schema, prepare
from agent_raw_rag.lexical.state import State, write_state


def memory_build() -> Any:
    """An empty index without a folder."""
    return prepare(tantivy.Index(new_schema()))


def open_build(folder: Path, state: State) -> Any:
    """The index that a state names; None if it is damaged."""
    try:
        index = prepare(tantivy.Index.open(str(folder / state.build)))
        chunk_ids(index.searcher(), 1)  # reads every segment
    except BaseException as error:
        if isinstance(error, ValueError | OSError) or _is_panic(error):
            return None
        raise
    return index


def _is_panic(error: BaseException) -> bool:
    """Whether tantivy broke down over bytes that it took to be sound. That is no ``Exception``, nor a type to import."""
    return type(error).__module__ == "pyo3_runtime"


def new_build(folder: Path, generation: str) -> tuple[State, Any]:
    """An empty index in a folder of its own; older ones go. ``meta.json`` names it only when it is ready."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = State(generation, build=os.urandom(8).hex())
    path = folder / state.build
    path.mkdir(mode=0o700)
    index = prepare(tantivy.Index(new_schema(), path=str(path)))
    write_state(folder, state)
    for other in folder.iterdir():
        if other.is_dir() and other != path:
            shutil.rmtree(other, ignore_errors=True)
    return state, index


def chunk_ids(searcher: Any, limit: int, *, descending: bool = True) -> list[int]:
    """The first ids of an index, in order."""
    order = tantivy.Order.Desc if descending else tantivy.Order.Asc
    found = searcher.search(tantivy.Query.all_query(), limit, count=False, order_by_field="chunk", order=order)
    return [int(chunk_id) for chunk_id, _ in found.hits]


@contextmanager
def own_errors() -> Iterator[None]:
    """tantivy's errors as ours.

    Raises:
        StoreBusyError: another process holds the writer's lock.
        StoreError: anything else.
    """
    try:
        yield
    except BaseException as error:
        if not isinstance(error, ValueError) and not _is_panic(error):
            raise
        if "LockBusy" in str(error):
            raise StoreBusyError("Another process is writing the lexical index.") from error
        hint = "It is derived: `raw-rag doctor --fix` builds it anew."
        raise StoreError(f"The lexical index cannot be used: {error}", hint=hint) from error
