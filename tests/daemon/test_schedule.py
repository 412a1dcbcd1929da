"""Laws of the schedule: nothing that was noticed is lost, nothing waits for ever, and nothing is done without need."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.daemon.schedule import (
    AGENT_BACKOFF,
    NEVER,
    SOURCE_BACKOFF,
    TEXT,
    Backoff,
    Debounce,
    Schedule,
)

AGENTS, PATHS = st.sampled_from(["one", "two"]), st.sampled_from(["a", "b", "c"])
PAUSES = st.floats(0, 5)


@given(first=st.floats(0, 1e6), later=st.floats(0, 1e3), quiet=st.floats(0, 10), more=st.floats(0, 10))
def test_a_change_waits_for_quiet_and_no_longer_than_the_longest(
    first: float, later: float, quiet: float, more: float
) -> None:
    debounce = Debounce(quiet, quiet + more)
    due = debounce.due_at(first, first + later)
    assert due <= first + debounce.longest
    assert due == first + debounce.longest or due == first + later + quiet


@given(failures=st.integers(1, 10_000))
def test_each_failure_waits_no_shorter_than_the_one_before_and_never_too_long(failures: int) -> None:
    for backoff in (AGENT_BACKOFF, SOURCE_BACKOFF, Backoff(0.5, 7)):
        assert backoff.first <= backoff.delay(failures) <= backoff.delay(failures + 1) <= backoff.longest


@dataclass
class Simulation:
    """A schedule that is driven by a clock of its own; each instant at which it asks to be woken, it is."""

    schedule: Schedule = field(default_factory=lambda: Schedule(60.0, 0.0))
    now: float = 0.0
    noticed: dict[tuple[str, str], float] = field(default_factory=dict)
    """(agent, path) -> since when it is pending."""
    done: int = 0

    def change(self, agent: str, path: str) -> None:
        self.schedule.changed(agent, path, self.now)
        self.noticed.setdefault((agent, path), self.now)

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while (wake := self.schedule.next_at()) <= end:
            self.now = max(self.now, wake)
            due = self.schedule.due(self.now)
            if self.schedule.is_scan_due(self.now):
                self.schedule.scanned(0.01, self.now)
            elif not due:
                raise AssertionError("woken for nothing")
            for one in due:
                for path in one.look:
                    assert self.now - self.noticed.pop((one.agent, path)) <= TEXT.longest + 1e-6
                self.done += 1
        self.now = end


@given(steps=st.lists(st.tuples(AGENTS, PATHS, PAUSES), max_size=60))
def test_every_change_is_handed_out_in_time_and_only_then_does_it_wake(steps: list[tuple[str, str, float]]) -> None:
    simulation = Simulation()
    for agent, path, pause in steps:
        simulation.change(agent, path)
        simulation.wait(pause)
    simulation.wait(TEXT.longest)
    assert simulation.noticed == {}
    assert simulation.done <= len(steps)


@given(pauses=st.lists(st.floats(0.001, 0.29), min_size=10, max_size=60))
def test_constant_writing_is_read_about_once_a_second(pauses: list[float]) -> None:
    simulation = Simulation()
    for pause in pauses:
        simulation.change("one", "a")
        simulation.wait(pause)
    assert simulation.done <= sum(pauses) / TEXT.longest + 1


def test_when_nothing_happens_it_wakes_for_scans_alone() -> None:
    schedule = Schedule(60.0, 0.0)
    assert schedule.next_at() == 60.0
    assert not schedule.is_scan_due(59.9)
    schedule.scanned(0.01, 60.0)
    assert schedule.next_at() == 120.0


@given(cost=st.floats(0, 100))
def test_a_scan_that_takes_long_comes_rarely(cost: float) -> None:
    schedule = Schedule(60.0, 0.0)
    schedule.scanned(cost, 60.0)
    assert schedule.next_at() - 60.0 >= max(60.0, cost * 300)


def test_what_could_not_be_read_comes_back_later_and_later() -> None:
    schedule, now, waits = Schedule(1e9, 0.0), 0.0, []
    schedule.changed("one", "a", now)
    for _ in range(8):
        now = schedule.next_at()
        (due,) = schedule.due(now)
        assert due.look | due.read == {"a"}
        assert schedule.due(now) == []
        waits.append(schedule.failed("one", ["a"], now))
    assert waits == sorted(waits)
    assert waits[-1] == AGENT_BACKOFF.longest
    (due,) = schedule.due(schedule.next_at())
    schedule.read("one", due.read)
    schedule.went_well("one")
    assert schedule.next_at() == 1e9


def test_one_source_that_fails_holds_up_no_other() -> None:
    schedule = Schedule(1e9, 0.0)
    schedule.refused("one", "bad", 0.0)
    schedule.changed("one", "good", 0.0)
    (due,) = schedule.due(schedule.next_at())
    assert (due.look, due.read) == ({"good"}, frozenset())
    assert schedule.next_at() == SOURCE_BACKOFF.first


def test_a_failing_agent_holds_up_no_other() -> None:
    schedule = Schedule(1e9, 0.0)
    schedule.failed("one", ["a"], 0.0)
    schedule.changed("one", "b", 0.0)
    schedule.changed("two", "c", 0.0)
    assert [due.agent for due in schedule.due(0.5)] == ["two"]
    (due,) = schedule.due(AGENT_BACKOFF.first)
    assert (due.look, due.read) == ({"b"}, {"a"})


@pytest.mark.parametrize("cost", [0.0, 0.05, 2.0])
def test_looking_everywhere_is_bounded_to_a_share_of_the_time_and_known_sources_do_not_wait(cost: float) -> None:
    schedule = Schedule(1e9, 0.0)
    schedule.changed("one", None, 0.0)
    (due,) = schedule.due(schedule.next_at())
    assert due.everywhere
    schedule.looked("one", cost, 10.0)
    schedule.changed("one", None, 10.0)
    schedule.changed("one", "a", 10.0)
    (due,) = schedule.due(10.0 + TEXT.quiet)
    assert due.look == {"a"}
    assert due.everywhere == (cost * 19 <= TEXT.quiet)
    if not due.everywhere:
        assert schedule.next_at() == pytest.approx(10.0 + cost * 19)


def test_what_is_handed_out_is_not_handed_out_again() -> None:
    schedule = Schedule(1e9, 0.0)
    schedule.changed("one", None, 0.0)
    schedule.changed("one", "a", 0.0)
    assert len(schedule.due(1.0)) == 1
    assert schedule.due(1e8) == []
    assert schedule.next_at() < NEVER
