"""Calls that return in time."""

from __future__ import annotations

from threading import Event

import pytest

from agent_raw_rag.encode.http_bounded import within


def test_a_result_and_an_error_come_through() -> None:
    assert within(60, lambda: 7) == 7
    with pytest.raises(KeyError, match="gone"):
        within(60, lambda: {}["gone"])


def test_a_call_that_never_ends_is_left_behind() -> None:
    ended = Event()
    with pytest.raises(TimeoutError):
        within(0.01, ended.wait)
    ended.set()
