"""What is held of the exchanges that run and of those that wait: within one budget, and nothing of what is not stored."""

from __future__ import annotations

import threading

import pytest

from agent_raw_rag.gateway.forms import OPENAI
from agent_raw_rag.gateway.shapes import Asked, Message
from agent_raw_rag.models import Actor
from agent_raw_rag.server.http.proxy.overheard import MOST, TOO_LONG, TOO_MUCH, Budget, Overheard


def exchange(budget: Budget, text: str = "Hi", *, wanted: bool = True) -> Overheard:
    return Overheard(
        OPENAI, Asked("m", True, (Message("user", text),)), "s", "d", Actor("x", "proxy"), 1, budget, wanted
    )


def test_requests_and_answers_of_all_that_run_are_held_within_one_budget() -> None:
    budget = Budget(10_000)
    running = [exchange(budget, "x" * 1000) for _ in range(4)]
    for _ in range(20):
        for one in running:
            one.add(b"y" * 500)
    assert budget.held <= 10_000
    assert {one.missing for one in running} == {TOO_MUCH} and all(one.partial and one.heard for one in running)
    assert sum(len(piece) for one in running for piece in one.pieces) >= 4000
    for one in running:
        one.drop()
        one.drop()
    assert budget.held == 0
    assert exchange(budget).missing == ""


def test_after_a_piece_that_was_left_out_none_is_kept() -> None:
    budget = Budget(1000)
    one = exchange(budget)
    one.add(b"a" * 100)
    one.add(b"b" * 5000)
    one.add(b"c")
    one.whole = True
    assert (one.pieces, one.partial, one.missing) == ([b"a" * 100], True, TOO_MUCH)


def test_a_request_that_does_not_fit_is_not_heard_and_said_to_be_missing() -> None:
    budget = Budget(1000)
    one = exchange(budget, "x" * 2000)
    one.add(b"answer")
    assert (one.heard, one.missing, one.pieces, one.asked.messages, budget.held) == (False, TOO_MUCH, [], (), 0)
    one.refused()
    assert (one.heard, one.missing) == (False, "")


def test_nothing_is_held_of_what_is_not_stored_or_refused() -> None:
    budget = Budget()
    unwanted = exchange(budget, wanted=False)
    unwanted.add(b"{ an answer")
    assert (unwanted.pieces, unwanted.asked.messages, unwanted.begins, budget.held) == ([], (), b"{ an answer", 0)
    one = exchange(budget)
    one.refused()
    one.add(b"{ an error")
    assert (one.pieces, one.heard) == ([], False)


def test_of_an_answer_without_end_so_much_is_kept() -> None:
    one, piece = exchange(Budget()), b"x" * (MOST // 4)
    for _ in range(6):
        one.add(piece)
    assert (len(one.pieces), one.missing, one.partial, one.heard) == (4, TOO_LONG, True, True)


@pytest.mark.parametrize("threads", [4])
def test_a_budget_is_exact_among_threads(threads: int) -> None:
    budget = Budget(1000)

    def run() -> None:
        for _ in range(2000):
            if budget.take(300):
                assert budget.held <= 1000
                budget.give(300)

    working = [threading.Thread(target=run) for _ in range(threads)]
    for one in working:
        one.start()
    for one in working:
        one.join()
    assert budget.held == 0
