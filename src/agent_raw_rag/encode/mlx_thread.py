"""One thread does all of MLX's work, and models leave memory when nobody has asked for a while.

MLX's streams belong to a thread: an array that one thread has begun cannot be finished by another. So every call runs in
this thread, and only numpy arrays and plain values leave it. Queries go before passages: a search that comes while a
backlog is embedded waits for one batch, not for all.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, PriorityQueue
from typing import Any, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")
R = TypeVar("R")


class MlxThread:
    """Runs calls one after the other. The thread begins with the first call and ends with the process."""

    def __init__(self) -> None:
        self._calls: PriorityQueue[tuple[int, int, Callable[[], None]]] = PriorityQueue()
        self._numbers = itertools.count()
        self._begun = threading.Lock()
        self._thread: threading.Thread | None = None
        self._residents: WeakSet[Resident[Any]] = WeakSet()

    def run(self, call: Callable[[], R], *, urgent: bool = False) -> R:
        """What ``call`` returns or raises, once the thread has run it. Urgent calls overtake the others."""
        future: Future[R] = Future()

        def settle() -> None:
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

        self._begin()
        self._calls.put((0 if urgent else 1, next(self._numbers), settle))
        return future.result()

    def waiting(self) -> int:
        """Calls that have not begun."""
        return self._calls.qsize()

    def watch(self, resident: Resident[Any]) -> None:
        """Unload it when it has been idle for long enough. Called in the thread."""
        self._residents.add(resident)

    def _begin(self) -> None:
        with self._begun:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="mlx", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            try:
                settle = self._calls.get(timeout=self._rest())[2]
            except Empty:
                continue
            settle()
            del settle  # it holds the call, and with it the texts

    def _rest(self) -> float | None:
        """Unload what is due; seconds until the next is, None: nothing is loaded."""
        waits = [wait for resident in list(self._residents) if (wait := resident.unload_if_due()) is not None]
        return min(waits, default=None)


class Resident(Generic[T]):
    """Something that lives in the thread: loaded at the first use, unloaded after ``idle_seconds`` without any (0: never)."""

    def __init__(self, load: Callable[[], T], release: Callable[[], None], idle_seconds: float) -> None:
        self._load, self._release, self._idle_seconds = load, release, idle_seconds
        self._loaded: T | None = None
        self._due = float("inf")
        self.at_rest = threading.Event()
        """Set while nothing is loaded."""
        self.at_rest.set()

    def use(self, work: Callable[[T], R], *, urgent: bool = False) -> R:
        """What ``work`` makes of it, in the thread; memory that the work took is given back afterwards."""
        return THREAD.run(lambda: self._use(work), urgent=urgent)

    def unload(self) -> None:
        """Leave memory now."""
        THREAD.run(self._drop, urgent=True)

    def unload_if_due(self) -> float | None:
        """Seconds until it is due; None: it is not loaded, or never due. Called in the thread."""
        if self._loaded is None or self._due == float("inf"):
            return None
        wait = self._due - time.monotonic()
        if wait > 0:
            return wait
        self._drop()
        return None

    def _use(self, work: Callable[[T], R]) -> R:
        if self._loaded is None:
            self._loaded = self._load()
            self.at_rest.clear()
            THREAD.watch(self)
        try:
            return work(self._loaded)
        finally:
            self._due = time.monotonic() + self._idle_seconds if self._idle_seconds > 0 else float("inf")
            self._release()

    def _drop(self) -> None:
        if self._loaded is not None:
            self._loaded = None
            self._release()
        self.at_rest.set()


THREAD = MlxThread()
"""The one of this process."""
