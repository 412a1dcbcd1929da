from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.daemon_fallback import KEPT_SECONDS, Spare
from agent_raw_rag.encode.daemon_presence import (
    AWAY_SECONDS,
    BELIEVED_SECONDS,
    MOST_AWAY_SECONDS,
    Health,
    Presence,
    read_health,
)
from agent_raw_rag.encode.hashing import HashingEncoder


class World:
    """A clock that is set, and a daemon that comes and goes; it remembers who looked when, and what was seen."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pid: int | None = None
        self.looks: list[float] = []
        self.presence = Presence(self.look, lambda: self.now)

    def look(self) -> Health | None:
        self.looks.append(self.now)
        return None if self.pid is None else Health(self.pid, "1", ("s",), ())


steps = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.floats(0, 3, allow_nan=False)),
        st.tuples(st.just("comes"), st.just(0.0)),
        st.tuples(st.just("goes"), st.just(0.0)),
        st.tuples(st.just("lost"), st.just(0.0)),
        st.tuples(st.just("asked"), st.just(0.0)),
    ),
    max_size=60,
)


def played(script: list[tuple[str, float]]) -> tuple[World, list[tuple[float, int | None, Health | None]]]:
    """The world after a script, and for every question: when, who was there, what was said."""
    world, said, pids = World(), [], iter(range(1, 1000))
    for step, seconds in script:
        if step == "wait":
            world.now += seconds
        elif step == "comes":
            world.pid = next(pids)
        elif step == "goes":
            world.pid = None
        elif step == "lost":
            world.presence.lost()
        else:
            said.append((world.now, world.pid, world.presence.health()))
    return world, said


@given(steps)
def test_what_is_said_of_a_daemon_was_seen_a_moment_ago(script: list[tuple[str, float]]) -> None:
    world, said = played(script)
    for now, _, health in said:
        if health is not None:
            assert any(now - BELIEVED_SECONDS <= look <= now for look in world.looks)


@given(steps)
def test_looking_is_rare_however_often_it_is_asked_for(script: list[tuple[str, float]]) -> None:
    world, _ = played(script)
    assert all(later - earlier >= AWAY_SECONDS for earlier, later in zip(world.looks, world.looks[1:], strict=False))


@given(steps)
def test_a_daemon_that_stays_is_used_after_some_seconds_whatever_was_before(script: list[tuple[str, float]]) -> None:
    world, _ = played(script)
    world.pid = 5000
    world.now += MOST_AWAY_SECONDS
    found = world.presence.health()
    assert found is not None and found.pid == 5000


@given(steps)
def test_after_a_failed_request_nobody_is_asked_for_a_moment(script: list[tuple[str, float]]) -> None:
    world, _ = played(script)
    world.pid = 5000
    world.presence.lost()
    looks = len(world.looks)
    world.now += AWAY_SECONDS / 2
    assert world.presence.health() is None and len(world.looks) == looks


def test_a_daemon_that_is_there_is_asked_nothing_twice_within_the_moment() -> None:
    world = World()
    world.pid = 7
    assert [world.presence.health() for _ in range(100)] == [Health(7, "1", ("s",), ())] * 100
    assert world.looks == [0.0]


class Unloading(HashingEncoder):
    """One that counts how often it leaves memory."""

    unloaded = 0

    def unload(self) -> None:
        self.unloaded += 1


def test_an_own_model_leaves_memory_once_after_the_daemon_answered_for_a_while() -> None:
    model, now = Unloading(), [0.0]
    spare = Spare(model, lambda: now[0])
    spare.idle()
    assert model.unloaded == 0
    spare.used()
    now[0] = KEPT_SECONDS - 1
    spare.idle()
    assert model.unloaded == 0
    now[0] = KEPT_SECONDS
    for _ in range(3):
        spare.idle()
    assert model.unloaded == 1


def test_an_own_model_that_cannot_be_unloaded_stays() -> None:
    now = [0.0]
    spare = Spare(HashingEncoder(), lambda: now[0])
    spare.used()
    now[0] = KEPT_SECONDS
    spare.idle()


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(
    st.sampled_from(["pid", "version", "spaces", "rerankers"]), one)))  # fmt: skip
def test_any_answer_to_health_is_read_or_is_none(answer: object) -> None:
    found = read_health(answer)
    assert found is None or (type(found.pid) is int and all(isinstance(one, str) for one in found.spaces))
