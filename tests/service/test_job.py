"""What a service runs."""

from __future__ import annotations

import plistlib
from pathlib import Path

import pytest

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.service.job import PROGRAM, installed_program, is_ephemeral, job, serve_job
from agent_raw_rag.service.launchd import Launchd
from agent_raw_rag.service.systemd import Systemd


def test_settings_of_whoever_installs_it_go_along_and_nothing_else_does(tmp_path: Path) -> None:
    environment = {
        "RAW_RAG_HOME": "/data/raw rag", "RAW_RAG_LOG": "", "CODEX_HOME": "/logs/codex", "OPENAI_API_KEY": "sk-secret",
        "PATH": "/bin",
    }  # fmt: skip
    made = job("/bin/raw-rag-ingest", str(tmp_path / "my.toml"), 30, environment, ["CODEX_HOME", "XDG_DATA_HOME"])
    assert made.command == [
        "/bin/raw-rag-ingest", "--watch", "--interval", "30", "--config", str(tmp_path / "my.toml"),
    ]  # fmt: skip
    assert made.environment == {"CODEX_HOME": "/logs/codex", "RAW_RAG_HOME": "/data/raw rag"}


def test_a_relative_configuration_is_named_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert job("/bin/x", "my.toml", 60, {}, []).arguments[-1] == str(tmp_path / "my.toml")


def test_what_is_named_from_here_is_named_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    given = {
        "RAW_RAG_HOME": "./my store", "RAW_RAG_CONFIG": "~/c.toml", "RAW_RAG_DB_PATH": "sub/x.db", "RAW_RAG_LOG": "DEBUG",
        "CODEX_HOME": "/logs", "PI_CONFIG_DIR": ".omp-work",
    }  # fmt: skip
    made = job("/bin/x", None, 60, given, ["CODEX_HOME", "PI_CONFIG_DIR"]).environment
    assert made == {
        "RAW_RAG_HOME": str(tmp_path / "my store"), "RAW_RAG_CONFIG": "/home/me/c.toml",
        "RAW_RAG_DB_PATH": str(tmp_path / "sub/x.db"), "RAW_RAG_LOG": "DEBUG", "CODEX_HOME": "/logs",
        "PI_CONFIG_DIR": ".omp-work",
    }  # fmt: skip


def test_a_key_does_not_go_along_whatever_its_variable_is_called() -> None:
    given = {"RAW_RAG_KEY": "sk-secret", "RAW_RAG_LOG": "INFO"}
    assert job("/bin/x", None, 60, given, [], ["RAW_RAG_KEY"]).environment == {"RAW_RAG_LOG": "INFO"}


@pytest.mark.parametrize(
    ("path", "ephemeral"),
    [
        ("/home/me/.cache/uv/archive-v0/AbC/bin/raw-rag-ingest", True),
        ("/Users/me/.cache/uv/environments-v2/x/bin/raw-rag-ingest", True),
        ("/fast/uv/archive-v0/AbC/bin/raw-rag-ingest", True),
        ("/home/me/.local/pipx/.cache/1a2b/bin/raw-rag-ingest", True),
        ("/scratch/cache/bin/raw-rag-ingest", True),
        ("/home/me/.local/share/uv/tools/agent-raw-rag-mcp/bin/raw-rag-ingest", False),
        ("/home/me/.local/bin/raw-rag-ingest", False),
        ("/home/me/work/.venv/bin/raw-rag-ingest", False),
    ],
)
def test_what_lies_in_a_cache_does_not_last(path: str, ephemeral: bool) -> None:
    assert is_ephemeral(path, {"UV_CACHE_DIR": "/scratch/cache"}) is ephemeral


def program(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PROGRAM
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_command_that_was_called_is_installed_by_its_link(tmp_path: Path) -> None:
    real, bin_ = program(tmp_path / "tools"), tmp_path / "bin"
    bin_.mkdir()
    (bin_ / PROGRAM).symlink_to(real)
    assert installed_program([str(bin_ / PROGRAM)], "/nowhere/python", {"PATH": ""}) == str(bin_ / PROGRAM)


def test_a_lasting_command_is_preferred(tmp_path: Path) -> None:
    cached, lasting = program(tmp_path / "archive-v0/x/bin"), program(tmp_path / "bin")
    found = installed_program([str(cached)], str(cached.with_name("python")), {"PATH": str(lasting.parent)})
    assert found == str(lasting)


def test_a_command_that_is_nowhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="uv tool install"):
        installed_program(["-c"], str(tmp_path / "python"), {"PATH": str(tmp_path)})


def test_the_servers_words_go_along_and_its_secrets_do_not() -> None:
    environment = {"RAW_RAG_HOME": "/data", "RAW_RAG_MCP_TOKEN": "secret", "OCTOP_MEMORY_MCP_TOKEN": "secret"}
    made = serve_job("/bin/raw-rag", ["serve", "--watch"], None, environment, [])
    assert made.command == ["/bin/raw-rag", "serve", "--watch"]
    assert made.environment == {"RAW_RAG_HOME": "/data"}
    assert made.answers


def test_whoever_is_waited_for_is_not_held_back() -> None:
    behind, answering = job("/bin/x", None, 60, {}, []), serve_job("/bin/x", ["serve"], None, {}, [])
    unit = Systemd({"HOME": "/home/me"})
    assert ("Nice=10" in unit.render(behind), "Nice=" in unit.render(answering)) == (True, False)
    agent = Launchd({"HOME": "/Users/me"}, 501)
    held = [plistlib.loads(agent.render(one).encode()) for one in (behind, answering)]
    assert [(one["ProcessType"], one.get("Nice")) for one in held] == [("Background", 10), ("Standard", None)]
