"""When vectors are made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.daemon.schedule import NEVER
from agent_raw_rag.daemon.vectors import LOOK_AGAIN_SECONDS, PATIENCE, QUIET, Plan


def test_without_new_text_nothing_is_tried() -> None:
    assert Plan().at() == NEVER


@given(pauses=st.lists(st.floats(0, 20), min_size=1, max_size=40))
def test_new_text_gets_vectors_when_it_is_quiet_and_in_time_while_it_is_not(pauses: list[float]) -> None:
    plan, now = Plan(), 0.0
    for pause in pauses:
        plan.added(now)
        now += pause
    assert QUIET.quiet <= plan.at() <= QUIET.longest


def test_a_busy_machine_is_asked_again_after_a_while() -> None:
    plan = Plan()
    plan.added(0.0)
    plan.waits(100.0)
    assert plan.at() == 100.0 + LOOK_AGAIN_SECONDS


def test_a_model_that_fails_is_tried_more_and_more_rarely_until_it_works() -> None:
    plan, now, waits = Plan(), 0.0, []
    for _ in range(12):
        plan.began()
        plan.added(now)
        plan.failed(now)
        waits.append(plan.at() - now)
        now = plan.at()
    assert waits == sorted(waits)
    assert waits[-1] == PATIENCE.longest
    plan.done()
    plan.began()
    plan.added(now)
    assert plan.at() == now + QUIET.quiet


def test_text_that_comes_while_vectors_are_made_counts_for_the_next_time() -> None:
    plan = Plan()
    plan.added(0.0)
    plan.began()
    assert plan.at() == NEVER
    plan.added(7.0)
    plan.done()
    assert plan.at() == 7.0 + QUIET.quiet
