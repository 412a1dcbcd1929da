"""What may have to wait for a store, beside the event loop: it is done in threads, and who waits for it waits so long and no
longer. Nothing that was begun is given up; it only goes on alone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, TypeVar

import anyio
import anyio.to_thread

READERS = 8
MOST_WAITING = 100
"""Things that wait in a line; what a locked store holds up must not fill the memory."""
Result = TypeVar("Result")


class Aside:
    """A line of things to do, which so many threads see to. Safe to use from several threads and event loops."""

    def __init__(self, threads: int) -> None:
        """One thread does them in their order."""
        self._pool = ThreadPoolExecutor(threads, "chat")  # joined when the process ends: what waits is done
        self._guard = threading.Lock()
        self._waiting = 0

    @property
    def is_full(self) -> bool:
        """Whether nobody should add what could be left out."""
        return self._waiting >= MOST_WAITING

    def put(self, act: Callable[[], Result]) -> Future[Result]:
        """Have something done. Never blocks."""
        with self._guard:
            self._waiting += 1
        future = self._pool.submit(act)
        future.add_done_callback(self._done)
        return future

    def settle(self) -> None:
        """Return when all that was put until now is done; for a line of one thread."""
        self._pool.submit(lambda: None).result()

    def _done(self, future: Future[Any]) -> None:
        with self._guard:
            self._waiting -= 1


async def in_time(future: Future[Any], until: float) -> bool:
    """Wait for something that is being done.

    Args:
        future: It goes on, whatever happens here.
        until: In the event loop's time.

    Returns:
        Whether it is done.
    """
    await asyncio.wait([asyncio.wrap_future(future)], timeout=max(0.0, until - anyio.current_time()))
    return future.done()


@asynccontextmanager
async def holding(
    held: AbstractContextManager[object] | None, line: Aside, until: float, failed: Callable[[Exception], object]
) -> AsyncIterator[None]:
    """Be in a block that is entered and left in threads. Where entering takes longer than ``until``, or fails, the block goes on
    without it; what comes late is left with the block."""
    if held is None:
        yield
        return
    hold = _Hold(held, failed)
    entering = line.put(hold.enter)
    try:
        await in_time(entering, until)
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(hold.leave)


class _Hold:
    def __init__(self, held: AbstractContextManager[object], failed: Callable[[Exception], object]) -> None:
        self._held, self._failed = held, failed
        self._guard = threading.Lock()
        self._is_in = self._is_over = False

    def enter(self) -> None:
        try:
            self._held.__enter__()
        except Exception as error:
            self._failed(error)
            return
        with self._guard:
            self._is_in, over = True, self._is_over
        if over:
            self._held.__exit__(None, None, None)

    def leave(self) -> None:
        with self._guard:
            self._is_over, entered = True, self._is_in
        if entered:
            self._held.__exit__(None, None, None)
