"""When the hosts sweep."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_raw_rag.models import Capture, Role
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.sweeping import AGAIN_SECONDS, sweep_spaces, warn_of_rules
from agent_raw_rag.server.catch_up import CatchUp
from tests.memory.spoken import OWNER, Spoken

RELEASE = "Remember: release window is Tuesday"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    runtime = Spoken(tmp_path / "home").runtime
    for slug in ("default", "other"):
        runtime.in_space(slug).memory.raw.capture(Capture(RELEASE, "tester", role=Role.USER), OWNER)
    return runtime


def notes(runtime: Runtime) -> list[dict[str, int]]:
    return [runtime.in_space(slug).status().notes for slug in ("default", "other")]


def test_every_space_is_swept_when_it_is_due_and_not_before(runtime: Runtime) -> None:
    assert sweep_spaces(runtime) == 21_600
    assert notes(runtime) == [{"fact": 1}, {"fact": 1}]
    again = Capture("We decided to stay with SQLite for now.", "tester", role=Role.USER)
    runtime.memory.raw.capture(again, OWNER)
    assert 21_000 < sweep_spaces(runtime) <= 21_600
    assert notes(runtime) == [{"fact": 1}, {"fact": 1}]


def test_a_home_without_stores_is_due_after_an_interval(tmp_path: Path) -> None:
    spoken = Spoken(tmp_path / "home", "[promotion]\ninterval_seconds = 400\n")
    assert sweep_spaces(spoken.runtime) == 400
    assert not (spoken.home / "raw_rag.db").exists()


def test_what_cannot_be_swept_is_told_and_tried_again(runtime: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    own = Path(runtime.home) / "triggers.toml"
    own.write_text("nonsense = 1\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING, "agent_raw_rag"):
        assert sweep_spaces(runtime) == AGAIN_SECONDS
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "line 1: unknown key 'nonsense'" in caplog.text
    own.unlink()
    assert sweep_spaces(runtime) == 21_600


def test_rules_that_cannot_be_used_are_told_before_a_sweep_is_due(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    sweep_spaces(runtime)
    (Path(runtime.home) / "triggers.toml").write_text("nonsense = 1\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING, "agent_raw_rag"):
        warn_of_rules(runtime)
    assert "triggers.toml, line 1: unknown key 'nonsense'" in caplog.text


def test_a_server_sweeps_once_it_has_caught_up(runtime: Runtime) -> None:
    CatchUp(lambda: runtime)._run()
    assert notes(runtime) == [{"fact": 1}, {"fact": 1}]


def test_sweeps_and_captures_at_the_same_time_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    spoken = Spoken(tmp_path / "home", "[promotion]\non_capture = true\n")
    processes = [spoken.runtime for _ in range(3)]  # each has its own connections, as three processes have

    def work(number: int) -> None:
        runtime = processes[number % 3]
        for line in range(5):
            said = Capture(f"Remember: the port of host {number}-{line} is open", "tester", role=Role.USER)
            runtime.memory.raw.capture(said, OWNER)
            runtime.memory.promotion.sweep()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert processes[0].memory.promotion.sweep().created == 0
    status = processes[0].status()
    assert (status.notes, status.candidates["promoted"]) == ({"fact": 30}, 30)
    assert sum(status.candidates.values()) == 30
    assert processes[0].memory.journal.verify().ok
