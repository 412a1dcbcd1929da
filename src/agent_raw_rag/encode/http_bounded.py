"""A call that returns in time, whatever it waits for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """What the call returns or raises.

    A socket's timeout begins anew with every byte, and a name's look-up has none: so the call has a thread of its own, which is
    left behind when the time is over and holds up no exit.

    Raises:
        TimeoutError: the call is not done.
    """
    done: Future[Result] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # whatever it is, it is raised where the result is waited for
            done.set_exception(error)

    Thread(target=run, name="inference", daemon=True).start()
    return done.result(seconds)
