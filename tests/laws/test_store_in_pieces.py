"""The law of ingest: however logs grow, in whatever pieces and order they are read, the store ends up the same, row for row."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.ingest.picture import Picture
from tests.dump import differences, dump
from tests.store_support import Ingest

LOGS = Path(__file__).parents[1] / "logs"
TREES = {
    "claude": {version.name: ".claude" for version in (LOGS / "claude").iterdir() if version.is_dir()},
    "codex": {version.name: ".codex" for version in (LOGS / "codex").iterdir() if version.is_dir()},
    "omp": {
        version.name: ".omp/agent" if version.name.startswith("omp") else ".pi/agent"
        for version in (LOGS / "omp").iterdir()
        if version.is_dir()
    },
}
CASES = [(agent, version) for agent, versions in TREES.items() for version in sorted(versions)]


@cache
def files(agent: str, version: str) -> tuple[tuple[str, bytes], ...]:
    root = LOGS / agent / version
    return tuple(
        (path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix in (".jsonl", ".zst")
    )


class Machine:
    """A HOME whose logs grow, and a store that follows."""

    def __init__(self, agent: str, version: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.agent = agent
        self.root = self.folder / "home" / TREES[agent][version]
        self.ingest = Ingest(self.folder / "home", self.folder / "store")

    def grow(self, name: str, data: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        held = path.stat().st_size if path.exists() else 0
        with path.open("ab") as stream:
            stream.write(data[held:])

    def run(self, only: set[str] | None = None) -> None:
        reports = self.ingest.run(self.agent, only=only)
        assert reports[self.agent].failed == {}

    def picture(self) -> Picture:
        row = adapters()[self.agent]
        return Picture(row, row.roots({}, str(self.ingest.home)))

    def end(self) -> dict[str, list[tuple[Any, ...]]]:
        found = dump(self.ingest.connection)
        self.ingest.connection.close()
        shutil.rmtree(self.folder)
        return found


@cache
def whole(agent: str, version: str) -> dict[str, list[tuple[Any, ...]]]:
    machine = Machine(agent, version)
    for name, data in files(agent, version):
        machine.grow(name, data)
    machine.run()
    return machine.end()


def without_paths(found: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    return {name: rows for name, rows in found.items() if name != "tallies"}


@pytest.mark.parametrize(("agent", "version"), CASES)
@settings(max_examples=settings().max_examples // 8)
@given(shares=st.lists(st.lists(st.floats(0, 1), min_size=20, max_size=20), max_size=4))
def test_logs_that_grow_in_any_pieces_give_the_same_store(agent: str, version: str, shares: list[list[float]]) -> None:
    logs = files(agent, version)
    machine = Machine(agent, version)
    reached = [0.0] * len(logs)
    for step in shares:
        for place, (name, data) in enumerate(logs):
            if not name.endswith(".zst"):
                reached[place] = max(reached[place], step[place % 20])
                machine.grow(name, data[: int(len(data) * reached[place])])
        machine.run()
    for name, data in logs:
        machine.grow(name, data)
    machine.run()
    assert differences(machine.end(), whole(agent, version)) == []


@pytest.mark.parametrize(("agent", "version"), CASES)
@settings(max_examples=settings().max_examples // 8)
@given(
    steps=st.lists(st.tuples(st.integers(0, 19), st.floats(0, 1), st.booleans()), max_size=30), renamed=st.booleans()
)
def test_reading_only_what_changed_gives_the_same_store(
    agent: str, version: str, steps: list[tuple[int, float, bool]], renamed: bool
) -> None:
    """Sources grow one at a time; each time only those that look different are read, or (if no event told) several at once."""
    logs = files(agent, version)
    machine = Machine(agent, version)
    picture = machine.picture()
    for place, share, told in steps:
        name, data = logs[place % len(logs)]
        if not name.endswith(".zst"):
            machine.grow(name, data[: int(len(data) * share)])
            if told:
                path = str(machine.root / name)
                machine.run(only=picture.changed([path] if picture.source_of(path) else None))
    if renamed and (machine.root / logs[0][0]).exists() and not logs[0][0].endswith(".zst"):
        here = machine.root / logs[0][0]
        machine.run(only=picture.changed())
        here.rename(here.with_name("elsewhere"))
        machine.run(only=picture.changed())
        here.with_name("elsewhere").rename(here)
    for name, data in logs:
        machine.grow(name, data)
    machine.run(only=picture.changed())
    assert picture.changed() == set()
    assert differences(machine.end(), whole(agent, version)) == []


@pytest.mark.parametrize(("agent", "version"), CASES)
def test_line_by_line_gives_the_same_store(agent: str, version: str) -> None:
    logs = [(name, data) for name, data in files(agent, version) if not name.endswith(".zst")]
    machine = Machine(agent, version)
    ends = [line_ends(data) for _, data in logs]
    for number in range(min(60, max(map(len, ends), default=0))):
        for (name, data), places in zip(logs, ends, strict=True):
            machine.grow(name, data[: places[min(number, len(places) - 1)]] if places else b"")
        machine.run()
    for name, data in files(agent, version):
        machine.grow(name, data)
    machine.run()
    assert differences(machine.end(), whole(agent, version)) == []


def line_ends(data: bytes) -> Sequence[int]:
    return [place + 1 for place, byte in enumerate(data) if byte == 10]


@pytest.mark.parametrize(("agent", "version"), CASES)
def test_bytes_of_one_line_in_single_steps_change_nothing_before_its_end(agent: str, version: str) -> None:
    name, data = max(
        ((name, data) for name, data in files(agent, version) if not name.endswith(".zst")),
        key=lambda item: len(line_ends(item[1])),
    )
    ends = line_ends(data)
    machine = Machine(agent, version)
    start = ends[len(ends) // 2 - 1] if len(ends) > 1 else 0
    stop = min(ends[len(ends) // 2], start + 300) if ends else 0
    machine.grow(name, data[:start])
    machine.run()
    before = dump(machine.ingest.connection)
    for place in range(start + 1, min(stop, start + 60)):
        machine.grow(name, data[:place])
        machine.run()
        assert differences(without_paths(before), without_paths(dump(machine.ingest.connection))) == []
    for other, content in files(agent, version):
        machine.grow(other, content)
    machine.run()
    assert differences(machine.end(), whole(agent, version)) == []


@pytest.mark.parametrize(("agent", "version"), CASES)
def test_running_again_and_rebuilding_change_nothing(agent: str, version: str) -> None:
    machine = Machine(agent, version)
    for name, data in files(agent, version):
        machine.grow(name, data)
    machine.run()
    for again in (False, False, True, False):
        machine.ingest.run(agent, again=again)
    assert differences(machine.end(), whole(agent, version)) == []


def test_reading_ahead_in_another_process_gives_the_same_store() -> None:
    agent, version = CASES[0]
    machine = Machine(agent, version)
    for name, data in files(agent, version):
        machine.grow(name, data)
    machine.ingest.run(agent, ahead_bytes=0)
    assert differences(machine.end(), whole(agent, version)) == []
