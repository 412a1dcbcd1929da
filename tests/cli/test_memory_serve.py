"""`raw-rag serve --service`, `token` and `space` as a person uses them; the system's own program is one written for the test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import Environment, given, run
from tests.process.support import BIN
from tests.service.fakes import Fake

RAW_RAG = str(BIN / "raw-rag")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd is on Linux only")


@pytest.fixture
def systemctl(tmp_path: Path) -> Fake:
    return Fake(tmp_path / "system", "systemctl")


def called(environment: Environment, systemctl: Fake, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    every = {**systemctl.environment(Path(environment["HOME"])), **environment, "LANG": "C.UTF-8", **more}
    return subprocess.run([RAW_RAG, *words], env=every, capture_output=True, text=True, timeout=60, check=False)


def token(environment: Environment, label: str = "laptop") -> str:
    result = run(environment, "token", "create", "--label", label)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


@linux
def test_the_server_is_installed_in_the_daemons_place_twice_is_once_and_no_token_goes_along(
    bare: Environment, systemctl: Fake
) -> None:
    unit = Path(bare["HOME"], ".config/systemd/user/agent-raw-rag.service")
    assert called(bare, systemctl, "serve", "--service").returncode == 2  # nobody could use it
    assert not unit.exists()
    token(bare)
    secret = {"RAW_RAG_MCP_TOKEN": "very-secret", "OCTOP_MEMORY_MCP_TOKEN": "secret-too"}
    texts = []
    for _ in range(2):
        done = called(bare, systemctl, "serve", "--service", "--port", "9000", **secret)
        assert done.returncode == 0, done.stderr
        assert "RAW_RAG_MCP_TOKEN is not handed on" in done.stderr
        texts.append(unit.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert f'ExecStart="{RAW_RAG}" "serve" "--watch" "--port" "9000"\n' in texts[0]
    assert "secret" not in texts[0]
    assert "Nice=" not in texts[0]
    assert [path.name for path in unit.parent.iterdir()] == [unit.name]
    assert called(bare, systemctl, "serve", "--uninstall").returncode == 0
    assert not unit.exists()


@linux
def test_the_service_can_be_looked_at_before_it_is_installed(bare: Environment, systemctl: Fake) -> None:
    done = called(bare, systemctl, "serve", "--service", "--print")
    assert done.returncode == 0, done.stderr
    assert '"serve" "--watch"' in done.stdout
    assert not Path(bare["HOME"], ".config").exists()


@pytest.mark.parametrize("words", [["--print"], ["--uninstall", "--service"], ["--uninstall", "--watch"]])
def test_options_that_mean_nothing_together_are_refused(bare: Environment, words: list[str]) -> None:
    assert run(bare, "serve", *words).exit_code == 2


def test_a_token_for_a_space_that_is_not_there_is_refused(bare: Environment) -> None:
    words = ("token", "create", "--label", "laptop", "--space", "proj", "--scope", "read,write")
    refused = run(bare, *words)
    assert refused.exit_code == 1 and "`raw-rag space create proj`" in refused.stderr
    assert given(bare, "token", "list") == []
    assert run(bare, "space", "create", "proj").exit_code == 0
    assert run(bare, *words).stdout.strip().startswith("rrt_")
    assert run(bare, "token", "create", "--label", "all", "--space", "*").exit_code == 0


def test_lists_are_for_people_and_for_programs(bare: Environment) -> None:
    secret = token(bare)
    run(bare, "space", "create", "proj", "--title", "The project")
    run(bare, "space", "disable", "proj")
    table = run(bare, "token", "list").stdout
    assert table.splitlines()[1].startswith(f"laptop\t{secret[:8]}\tread\tdefault\t")
    assert given(bare, "space", "list") == [
        {"space": "default", "title": "", "enabled": True, "created": None},
        {**given(bare, "space", "list")[1], "space": "proj", "title": "The project", "enabled": False},
    ]
    assert "proj\tdisabled\tThe project" in run(bare, "space", "list").stdout


def test_a_secret_comes_as_json_once(bare: Environment) -> None:
    made = given(bare, "token", "create", "--label", "ci", "--expires", "90d")
    assert made["secret"].startswith("rrt_")
    assert made["expires"] is not None
    turned = given(bare, "token", "rotate", "ci")
    assert turned["secret"] != made["secret"]
    assert made["secret"] not in json.dumps(given(bare, "token", "list"))
    assert [one["live"] for one in given(bare, "token", "revoke", "ci")] == [False]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["token", "revoke", "nobody"], 1), (["token", "rotate", "nobody"], 1), (["space", "disable", "nowhere"], 1),
        (["space", "disable", "default"], 2), (["space", "create", "A b"], 2), (["space", "create", "default"], 1),
        (["token", "create", "--label", "x", "--scope", "root"], 2), (["token", "create", "--label", "a b"], 2),
        (["token", "create", "--label", "x", "--expires", "soon"], 2),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line_with_a_hint(bare: Environment, words: list[str], status: int) -> None:
    result = run(bare, *words)
    assert result.exit_code == status
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 2
