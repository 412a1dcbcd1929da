"""A service from its installation to its end: the real commands and the real daemon, and a system that starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_raw_rag.encode.daemon_address import find
from tests.process.processes import environment_of
from tests.process.support import BIN
from tests.service.system import lay_out

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kind of service is that of the system"),
]
ODD = "my \"own\" 'logs' 100% \\ é 記 $HOME ${X} %h;&"
"""Every character that a shell, systemd or XML makes something of."""
MACOS = """
import sys, zoneinfo
from agent_raw_rag.cli import daemon, ingest
sys.platform = "darwin"
ingest.main()
"""
"""The commands choose by ``sys.platform``; nothing else in them differs. zoneinfo looks at it, too, when it is imported."""


class System:
    """A person's machine."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.kind = kind
        self.own = folder / ODD
        home = folder / "home"
        home.mkdir()
        self.own.mkdir()
        (home / ".claude" / "projects").mkdir(parents=True)
        self.config = self.own / f"{ODD}.toml"
        self.config.write_text("[daemon]\non_battery = true\n", encoding="utf-8")
        self.home = home
        self.environment = environment_of({
            **lay_out(folder / "system", kind), "HOME": str(home), "RAW_RAG_HOME": str(self.own),
            "RAW_RAG_NOTE": ODD, "CODEX_HOME": str(folder / ODD / "codex"), "LANG": "C.UTF-8",
        })  # fmt: skip

    def ingest(self, *words: str) -> subprocess.CompletedProcess[str]:
        start = [str(BIN / "raw-rag-ingest")] if self.kind == "systemctl" else [sys.executable, "-c", MACOS]
        return subprocess.run(
            [*start, *words], env=self.environment, capture_output=True, text=True, encoding="utf-8", timeout=110,
            check=False, cwd=self.own,
        )  # fmt: skip

    def status(self) -> Any:
        done = self.ingest("--daemon-status", "--json", "--config", str(self.config))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def until(self, fits: Callable[[Any], bool]) -> Any:
        """The status, once it is as it should be; each question is a process, so nothing spins."""
        for _ in range(60):
            status = self.status()
            if fits(status):
                return status
        raise AssertionError(f"never came to be: {status}")


@pytest.mark.parametrize("kind", ["systemctl", "launchctl"])
def test_it_is_installed_runs_is_replaced_and_goes(tmp_path: Path, kind: str) -> None:
    system = System(tmp_path, kind)
    assert system.status()["service"]["state"] == "not installed"
    first = system.ingest("--install-daemon", "--config", system.config.name)
    assert first.returncode == 0, first.stderr
    try:
        running = system.until(lambda status: status["daemon"]["running"] and status["daemon"]["heartbeat"])
        assert running["service"]["state"] == "running"
        assert running["service"]["pid"] == running["daemon"]["heartbeat"]["pid"], "the same home, so all was handed on"
        words = psutil.Process(running["service"]["pid"]).cmdline()
        assert words[-2:] == ["--config", str(system.config)], "made absolute"
        facts = psutil.Process(running["service"]["pid"]).environ()
        assert (facts["RAW_RAG_NOTE"], facts["CODEX_HOME"]) == (ODD, system.environment["CODEX_HOME"])
        system.until(lambda status: status["daemon"]["heartbeat"]["caught_up"])
        assert find(str(system.own)) is not None, "it serves its models to the others"
        second = system.ingest("--install-daemon", "--config", str(system.config))
        assert second.returncode == 0, second.stderr
        replaced = system.until(
            lambda status: (
                status["daemon"]["running"] and status["daemon"]["heartbeat"]["pid"] == status["service"]["pid"]
            )
        )
        assert replaced["service"]["pid"] != running["service"]["pid"]
        assert (
            not psutil.pid_exists(running["service"]["pid"]) or not psutil.Process(running["service"]["pid"]).cmdline()
        )
        shown = system.ingest("--daemon-status").stdout
        assert f"Service  running, process {replaced['service']['pid']}" in shown and "Daemon   running" in shown
        psutil.Process(replaced["service"]["pid"]).kill()
        died = system.until(lambda status: status["service"]["state"] == "stopped")
        assert died["service"]["pid"] is None and died["daemon"]["running"] is False
    finally:
        gone = system.ingest("--uninstall-daemon")
    assert gone.returncode == 0 and "Removed" in gone.stdout
    again = system.ingest("--uninstall-daemon")
    assert (again.returncode, again.stdout) == (0, "No service is installed.\n")
    ended = system.status()
    assert (ended["service"]["state"], ended["daemon"]["running"]) == ("not installed", False)
