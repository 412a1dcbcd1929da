"""Waits, and the pause after a dead server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.http_patience import LONGEST_WAIT_SECONDS, Circuit, retry_after, wait_seconds

NOW = "Mon, 30 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 0 "}, 0),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:30 GMT", "date": NOW}, 90),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT", "date": NOW}, 0),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:30 GMT"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:30 -0000", "date": NOW}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_what_a_server_asks_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_header_is_a_wait_or_nothing(after: str, date: str) -> None:
    seconds = retry_after({"retry-after": after, "date": date})
    assert seconds is None or seconds >= 0


@given(st.integers(0, 1000), st.floats(0, 1))
def test_waits_grow_and_stay_bounded(attempt: int, chance: float) -> None:
    wait = wait_seconds(attempt, {}, chance)
    assert 0.25 <= wait <= LONGEST_WAIT_SECONDS
    assert wait <= wait_seconds(attempt + 1, {}, 1.0)


def test_a_dead_server_is_left_alone_until_the_pause_is_over() -> None:
    now = [100.0]
    circuit = Circuit(lambda: now[0])
    assert circuit.why_open() is None
    circuit.open(15, "It is dead.")
    now[0] = 111.0
    assert circuit.why_open() == "It is dead. It is asked again in 4 s."
    now[0] = 115.0
    assert circuit.why_open() is None
    circuit.open(15, "It is dead.")
    circuit.close()
    assert circuit.why_open() is None
