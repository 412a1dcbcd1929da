"""Spaces are loaded one at a time, and are known as ready only when they are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_raw_rag.runtime import Runtime
from agent_raw_rag.server.http.warming import Warmth
from tests.samples import empty_runtime, sample_runtime


def settle() -> None:
    """Wait for what is loading."""
    for thread in threading.enumerate():
        if thread.name == "warming":
            thread.join(60)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    settle()


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    return sample_runtime(tmp_path_factory.mktemp("warm"))


def test_a_space_is_loaded_once_and_ready_then(runtime: Runtime) -> None:
    warmth = Warmth()
    assert not warmth.is_ready(runtime)
    warmth.spread(runtime)
    settle()
    assert warmth.is_ready(runtime)


def test_what_is_ready_is_not_loaded_again(runtime: Runtime) -> None:
    loaded: list[str] = []
    warmth = Warmth(lambda one: loaded.append(one.space))
    for _ in range(3):
        warmth.spread(runtime)
        settle()
    assert loaded == ["default"]


def test_a_space_that_failed_is_tried_again(runtime: Runtime) -> None:
    tries: list[int] = []

    def fails_once(_: Runtime) -> None:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("the model cannot be read")

    warmth = Warmth(fails_once)
    warmth.spread(runtime)
    settle()
    assert not warmth.is_ready(runtime)
    warmth.spread(runtime)
    settle()
    assert warmth.is_ready(runtime)


def test_only_one_space_is_loaded_at_a_time(runtime: Runtime, tmp_path: Path) -> None:
    begun, go_on, loaded = threading.Event(), threading.Event(), list[str]()

    def waits(one: Runtime) -> None:
        begun.set()
        assert go_on.wait(60)
        loaded.append(one.home)

    other, warmth = sample_runtime(tmp_path), Warmth(waits)
    warmth.spread(runtime)
    assert begun.wait(60)
    for _ in range(50):
        warmth.spread(other)
        warmth.spread(runtime)
    go_on.set()
    settle()
    assert loaded == [runtime.home]
    warmth.spread(other)
    settle()
    assert loaded == [runtime.home, other.home]


def test_a_space_without_a_store_is_left_alone(tmp_path: Path) -> None:
    loaded: list[str] = []
    Warmth(lambda one: loaded.append(one.space)).spread(empty_runtime(tmp_path))
    settle()
    assert loaded == []
