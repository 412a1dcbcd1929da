"""When the machine is needed for something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.daemon.pressure import OwnLoad, on_battery_by, reason_to_wait


@given(threads=st.floats(0, 64), steps=st.lists(st.floats(0.1, 30), min_size=60, max_size=60))
def test_own_work_is_known_as_own(threads: float, steps: list[float]) -> None:
    """After minutes of steady work the system's load holds all of it, and so does this."""
    own, now = OwnLoad(0.0, 0.0), 0.0
    for step in steps:
        now += step
        load = own.sample(now, threads * now)
    assert 0 <= load <= threads * (1 + 1e-9)
    if now > 600:
        assert load == pytest.approx(threads, rel=0.01, abs=0.01)


@pytest.mark.parametrize(
    ("load", "own", "cores", "limit", "battery", "reason"),
    [
        (0.1, 0.0, 4, 0.8, False, None),
        (3.3, 0.0, 4, 0.8, False, "the machine is busy (load 0.8 a core)"),
        (4.0, 3.9, 4, 0.8, False, None),
        (9.0, 0.0, 2, 0.0, False, None),
        (0.0, 2.0, 2, 0.8, False, None),
        (0.0, 0.0, 2, 0.8, True, "the machine runs on its battery"),
        (0.0, 0.0, 2, 0.0, True, "the machine runs on its battery"),
    ],
)
def test_vectors_wait_for_others_work_and_for_mains(
    load: float, own: float, cores: int, limit: float, battery: bool, reason: str | None
) -> None:
    assert reason_to_wait(load, own, cores, limit, battery) == reason


@pytest.mark.parametrize(
    ("supplies", "on_battery"),
    [
        ({}, False),
        ({"AC": {"type": "Mains", "online": "1"}, "BAT0": {"type": "Battery", "status": "Charging"}}, False),
        ({"AC": {"type": "Mains", "online": "0"}, "BAT0": {"type": "Battery", "status": "Discharging"}}, True),
        ({"AC": {"type": "Mains", "online": "1"}, "BAT0": {"type": "Battery", "status": "Discharging"}}, False),
        ({"BAT0": {"type": "Battery", "status": "Discharging"}}, True),
        ({"BAT0": {"type": "Battery", "status": "Full"}}, False),
        ({"mouse": {"type": "Battery", "scope": "Device", "status": "Discharging"}}, False),
        ({"BAT0": {"type": "Battery"}}, False),
        ({"ucsi": {"type": "USB", "online": "1"}, "BAT0": {"type": "Battery", "status": "Discharging"}}, False),
    ],
)
def test_a_battery_counts_if_it_is_the_machines_and_nothing_else_feeds_it(
    tmp_path: Path, supplies: dict[str, dict[str, str]], on_battery: bool
) -> None:
    for name, facts in supplies.items():
        (tmp_path / name).mkdir()
        for fact, value in facts.items():
            (tmp_path / name / fact).write_text(f"{value}\n", encoding="utf-8")
    assert on_battery_by(str(tmp_path)) is on_battery


def test_a_system_that_says_nothing_of_supplies_has_mains(tmp_path: Path) -> None:
    assert on_battery_by(str(tmp_path / "nowhere")) is False
