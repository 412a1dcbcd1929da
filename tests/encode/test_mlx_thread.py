"""The one thread that does MLX's work. It needs no MLX."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_raw_rag.encode.mlx_thread import THREAD, MlxThread, Resident


def test_every_call_runs_in_the_same_thread_and_gives_its_own_result() -> None:
    thread = MlxThread()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: thread.run(lambda: (number, threading.get_ident())), range(50)))
    assert [number for number, _ in found] == list(range(50))
    assert {ident for _, ident in found} == {thread.run(threading.get_ident)}
    assert threading.get_ident() != found[0][1]


def test_an_error_reaches_the_caller_and_the_thread_goes_on() -> None:
    thread = MlxThread()
    with pytest.raises(ZeroDivisionError):
        thread.run(lambda: 1 // 0)
    assert thread.run(lambda: "on") == "on"


def test_urgent_calls_overtake_those_that_wait() -> None:
    thread, order = MlxThread(), list[str]()
    begun, gate = threading.Event(), threading.Event()
    first = threading.Thread(target=thread.run, args=(lambda: begun.set() or gate.wait(),))
    first.start()
    assert begun.wait(60)
    calls = [threading.Thread(target=note, args=(thread, order, name)) for name in ("passage", "passage", "query")]
    for count, one in enumerate(calls, 1):
        one.start()
        while thread.waiting() < count:
            os.sched_yield()
    gate.set()
    for one in (first, *calls):
        one.join()
    assert order == ["query", "passage", "passage"]


def note(thread: MlxThread, order: list[str], name: str) -> None:
    thread.run(lambda: order.append(name), urgent=name == "query")


def test_something_is_loaded_once_released_after_every_use_and_unloaded_when_idle() -> None:
    told: list[str] = []
    resident = Resident(lambda: told.append("load") or "it", lambda: told.append("release"), idle_seconds=0)
    assert [resident.use(len), resident.use(len)] == [2, 2]
    assert told == ["load", "release", "release"] and not resident.at_rest.is_set()
    resident.unload()
    assert resident.at_rest.is_set() and told[-1] == "release"
    idle = Resident(lambda: "it", lambda: None, idle_seconds=0.001)
    assert idle.use(str.upper) == "IT"
    assert idle.at_rest.wait(60)
    assert idle.use(str.upper) == "IT"


def test_memory_is_released_when_the_work_fails() -> None:
    told: list[str] = []
    resident = Resident(lambda: 0, lambda: told.append("release"), idle_seconds=0)
    with pytest.raises(ZeroDivisionError):
        resident.use(lambda zero: 1 // zero)
    assert told == ["release"]
    assert THREAD.run(threading.get_ident) == resident.use(lambda _: threading.get_ident())


def test_what_could_not_be_loaded_is_tried_again() -> None:
    tries: list[int] = []

    def load() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return "it"

    resident = Resident(load, lambda: None, idle_seconds=0)
    with pytest.raises(OSError, match="not yet"):
        resident.use(len)
    assert resident.at_rest.is_set() and resident.use(len) == 2
