"""The history of chats that are not stored: it passes."""

from __future__ import annotations

from agent_raw_rag.gateway.history import MOST_CHARS, MOST_CHARS_OF_ALL, MOST_SESSIONS, MOST_TURNS, PassingHistory
from agent_raw_rag.gateway.shapes import Message


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_was_said_is_known_in_its_order_and_in_its_session_alone() -> None:
    history = PassingHistory(60)
    history.add("a", Message("user", "one"))
    history.add("a", Message("assistant", "two"))
    history.add("b", Message("user", "other"))
    assert [one.text for one in history.messages("a")] == ["one", "two"]
    assert history.messages("c") == []


def test_a_session_that_is_silent_for_too_long_is_gone_and_one_that_is_not_stays() -> None:
    clock = Clock()
    history = PassingHistory(60, clock)
    history.add("a", Message("user", "one"))
    history.add("b", Message("user", "one"))
    clock.now = 50
    history.add("a", Message("user", "two"))
    clock.now = 70
    assert len(history.messages("a")) == 2 and history.messages("b") == []


def test_it_holds_so_many_sessions_turns_and_characters() -> None:
    history = PassingHistory(60)
    for n in range(MOST_SESSIONS + 1):
        history.add(f"s{n}", Message("user", "one"))
    assert history.messages("s0") == [] and history.messages("s1")
    for n in range(MOST_TURNS + 5):
        history.add("s1", Message("user", str(n)))
    assert len(history.messages("s1")) == MOST_TURNS
    history.add("s1", Message("user", "x" * (MOST_CHARS + 1)))
    assert len(history.messages("s1")) == 1


def test_all_sessions_together_hold_so_many_characters_and_the_oldest_goes_first() -> None:
    history = PassingHistory(60)
    long = Message("user", "x" * MOST_CHARS)
    most = MOST_CHARS_OF_ALL // MOST_CHARS
    for n in range(most):
        history.add(f"s{n}", long)
    assert history.messages("s0")
    history.add("s0", Message("assistant", "y" * 10))  # its own beginning goes, and it is the last now
    assert history.messages("s1")
    history.add("new", long)
    assert (
        history.messages("s1") == [] and history.messages("s2") and history.messages("s0") and history.messages("new")
    )
