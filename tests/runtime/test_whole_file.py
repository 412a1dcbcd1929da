"""A file of ours is there as a whole, or as it was."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agent_raw_rag.runtime.whole_file import write_whole


def test_it_holds_the_text_is_the_owners_alone_and_nothing_is_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "one"
    for text in ("first, and longer", "/logs/\udcff"):
        write_whole(str(file), text)
        assert os.fsdecode(file.read_bytes()) == text
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert sys.platform == "win32" or file.stat().st_mode & 0o077 == 0


def test_what_cannot_be_written_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    file = tmp_path / "one"
    write_whole(str(file), "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(str(file), "new \ud800")
    assert file.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_a_draft_that_a_killed_process_left_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "one.new").write_text("half of what was to be wri", encoding="utf-8")
    (tmp_path / "one.new").chmod(0o666)
    write_whole(str(tmp_path / "one"), "whole")
    assert sys.platform == "win32" or (tmp_path / "one").stat().st_mode & 0o077 == 0
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("one", "whole")]
