"""`raw-rag-ingest` and the system's services, as real processes; the system's own program is one written for the test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_raw_rag.runtime.heartbeat import AgentBeat, Heartbeat, write
from agent_raw_rag.store.lock import DAEMON, lock
from tests.cli.commands import Environment, given, run, run_ingest
from tests.process.support import BIN
from tests.service.fakes import Fake

INGEST = str(BIN / "raw-rag-ingest")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd is on Linux only")


@pytest.fixture
def systemctl(tmp_path: Path) -> Fake:
    return Fake(tmp_path / "system", "systemctl")


def called(environment: Environment, systemctl: Fake, *words: str) -> subprocess.CompletedProcess[str]:
    every = {**systemctl.environment(Path(environment["HOME"])), **environment, "LANG": "C.UTF-8"}
    return subprocess.run([INGEST, *words], env=every, capture_output=True, text=True, timeout=60, check=False)


@linux
def test_the_service_is_installed_shown_and_removed(bare: Environment, systemctl: Fake) -> None:
    done = called(bare, systemctl, "--install-daemon", "--interval", "30")
    assert done.returncode == 0, done.stderr
    unit = Path(bare["HOME"], ".config/systemd/user/agent-raw-rag.service")
    text = unit.read_text(encoding="utf-8")
    assert f'ExecStart="{INGEST}" "--watch" "--interval" "30"\n' in text
    assert f'Environment="RAW_RAG_HOME={bare["RAW_RAG_HOME"]}"\n' in text
    systemctl.answer((["--user", "show"], {"out": "ActiveState=active\nMainPID=12\n"}))
    shown = called(bare, systemctl, "--daemon-status")
    assert "Service  running, process 12" in shown.stdout
    assert "Daemon   not running" in shown.stdout
    gone = called(bare, systemctl, "--uninstall-daemon")
    assert (gone.returncode, unit.exists()) == (0, False)
    assert called(bare, systemctl, "--uninstall-daemon").stdout == "No service is installed.\n"


@linux
def test_the_configuration_and_what_moves_logs_go_along(bare: Environment, systemctl: Fake, tmp_path: Path) -> None:
    config = tmp_path / "my settings.toml"
    config.write_text(
        '[encoder]\nname = "http"\nurl = "http://127.0.0.1:1/v1"\nkey_variable = "THE_KEY"\n', encoding="utf-8"
    )
    environment = {**bare, "CODEX_HOME": "/logs/of codex", "THE_KEY": "a secret"}
    done = called(environment, systemctl, "--install-daemon", "--config", str(config))
    assert done.returncode == 0, done.stderr
    text = Path(bare["HOME"], ".config/systemd/user/agent-raw-rag.service").read_text(encoding="utf-8")
    assert f'"--config" "{config}"' in text
    assert 'Environment="CODEX_HOME=/logs/of codex"' in text
    assert "a secret" not in text
    assert "THE_KEY is not handed on" in done.stderr


@linux
def test_print_shows_and_installs_nothing(bare: Environment, systemctl: Fake) -> None:
    done = called(bare, systemctl, "--install-daemon", "--print")
    assert done.stdout.startswith("[Unit]\n")
    assert systemctl.calls() == []
    assert not Path(bare["HOME"], ".config").exists()


@linux
def test_without_a_bus_nothing_is_installed_and_the_way_out_is_told(bare: Environment, systemctl: Fake) -> None:
    systemctl.answer((["--user"], {"code": 1, "err": "Failed to connect to bus: No medium found"}))
    done = called(bare, systemctl, "--install-daemon")
    assert (done.returncode, done.stdout) == (1, "")
    assert "No medium found" in done.stderr
    assert "WSL" in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path(bare["HOME"], ".config").exists()
    assert called(bare, systemctl, "--daemon-status").returncode == 0


@linux
def test_from_a_cache_it_warns_and_names_the_lasting_way(bare: Environment, systemctl: Fake) -> None:
    done = called({**bare, "UV_CACHE_DIR": str(BIN.parent)}, systemctl, "--install-daemon", "--print")
    assert "uv tool install agent-raw-rag-mcp" in done.stderr


def test_a_bad_configuration_is_not_installed(bare: Environment, systemctl: Fake) -> None:
    Path(bare["RAW_RAG_HOME"], "config.toml").write_text("[search]\ntop_q = 1\n", encoding="utf-8")
    done = called(bare, systemctl, "--install-daemon")
    assert done.returncode == 2
    assert systemctl.calls() == []


@pytest.mark.parametrize(
    "words",
    [
        ["--watch", "--interval", "0"],
        ["--watch", "--status"],
        ["--watch", "--rebuild"],
        ["--install-daemon", "--uninstall-daemon"],
        ["--print"],
        ["--daemon-status", "--agent", "claude"],
    ],
    ids=" ".join,
)
def test_what_means_nothing_is_wrong_use(bare: Environment, words: list[str]) -> None:
    assert run_ingest(bare, *words).exit_code == 2


def test_status_says_whether_a_daemon_runs_and_how_far_it_is(own: Environment) -> None:
    home = own["RAW_RAG_HOME"]
    assert "Daemon   not running\n" in run(own, "status").stdout
    beat = Heartbeat(
        pid=4711, version="1", started=1.0, beat=2.0, caught_up=True, error="The disk is full.", error_at=2.0
    )
    beat.agents["claude"] = AgentBeat(
        lag_seconds=0.4,
        read_at=2.0,
        sources={"/a.jsonl": 0.7, "/b.jsonl": 0.4},
        failing={"/x": "no"},
        waiting=2,
        waiting_since=1.0,
    )
    write(home, beat)
    assert "it died after" in run(own, "status").stdout
    with lock(home, DAEMON, wait_seconds=0, purpose="a test"):
        shown = run(own, "status").stdout
        assert "Daemon   running, process 4711, since" in shown
        assert "last change read after 0.4 s" in shown and "/a.jsonl" not in shown
        of_one = run(own, "status", "--agent", "claude").stdout
        assert "/a.jsonl: read 0.7 s after it changed" in of_one and "/b.jsonl: read 0.4 s after it changed" in of_one
        assert "2 sources waiting since" in shown
        assert "/x cannot be read: no" in shown
        assert "The disk is full." in shown
        told = given(own, "status")
        assert told["daemon"]["running"] is True
        assert told["daemon"]["heartbeat"]["agents"]["claude"]["lag_seconds"] == 0.4
        assert json.loads(run_ingest(own, "--daemon-status", "--json").stdout)["daemon"]["running"] is True
