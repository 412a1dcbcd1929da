"""raw-rag-ingest: what it reads, what it prints, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.commands import Environment, run, run_ingest
from tests.samples import sample_environment

COUNTS = {
    "sources",
    "sessions",
    "turns",
    "chunks",
    "new_sessions",
    "new_turns",
    "skipped_records",
    "unknown_records",
    "new_unknown_records",
}
AGENTS = {"claude", "codex", "opencode", "omp", "antigravity"}


def test_the_report_as_json_has_the_counts_of_every_agent(unread: Environment) -> None:
    result = run_ingest(unread, "--json")
    assert result.exit_code == 0 and result.stderr == ""
    report = json.loads(result.stdout)
    assert set(report) >= {"agents", "embedded", "backlog", "seconds"}
    assert set(report["agents"]) == AGENTS
    assert all(set(one) >= COUNTS for one in report["agents"].values())
    assert report["agents"]["claude"]["new_sessions"] == 2


def test_a_second_run_adds_nothing(own: Environment) -> None:
    report = json.loads(run_ingest(own, "--json").stdout)
    assert all(one["new_turns"] == 0 == one["new_sessions"] for one in report["agents"].values())


def test_a_rebuild_reads_everything_again_and_adds_nothing(own: Environment) -> None:
    before = json.loads(run(own, "status", "--json").stdout)
    report = json.loads(run_ingest(own, "--rebuild", "--json").stdout)
    after = json.loads(run(own, "status", "--json").stdout)
    assert all(one["sources"] for one in report["agents"].values())
    assert (after["sessions"], after["turns"]) == (before["sessions"], before["turns"])


def test_unknown_types_are_told_of_once_and_kept_in_status(own: Environment) -> None:
    log = next(Path(own["HOME"]).glob(".claude/projects/*/7c1e*.jsonl"))

    def add(kind: str) -> str:
        with log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"type": kind, "sessionId": "7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001"}) + "\n")
        return run_ingest(own, "-q").stdout

    assert "not known before were passed over: hologram (1)" in add("hologram")
    assert "passed over" not in run_ingest(own, "-q").stdout
    assert "passed over" not in add("hologram")
    assert "passed over: orb (1)" in add("orb")
    assert "passed over" not in run_ingest(own, "--rebuild", "-q").stdout
    said = run(own, "status").stdout
    assert "hologram (2)" in said and "orb (1)" in said


def test_only_the_chosen_agents_are_read(unread: Environment) -> None:
    report = json.loads(run_ingest(unread, "--agent", "omp", "--agent", "codex", "--json").stdout)
    assert set(report["agents"]) == {"omp", "codex"}


def test_progress_goes_to_stderr_as_plain_lines(unread: Environment) -> None:
    result = run_ingest(unread)
    assert "claude: source 1 of 2" in result.stderr
    assert "claude: " in result.stdout and "new turn" in result.stdout


def test_quiet_shows_no_progress(unread: Environment) -> None:
    assert run_ingest(unread, "--quiet").stderr == ""


def test_without_embedding_the_backlog_is_told(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path, config='[encoder]\nname = "hashing"\n')
    report = json.loads(run_ingest(environment, "--no-embed", "--json").stdout)
    assert report["embedded"] == 0
    assert report["backlog"] == sum(one["chunks"] for one in report["agents"].values()) > 0


def test_without_any_logs_it_says_where_it_looked(bare: Environment) -> None:
    result = run_ingest(bare)
    assert result.exit_code == 0
    assert "No logs found" in result.stdout
    assert all(name in result.stdout for name in (".codex", ".claude", ".gemini", "opencode"))
    report = json.loads(run_ingest(bare, "--json").stdout)
    assert set(report["looked_in"]) == AGENTS


def test_status_shows_what_is_stored_and_reads_nothing(own: Environment, tmp_path: Path) -> None:
    status = json.loads(run_ingest(own, "--status", "--json").stdout)
    assert status["sessions"] == 6
    one = json.loads(run_ingest(own, "--status", "--agent", "omp", "--json").stdout)
    assert set(one["agents"]) == {"omp"} and one["cursors"]
    assert "antigravity" in run_ingest(own, "--status").stdout


def test_an_unknown_agent_is_wrong_use(unread: Environment) -> None:
    result = run_ingest(unread, "--agent", "cursor")
    assert result.exit_code == 2 and "Known agents" in result.stderr


def test_an_unknown_flag_is_wrong_use(unread: Environment) -> None:
    assert run_ingest(unread, "--watch-the-birds").exit_code == 2


def test_a_bad_configuration_is_wrong_use_and_names_the_nearest_key(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path, config="[searh]\ntop_k = 3\n")
    result = run_ingest(environment)
    assert result.exit_code == 2
    assert "searh" in result.stderr and "search" in result.stderr


def test_a_key_outside_its_section_is_told_where_it_belongs(tmp_path: Path) -> None:
    result = run_ingest(sample_environment(tmp_path, config="top_k = 3\n"))
    assert result.exit_code == 2 and "search.top_k" in result.stderr


def test_an_agent_that_is_switched_off_is_not_read(tmp_path: Path) -> None:
    environment = sample_environment(tmp_path, config='[encoder]\nname = "none"\n[sources.omp]\nenabled = false\n')
    report = json.loads(run_ingest(environment, "--json").stdout)
    assert set(report["agents"]) == AGENTS - {"omp"}
    assert run_ingest(environment, "--agent", "omp").exit_code == 2
