"""The parts of a run side by side, each in a process of its own: the same answers sooner, where there are cores for it."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from agent_raw_rag.errors import RawRagError

Work = TypeVar("Work")
Made = TypeVar("Made")


def side_by_side(
    work: Sequence[Work], do: Callable[[Work], Made], start: Callable[..., None], given: tuple[object, ...], jobs: int,
    done: Callable[[Made], None],
) -> list[Made]:  # fmt: skip
    """What ``do`` makes of each piece of work, in order.

    Args:
        do: A function of a module, which another process can import.
        start: Called with ``given`` in each process before its first piece.
        jobs: Processes.
        done: Called here after each piece, in the order in which they end.

    Raises:
        RawRagError: a process died. What ``do`` raises comes through.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, start, given) as pool, _stopping_workers():
        with _interrupts_ignored():
            places = {pool.submit(do, piece): place for place, piece in enumerate(work)}
        made: dict[int, Made] = {}
        for ended in as_completed(places):
            made[places[ended]] = ended.result()
            done(made[places[ended]])
    return [made[place] for place in range(len(work))]


@contextmanager
def _stopping_workers() -> Iterator[None]:
    """Where the run is given up, its processes are not waited for: one may take minutes."""
    try:
        yield
    except BaseException as error:
        for worker in multiprocessing.active_children():
            worker.terminate()
        if isinstance(error, BrokenProcessPool):
            raise RawRagError(
                "A process died while it measured.", hint="Memory may be short: give --jobs 1."
            ) from error
        raise


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started meanwhile ignore Ctrl-C, which goes to the whole group: it is we who end them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
