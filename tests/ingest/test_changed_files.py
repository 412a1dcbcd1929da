"""Files that are deleted, linked, replaced and made unreadable between two runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.ingest.claude_log import AGENT, folder, lines, said
from tests.store_support import Ingest


@pytest.fixture
def ingest(tmp_path: Path) -> Ingest:
    return Ingest(tmp_path / "home", tmp_path / "store")


def sources(ingest: Ingest) -> dict[str, tuple[str, int]]:
    """Session -> (file name, whether it is gone)."""
    rows = ingest.connection.execute(
        "SELECT s.native, o.path, o.gone FROM sessions s JOIN sources o ON o.id = s.source_id"
    )
    return {native: (Path(path).name, gone) for native, path, gone in rows}


def test_a_new_log_under_the_number_of_a_deleted_one_is_not_taken_for_it(ingest: Ingest) -> None:
    first, second = folder(ingest.home) / "a.jsonl", folder(ingest.home) / "b.jsonl"
    first.write_text("".join(lines(6, "a")), encoding="utf-8")
    ingest.run(AGENT)
    first.rename(second)  # the same inode
    second.write_text("".join(lines(6, "b")), encoding="utf-8")
    ingest.run(AGENT)
    assert sources(ingest) == {"a": ("a.jsonl", 1), "b": ("b.jsonl", 0)}
    assert (len(said(ingest, "a")), len(said(ingest, "b"))) == (6, 6)


def test_a_renamed_log_is_followed(ingest: Ingest) -> None:
    first, second = folder(ingest.home, "-a") / "s1.jsonl", folder(ingest.home, "-b") / "s1.jsonl"
    first.write_text("".join(lines(4)), encoding="utf-8")
    ingest.run(AGENT)
    first.rename(second)
    second.write_text("".join(lines(6)), encoding="utf-8")
    ingest.run(AGENT)
    assert sources(ingest) == {"s1": ("s1.jsonl", 0)}
    assert len(said(ingest)) == 6


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_is_closed_costs_only_its_own_logs_and_is_told(ingest: Ingest) -> None:
    closed, free = folder(ingest.home, "-a"), folder(ingest.home, "-b")
    (closed / "s1.jsonl").write_text("".join(lines(4, "s1")), encoding="utf-8")
    ingest.run(AGENT)
    (free / "s2.jsonl").write_text("".join(lines(4, "s2")), encoding="utf-8")
    closed.chmod(0)
    report = ingest.run(AGENT)[AGENT]
    closed.chmod(0o700)
    assert [Path(path).name for path in report.failed] == ["-a"]
    assert sources(ingest) == {"s1": ("s1.jsonl", 0), "s2": ("s2.jsonl", 0)}
