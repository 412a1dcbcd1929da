"""raw-rag forget: gone for good, and never back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import Environment, given, run, run_ingest
from tests.samples import PROJECT


def sessions(environment: Environment) -> list[str]:
    return [one["session"] for one in given(environment, "sessions")]


def test_a_session_goes_with_its_sub_agents_and_does_not_come_back(own: Environment) -> None:
    result = given(own, "forget", "--session", "claude:7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001", "--yes")
    assert result["forgotten"] and result["sessions"] == 2
    assert run_ingest(own, "--rebuild", "-q").exit_code == 0
    assert not any(name.startswith("claude:") for name in sessions(own))
    assert not any("idempotent makes duplicates" in one["text"] for one in given(own, "search", "retry")["passages"])


def test_no_word_of_it_is_left_in_any_file(own: Environment) -> None:
    store = Path(own["RAW_RAG_HOME"])
    assert any(b"photo stored three times" in file.read_bytes() for file in store.rglob("*") if file.is_file())
    given(own, "forget", "--project", PROJECT, "--yes")
    assert not any(b"photo stored three times" in file.read_bytes() for file in store.rglob("*") if file.is_file())
    assert sessions(own) == []


def test_a_stretch_of_time_goes_and_the_rest_stays(own: Environment) -> None:
    given(own, "forget", "--after", "2026-10-01", "--yes")
    assert {name.partition(":")[0] for name in sessions(own)} == {"claude", "codex", "opencode"}


def test_an_agent_or_a_branch_alone_is_enough(own: Environment) -> None:
    given(own, "forget", "--branch", "no/such", "--yes")
    assert len(sessions(own)) == 6
    given(own, "forget", "--agent", "claude", "--yes")
    assert not any(name.startswith("claude:") for name in sessions(own)) and len(sessions(own)) == 4


def test_a_dry_run_says_what_would_go_and_keeps_it(own: Environment) -> None:
    before = sessions(own)
    planned = given(own, "forget", "--project", PROJECT, "--dry-run")
    assert planned == {"forgotten": False, "sessions": 6, "turns": planned["turns"], "shielded": 0}
    assert sessions(own) == before


def test_nobody_is_asked_where_nobody_is(own: Environment) -> None:
    result = run(own, "forget", "--project", PROJECT)
    assert result.exit_code == 2 and "--yes" in result.stderr
    assert len(sessions(own)) == 6


@pytest.mark.parametrize("arguments", [[], ["--agent", ""], ["--project", "*"], ["--session", ""]])
def test_forgetting_everything_by_accident_is_refused(own: Environment, arguments: list[str]) -> None:
    result = run(own, "forget", *arguments, "--yes")
    assert result.exit_code == 2 and "what?" in result.stderr
    assert len(sessions(own)) == 6


def test_all_projects_are_taken_with_a_stretch_of_time_as_the_help_says(own: Environment) -> None:
    assert "'*'" in run(own, "forget", "--help").stdout
    planned = given(own, "forget", "--project", "*", "--after", "2026-10-01", "--dry-run")
    assert planned["turns"] > 0 and planned == given(own, "forget", "--after", "2026-10-01", "--dry-run")
    assert given(own, "forget", "--project", "*", "--after", "2026", "--yes")["sessions"] == 6


def test_what_is_not_there_cannot_be_forgotten(own: Environment) -> None:
    assert "Nothing" in run(own, "forget", "--project", "/nowhere", "--yes").stdout
    assert run(own, "forget", "--session", "claude:none", "--yes").exit_code == 1


def test_the_agents_logs_are_not_touched(own: Environment) -> None:
    logs = {path: path.read_bytes() for path in Path(own["HOME"]).rglob("*") if path.is_file()}
    given(own, "forget", "--project", PROJECT, "--yes")
    assert {path: path.read_bytes() for path in Path(own["HOME"]).rglob("*") if path.is_file()} == logs


def test_what_was_forgotten_is_said(own: Environment) -> None:
    result = run(own, "forget", "--project", PROJECT, "--yes")
    assert "6 sessions" in result.stdout
    assert json.loads(run(own, "status", "--json").stdout)["sessions"] == 0
