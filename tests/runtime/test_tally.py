"""The counts of calls and of captures that failed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agent_raw_rag.runtime import tally


def problems(home: Path) -> list[str]:
    report: Any = SimpleNamespace(problems=[], llm_calls={}, capture_errors=0)
    tally.tell(report, str(home))
    return list(report.problems)


def test_a_failure_is_a_problem_with_its_time_until_something_is_stored_and_its_count_stays(tmp_path: Path) -> None:
    home = str(tmp_path)
    tally.add(home, "proxy", calls=1, errors=1, why="no room", now=lambda: 1_790_000_000_000)
    assert problems(tmp_path) == [
        "1 exchanges were not captured, or not all of them; the last (2026-09-21 14:13:20 UTC): no room"
    ]
    tally.add(home, "proxy", calls=1, stored=False)
    assert len(problems(tmp_path)) == 1
    tally.add(home, "chat", calls=1)
    assert problems(tmp_path) == []
    assert tally.read(home) == tally.Tally(
        {"ingest": 0, "sweep": 0, "chat": 1, "proxy": 2}, 1, "no room", 1_790_000_000_000, True
    )
    tally.add(home, "chat", calls=1, errors=1, why="again", now=lambda: 1_790_000_060_000)
    assert problems(tmp_path) == [
        "2 exchanges were not captured, or not all of them; the last (2026-09-21 14:14:20 UTC): again"
    ]


def test_a_file_of_an_older_version_is_read_and_a_torn_one_is_none(tmp_path: Path) -> None:
    file = tmp_path / tally.FILE
    file.write_text(json.dumps({"llm_calls": {"proxy": 3}, "capture_errors": 2, "last_error": "old"}))
    assert problems(tmp_path) == ["2 exchanges were not captured, or not all of them; the last: old"]
    for torn in (
        "{",
        "[]",
        '{"llm_calls": 1}',
        '{"llm_calls": {}, "capture_errors": 1, "last_error": "x", "failed_at": "y"}',
    ):
        file.write_text(torn)
        assert tally.read(str(tmp_path)) == tally.Tally()
