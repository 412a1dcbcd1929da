"""search, recent, show, sessions, projects, status: for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import Environment, given, run, run_ingest
from tests.samples import PROJECT

WHY = "why did we drop the retry in the uploader?"
PROVENANCE = {"session", "turn", "exchange", "role", "time", "source", "record_ids", "bytes"}


def test_a_question_is_answered_with_the_exact_turns(stored: Environment) -> None:
    result = run(stored, "search", *WHY.split())
    assert result.exit_code == 0
    assert "a retry of a request that is not idempotent makes duplicates" in result.stdout
    assert "claude --resume 7c1e5a52" in result.stdout


def test_passages_as_json_carry_their_provenance(stored: Environment) -> None:
    found = given(stored, "search", WHY)
    assert found["query"] == WHY and found["passages"]
    assert all(set(one) >= PROVENANCE | {"scores", "ranked_by", "text"} for one in found["passages"])


def test_outside_any_known_project_all_are_searched_and_it_says_so(stored: Environment) -> None:
    assert given(stored, "search", WHY)["project"] == "*"
    assert "all projects" in run(stored, "search", WHY).stdout


def test_filters_narrow_the_search(stored: Environment) -> None:
    assert {one["agent"] for one in given(stored, "search", "retry", "--agent", "codex")["passages"]} == {"codex"}
    assert len(given(stored, "search", WHY, "--top-k", "1")["passages"]) == 1
    assert given(stored, "search", WHY, "--project", "/home/dev/other")["passages"] == []
    assert given(stored, "search", WHY, "--project", f"{PROJECT}/src")["passages"] == []


def test_an_empty_answer_names_the_projects_that_exist(stored: Environment) -> None:
    result = run(stored, "search", WHY, "--project", "/home/dev/other")
    assert result.exit_code == 0 and PROJECT in result.stdout


def test_chinese_questions_find_chinese_turns(stored: Environment) -> None:
    found = given(stored, "search", "自動重試")["passages"]
    assert any("自動重試" in one["text"] for one in found)


def test_recent_gives_the_last_turns(stored: Environment) -> None:
    turns = given(stored, "recent", "--limit", "4")["turns"]
    assert len(turns) == 4 and turns[-1]["agent"] == "antigravity"
    assert turns[-1]["text"] in run(stored, "recent", "--limit", "4").stdout


def test_sessions_as_json_are_a_list_with_their_facts(stored: Environment) -> None:
    sessions = given(stored, "sessions")
    assert len(sessions) == 6
    keys = {"session", "agent", "project", "parent", "branch", "started", "last", "turns", "source"}
    assert all(set(one) >= keys for one in sessions)
    assert [one["last"] for one in sessions] == sorted((one["last"] for one in sessions), reverse=True)
    child = next(one for one in sessions if one["parent"])
    assert child["parent"] in {one["session"] for one in sessions}


def test_sessions_can_be_filtered(stored: Environment) -> None:
    assert {one["agent"] for one in given(stored, "sessions", "--agent", "claude")} == {"claude"}
    assert len(given(stored, "sessions", "--limit", "2")) == 2
    assert given(stored, "sessions", "--after", "2026-10-20")[0]["agent"] == "antigravity"


def test_show_gives_every_turn_of_a_session_whole(stored: Environment) -> None:
    for session in given(stored, "sessions"):
        shown = given(stored, "show", session["session"])
        assert shown["session"] == session["session"]
        assert len(shown["turns"]) == session["turns"]
        assert all(set(turn) >= PROVENANCE | {"text"} for turn in shown["turns"])
        said = run(stored, "show", session["session"]).stdout
        assert all(turn["text"] in said for turn in shown["turns"])


def test_show_of_a_line_log_says_which_bytes_a_turn_is(stored: Environment) -> None:
    shown = given(stored, "show", "codex:019a5b00")
    assert all(turn["bytes"] and turn["bytes"][0] < turn["bytes"][1] for turn in shown["turns"])


def test_show_of_one_turn_gives_only_that(stored: Environment) -> None:
    assert [turn["turn"] for turn in given(stored, "show", "codex:019a5b00", "--turn", "3")["turns"]] == [3]


def test_projects_are_listed(stored: Environment) -> None:
    assert given(stored, "projects") == [
        {"project": PROJECT, "sessions": 6, "last": given(stored, "sessions")[0]["last"]}
    ]
    assert PROJECT in run(stored, "projects").stdout


def test_status_counts_every_agent(stored: Environment) -> None:
    status = given(stored, "status")
    assert set(status["agents"]) == {"claude", "codex", "opencode", "omp", "antigravity"}
    assert status["sessions"] == 6 and status["cursors"] == []
    assert given(stored, "status", "--agent", "codex")["cursors"]
    assert "antigravity" in run(stored, "status").stdout


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["search"], 2, "QUERY"),
        (["search", " "], 2, "empty"),
        (["search", "x", "--agent", "cursor"], 2, "Known agents"),
        (["search", "x", "--after", "soon"], 2, "no date"),
        (["search", "x", "--top-k", "0"], 2, "top_k"),
        (["search", "x", "--top-k", "many"], 2, "--top-k"),
        (["search", "x", "--nope"], 2, "nope"),
        (["recent", "--limit", "0"], 2, "limit_turns"),
        (["show", "claude:none"], 1, "claude:none"),
        (["show", "c"], 1, "no session"),
        (["show", "codex:019a5b00", "--turn", "0"], 1, "no turn 0"),
        (["show", "codex:019a5b00", "--turn", "99", "--json"], 1, "Its turns are 1 to"),
        (["sessions", "--agent", "x"], 2, "Known agents"),
        (["status", "--agent", "x"], 2, "Known agents"),
        (["frobnicate"], 2, "frobnicate"),
        (["search", "x", "--config", "/nowhere/config.toml"], 2, "/nowhere/config.toml"),
    ],
)  # fmt: skip
def test_wrong_use_says_what_is_wrong(stored: Environment, arguments: list[str], status: int, said: str) -> None:
    result = run(stored, *arguments)
    assert result.exit_code == status, result.output
    assert said in result.stderr and result.stdout == ""


def test_errors_come_as_json_where_json_was_asked_for(stored: Environment) -> None:
    import json

    result = run(stored, "search", "x", "--agent", "cursor", "--json")
    error = json.loads(result.stderr)["error"]
    assert error["code"] == "bad_argument" and "cursor" in error["message"] and error["hint"]


def test_before_the_first_ingest_it_says_what_to_do(unread: Environment) -> None:
    for command in (["search", "x"], ["recent"], ["sessions"], ["projects"], ["status"], ["show", "x"]):
        result = run(unread, *command)
        assert result.exit_code == 1 and "raw-rag-ingest" in result.stderr


def test_control_characters_of_a_log_do_not_reach_the_terminal(own: Environment) -> None:
    from pathlib import Path

    from tests.cli.commands import run_ingest

    folder = Path(own["HOME"]) / ".claude/projects/x"
    folder.mkdir(parents=True)
    (folder / "22222222-2222-4222-8222-222222222222.jsonl").write_text(
        '{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"22222222-2222-4222-8222-222222222222","version":"2.1.0",'
        '"cwd":"/w","timestamp":"2026-11-01T10:00:00Z","message":{"role":"user",'
        '"content":"zebra \\u001b[31mred\\u001b]0;t\\u0007"}}\n',
        encoding="utf-8",
    )
    assert run_ingest(own, "-q").exit_code == 0
    shown = run(own, "search", "zebra").stdout
    assert "zebra" in shown and "\x1b" not in shown and "\x07" not in shown


def test_show_says_how_to_reopen_the_session(stored: Environment) -> None:
    shown = given(stored, "show", "codex:019a5b00")
    assert "codex resume 019a5b00" in shown["info"]["resume"]
    assert shown["info"]["resume"] in run(stored, "show", "codex:019a5b00").stdout


def test_an_empty_recent_names_the_projects_that_exist(stored: Environment) -> None:
    assert PROJECT in run(stored, "recent", "--project", "/home/dev/other").stdout


def test_an_empty_list_of_sessions_says_so(stored: Environment) -> None:
    assert "No sessions in /home/dev/other" in run(stored, "sessions", "--project", "/home/dev/other").stderr


def test_filters_that_nothing_passes_are_told_from_nothing_relevant(stored: Environment) -> None:
    assert given(stored, "search", WHY, "--branch", "nowhere")["notes"] == ["No session passes the filters."]


def test_the_command_that_reopens_a_session_runs_nothing_that_a_file_name_says(own: Environment) -> None:
    folder = next(Path(own["HOME"]).glob(".claude/projects/*"))
    said = {"type": "user", "uuid": "u1", "sessionId": "odd", "timestamp": "2026-10-05T10:00:00Z", "cwd": "/w/a b"}
    said["message"] = {"role": "user", "content": "Hello."}  # type: ignore[assignment]
    (folder / "odd; reboot.jsonl").write_text(json.dumps(said) + "\n", encoding="utf-8")
    assert run_ingest(own, "-q").exit_code == 0
    [odd] = [one["resume"] for one in given(own, "sessions") if "reboot" in one["session"]]
    assert odd == "cd '/w/a b' && claude --resume 'odd; reboot'"


def test_explain_shows_the_rank_and_score_of_every_stage(stored: Environment) -> None:
    result = run(stored, "search", WHY, "--explain")
    assert result.exit_code == 0
    assert "stage\trank\tscore" in result.stdout and "words\t1\t" in result.stdout and "fuse\t1\t" in result.stdout
    assert "stage\trank" not in run(stored, "search", WHY).stdout


def test_explain_as_json_is_a_list_of_stages_a_passage(stored: Environment) -> None:
    explained = given(stored, "search", WHY, "--explain")["passages"]
    assert all({"stage", "rank", "score"} == set(mark) for one in explained for mark in one["explain"])
    assert all([mark["stage"] for mark in one["explain"]][:2] == ["words", "fuse"] for one in explained)
    assert all("explain" not in one for one in given(stored, "search", WHY)["passages"])
