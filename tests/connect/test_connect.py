"""raw-rag connect beyond one file: hooks, instructions, scopes, who is meant, what is wired."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.connect.command import Command, Installation
from agent_raw_rag.connect.plan import wirings
from agent_raw_rag.connect.probe import probe
from agent_raw_rag.errors import WiringError
from tests.cli.commands import Environment, given, run

ALL = ["claude", "codex", "opencode", "omp", "pi", "antigravity"]


@pytest.fixture
def home(tmp_path: Path) -> Environment:
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home"), "RAW_RAG_HOME": str(tmp_path / "store")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = tmp_path / "work" / "src"
    inside.mkdir(parents=True)
    (tmp_path / "work" / ".git").mkdir()
    monkeypatch.chdir(inside)
    return tmp_path / "work"


def outcomes(home: Environment, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = given(home, "connect", *words)["agents"]
    return found


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_program_can_be_named() -> None:
    assert list(wirings()) == ALL
    assert {agent for agent, _ in wirings().values()} == set(adapters())


def test_without_a_name_nothing_is_done_and_who_is_here_is_said(home: Environment) -> None:
    (Path(home["HOME"]) / ".codex").mkdir()
    result = run(home, "connect")
    assert result.exit_code == 2 and "On this machine: codex." in result.stderr
    assert run(home, "connect", "emacs").exit_code == 2
    assert run(home, "connect", "pi", "--all").exit_code == 2
    assert run(home, "connect", "pi", "--scope", "world").exit_code == 2


def test_all_means_those_that_are_used_here(home: Environment) -> None:
    for folder in (".codex", ".pi/agent"):
        (Path(home["HOME"]) / folder).mkdir(parents=True)
    assert {one["name"] for one in outcomes(home, "--all")} == {"codex", "pi"}
    assert not (Path(home["HOME"]) / ".claude.json").exists()


def test_everything_of_every_program_comes_and_goes(home: Environment) -> None:
    folder = Path(home["HOME"])
    (folder / ".claude").mkdir()
    settings = folder / ".claude" / "settings.json"
    settings.write_text('{"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "mine"}]}]}}\n', "utf-8")
    (folder / ".claude" / "CLAUDE.md").write_text("# Mine", "utf-8")
    before = files_of(folder)
    done = outcomes(home, *ALL, "--hooks", "--instructions")
    assert {one["change"] for one in done} == {"added"}
    assert {one["name"] for one in done if one["part"] == "hooks"} == {"claude", "codex", "opencode", "omp", "pi"}
    assert {one["change"] for one in outcomes(home, *ALL, "--hooks", "--instructions")} == {"unchanged"}
    assert {one["change"] for one in outcomes(home, *ALL, "--undo")} == {"restored"}
    assert files_of(folder) == before
    assert {one.name for one in folder.iterdir()} == {".claude"}, "folders that were made are gone too"


def test_hooks_stand_beside_those_of_others(home: Environment) -> None:
    settings = Path(home["HOME"]) / ".claude" / "settings.json"
    settings.parent.mkdir()
    other = {"hooks": [{"type": "command", "command": "mine"}]}
    settings.write_text(json.dumps({"hooks": {"PreCompact": [other]}, "model": "x"}), "utf-8")
    outcomes(home, "claude", "--hooks")
    hooks = json.loads(settings.read_text("utf-8"))["hooks"]
    assert hooks["PreCompact"][0] == other and len(hooks["PreCompact"]) == 2
    (start,) = hooks["SessionStart"]
    assert start["matcher"] == "compact|resume|startup"
    command = start["hooks"][0]["command"]
    assert f"RAW_RAG_HOME={home['RAW_RAG_HOME']}" in command and " hook session-start --agent claude" in command
    settings.write_text(settings.read_text("utf-8") + "\n", "utf-8")
    outcomes(home, "claude", "--undo")
    assert json.loads(settings.read_text("utf-8")) == {
        "hooks": {"PreCompact": [other], "SessionStart": [], "Stop": []},
        "model": "x",
    }


def test_an_older_command_of_ours_is_replaced_in_hooks(home: Environment) -> None:
    outcomes(home, "codex", "--hooks")
    moved = {**home, "RAW_RAG_HOME": home["RAW_RAG_HOME"], "RAW_RAG_LOG": "DEBUG"}
    (hooks,) = [one for one in outcomes(moved, "codex", "--hooks") if one["part"] == "hooks"]
    assert hooks["change"] == "updated"
    found = json.loads((Path(home["HOME"]) / ".codex/hooks.json").read_text("utf-8"))["hooks"]
    assert {event: len(groups) for event, groups in found.items()} == {"SessionStart": 1, "PreCompact": 1}


def test_a_projects_own_files_are_written_in_its_root(home: Environment, project: Path) -> None:
    done = outcomes(home, *ALL, "--scope", "project", "--instructions")
    assert {os.path.relpath(one["file"], project) for one in done if one["part"] == "server"} == {
        ".mcp.json", ".codex/config.toml", "opencode.json", ".omp/mcp.json", ".pi/mcp.json", ".agents/mcp_config.json",
    }  # fmt: skip
    assert not list(Path(home["HOME"]).iterdir())
    assert any("trusts" in one["note"] for one in done if one["name"] == "claude")


def test_the_home_folder_is_no_project(home: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home["HOME"])
    assert outcomes(home, *ALL, "--scope", "project") == []
    assert "no project" in run(home, "connect", "codex", "--scope", "project").stdout


def test_instructions_that_several_agents_read_stay_as_long_as_one_of_them_is_connected(
    home: Environment, project: Path
) -> None:
    words = ("--scope", "project", "--instructions")
    outcomes(home, "codex", "pi", *words)
    (kept,) = [one for one in outcomes(home, "codex", "--undo", "--scope", "project") if one["part"] == "instructions"]
    assert kept["change"] == "kept" and "pi" in kept["note"]
    assert "raw_rag_search" in (project / "AGENTS.md").read_text("utf-8")
    outcomes(home, "pi", "--undo", "--scope", "project")
    assert not (project / "AGENTS.md").exists()


def test_settings_that_are_in_force_stay_in_force(home: Environment, tmp_path: Path) -> None:
    config = tmp_path / "my config.toml"
    config.write_text("", "utf-8")
    result = run(
        {**home, "RAW_RAG_DB_PATH": "~/x.db"}, "connect", "claude", "--hooks", "--config", str(config), "--json"
    )
    assert result.exit_code == 0
    entry = json.loads((Path(home["HOME"]) / ".claude.json").read_text("utf-8"))["mcpServers"]["raw-rag"]
    assert entry["args"] == ["--config", str(config)]
    assert entry["env"]["RAW_RAG_HOME"] == home["RAW_RAG_HOME"] and entry["env"]["RAW_RAG_DB_PATH"].endswith("/x.db")
    hooks = json.loads((Path(home["HOME"]) / ".claude/settings.json").read_text("utf-8"))["hooks"]
    words = shlex.split(hooks["PreCompact"][0]["hooks"][0]["command"])
    assert words[-6:] == ["hook", "--config", str(config), "pre-compact", "--agent", "claude"]


@pytest.mark.process
def test_status_starts_what_is_connected(home: Environment) -> None:
    outcomes(home, "codex", "opencode")
    found = {(one["name"], one["scope"]): one for one in given(home, "connect", "--status")}
    assert found[("codex", "user")]["answers"] is True and "raw-rag" in found[("codex", "user")]["server"]
    assert found[("opencode", "user")]["command"] == found[("codex", "user")]["command"]
    assert found[("claude", "user")]["file"] is None and found[("codex", "project")]["answers"] is None
    assert "not used here" in run(home, "connect", "--status", "claude").stdout


def test_status_tells_of_a_command_that_does_not_answer_and_of_a_file_that_does_not_parse(home: Environment) -> None:
    folder = Path(home["HOME"])
    (folder / ".claude.json").write_text('{"mcpServers": {"raw-rag": {"command": "/no/such/program"}}}', "utf-8")
    (folder / ".codex").mkdir()
    (folder / ".codex/config.toml").write_text("= 1", "utf-8")
    result = run(home, "connect", "--status", "--json")
    found = {one["name"]: one for one in json.loads(result.stdout) if one["scope"] == "user"}
    assert result.exit_code == 1
    assert found["claude"]["answers"] is False and "cannot be started" in found["claude"]["server"]
    assert "line 1" in found["codex"]["error"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "ended with status 3"),
        ("echo oh >&2; exit 1", "status 1: oh"),
        ("echo hello; cat", "does not speak MCP"),
        ("exec tail -f /dev/null", "no answer within"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="the fakes are shell scripts")
def test_a_program_that_is_no_server_is_told_as_such(script: str, said: str) -> None:
    answer = probe(Command(("/bin/sh", "-c", script), {}), limit_seconds=0.5 if "tail" in script else 20)
    assert not answer.ok and said in answer.text


def installation(folder: Path, *programs: str, path: str = "") -> Installation:
    folder.mkdir(parents=True, exist_ok=True)
    for name in programs:
        (folder / name).write_text("", "utf-8")
        (folder / name).chmod(0o755)
    environment = {"PATH": path, "RAW_RAG_LOG": "INFO", "RAW_RAG_KEY": "secret", "OTHER": "1"}
    return Installation(str(folder.parent), str(folder), environment)


def test_an_installed_program_is_named_by_its_path(tmp_path: Path) -> None:
    found = installation(tmp_path / "venv/bin", "agent-raw-rag-mcp").server(None)
    assert found == Command((str(tmp_path / "venv/bin/agent-raw-rag-mcp"),), {"RAW_RAG_LOG": "INFO"})


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_the_link_that_the_installer_put_on_path_outlives_the_version_behind_it(tmp_path: Path) -> None:
    links = tmp_path / "local/bin"
    links.mkdir(parents=True)
    place = installation(tmp_path / "tools/raw/bin", "agent-raw-rag-mcp", path=str(links))
    (links / "agent-raw-rag-mcp").symlink_to(tmp_path / "tools/raw/bin/agent-raw-rag-mcp")
    assert place.server(None).words == (str(links / "agent-raw-rag-mcp"),)


@pytest.mark.parametrize("cache", [".cache/uv/archive-v0/x1", "uv/cache/environments-v2/raw-1"])
def test_from_uvs_cache_it_is_started_by_uvx(tmp_path: Path, cache: str) -> None:
    place = installation(tmp_path / cache / "bin", "agent-raw-rag-mcp", "raw-rag")
    assert place.ephemeral
    assert place.server("/c.toml").words == ("uvx", "agent-raw-rag-mcp", "--config", "/c.toml")
    assert place.hook(None).words == ("uvx", "--from", "agent-raw-rag-mcp", "raw-rag", "hook")


def test_a_missing_program_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(WiringError, match="uv tool install"):
        installation(tmp_path / "bin").server(None)


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
def test_the_home_folder_that_connecting_makes_is_its_owners_alone(home: Environment) -> None:
    run(home, "connect", "pi")
    assert Path(home["RAW_RAG_HOME"]).stat().st_mode & 0o777 == 0o700


def test_a_damaged_journal_is_said_and_not_overwritten(home: Environment) -> None:
    journal = Path(home["RAW_RAG_HOME"]) / "connect.json"
    journal.parent.mkdir()
    journal.write_text("{", "utf-8")
    result = run(home, "connect", "pi")
    assert result.exit_code == 1 and "damaged" in result.stderr and journal.read_text("utf-8") == "{"
