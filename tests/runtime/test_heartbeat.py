"""The heartbeat file: read back as it was written, and never a reason to fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.runtime.heartbeat import FILE, AgentBeat, Heartbeat, read, state, write
from agent_raw_rag.runtime.whole_file import DRAFT
from agent_raw_rag.store.lock import DAEMON, lock

TIMES = st.floats(0, 4e9)
AGENTS = st.builds(AgentBeat, lag_seconds=st.none() | TIMES, failing=st.dictionaries(st.text(), st.text()))
BEATS = st.builds(
    Heartbeat, pid=st.integers(1, 1 << 22), version=st.text(), started=TIMES, beat=TIMES, ended=st.none() | TIMES,
    error=st.none() | st.text(), agents=st.dictionaries(st.text(), AGENTS),
)  # fmt: skip


@given(beat=BEATS)
def test_it_reads_back_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, beat: Heartbeat) -> None:
    home = str(tmp_path_factory.getbasetemp())
    write(home, beat)
    assert read(home) == beat


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"pid": 1}', '{"agents": []}', '{"agents": {}, "colour": "red"}']
)
def test_a_file_that_says_nothing_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert read(str(tmp_path)) is None


def test_only_the_lock_says_that_it_runs(tmp_path: Path) -> None:
    assert not state(str(tmp_path)).running
    write(str(tmp_path), Heartbeat(pid=1, version="0", started=0.0, beat=0.0))
    assert not state(str(tmp_path)).running
    with lock(str(tmp_path), DAEMON, wait_seconds=0, purpose="a test"):
        assert state(str(tmp_path)).running
    json.dumps(state(str(tmp_path)).as_json())


def test_it_is_the_users_alone_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write(str(tmp_path), Heartbeat(pid=1, version="0", started=0.0, beat=0.0))
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0


def test_where_no_other_file_can_be_made_it_is_written_over_the_last_one(tmp_path: Path) -> None:
    """As on a full disk: here a folder stands where the draft would."""
    beat = Heartbeat(pid=1, version="0", started=0.0, beat=0.0, config_problem="a long one")
    write(str(tmp_path), beat)
    (tmp_path / f"{FILE}{DRAFT}").mkdir()
    beat.config_problem, beat.error = None, "full"
    write(str(tmp_path), beat)
    found = read(str(tmp_path))
    assert found is not None and (found.error, found.config_problem) == ("full", None)
