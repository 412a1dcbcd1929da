"""Locks: held by a living process, or by nobody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_raw_rag.errors import StoreBusyError
from agent_raw_rag.store.lock import DAEMON, EMBEDDER, WRITER, is_held, lock


@pytest.mark.parametrize("which", [WRITER, EMBEDDER, DAEMON])
def test_whoever_comes_second_is_told_who_was_first(tmp_path: Path, which: str) -> None:
    with (
        lock(str(tmp_path), which, wait_seconds=0, purpose="since noon"),
        pytest.raises(StoreBusyError, match=r"process \d+, since noon"),
        lock(str(tmp_path), which, wait_seconds=0, purpose="later"),
    ):
        pass


def test_asking_does_not_take_it(tmp_path: Path) -> None:
    assert not is_held(str(tmp_path), DAEMON)
    with lock(str(tmp_path), DAEMON, wait_seconds=0, purpose="a test"):
        assert is_held(str(tmp_path), DAEMON)
    assert not is_held(str(tmp_path), DAEMON)
    with lock(str(tmp_path), DAEMON, wait_seconds=0, purpose="a test"):
        pass


def test_what_a_dead_process_left_behind_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "daemon.lock").write_text('{"pid": 1, "purpose": "long ago"}', encoding="utf-8")
    assert not is_held(str(tmp_path), DAEMON)
    with lock(str(tmp_path), DAEMON, wait_seconds=0, purpose="a test"):
        pass


@pytest.mark.skipif(os.name == "nt", reason="locks cannot be shared there")
def test_whoever_only_asks_is_not_taken_for_its_holder(tmp_path: Path) -> None:
    import fcntl

    with (tmp_path / "daemon.lock").open("w", encoding="utf-8") as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        assert not is_held(str(tmp_path), DAEMON)
        with pytest.raises(StoreBusyError), lock(str(tmp_path), DAEMON, wait_seconds=0, purpose="a test"):
            pass
    assert not is_held(str(tmp_path), DAEMON)
