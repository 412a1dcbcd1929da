"""The systemd unit: what systemd reads is what was meant, and installing is all or nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.service.job import Job
from agent_raw_rag.service.systemd import UNIT, Systemd, quoted
from tests.service.fakes import Fake

JOB = Job("/home/you/.local/bin/raw-rag-ingest", ("--watch", "--interval", "60"), {"RAW_RAG_HOME": "/home/you/raw rag"})
EXAMPLE = Path(__file__).with_name("agent-raw-rag.service")


@pytest.fixture
def systemctl(tmp_path: Path) -> Fake:
    return Fake(tmp_path, "systemctl")


@pytest.fixture
def service(systemctl: Fake, tmp_path: Path) -> Systemd:
    return Systemd(systemctl.environment(tmp_path / "home"))


def test_the_unit_is_the_golden_one(service: Systemd) -> None:
    assert service.render(JOB) == EXAMPLE.read_text(encoding="utf-8")


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=("Cc", "Cs"))))
@example("a\nb\tc\x1b")
def test_a_quoted_word_reads_back_as_it_was(text: str) -> None:
    word = quoted(text, variables=True)
    assert "\n" not in word
    inner = re.sub(r"\\x(..)|\\(.)", lambda found: chr(int(found[1], 16)) if found[1] else found[2], word[1:-1])
    assert inner.replace("%%", "%").replace("$$", "$") == text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
@pytest.mark.parametrize("name", ["plain", "with blanks, 100 % and $HOME", "é 記 'a' \\ %h ${X}; &"])
def test_systemd_finds_nothing_wrong_with_it(service: Systemd, tmp_path: Path, name: str) -> None:
    program = tmp_path / name / "raw-rag-ingest"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    unit = tmp_path / UNIT
    job = Job(
        str(program), (*JOB.arguments, "--config", f"{name}.toml"), {"RAW_RAG_HOME": name, "RAW_RAG_NOTE": "a\nb"}
    )
    unit.write_text(service.render(job), encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", str(unit)], env=environment, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    if "D-Bus" in done.stderr or "Failed to initialize manager" in done.stderr:
        pytest.skip(f"systemd-analyze cannot run here: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_whose_path_systemd_refuses_is_started_by_a_shell(service: Systemd) -> None:
    odd = Job("/home/x/o'brien/bin/raw-rag-ingest", ("--watch",))
    assert (
        """ExecStart="/bin/sh" "-c" "exec \\"$$0\\" \\"$$@\\"" "/home/x/o'brien/bin/raw-rag-ingest" "--watch"\n"""
        in (service.render(odd))
    )


def test_installing_writes_the_unit_and_starts_it(service: Systemd, systemctl: Fake) -> None:
    service.install(JOB)
    assert Path(service.file).read_text(encoding="utf-8") == service.render(JOB)
    assert systemctl.calls() == [
        ["--user", *words.split()]
        for words in ("show-environment", "daemon-reload", f"enable {UNIT}", f"restart {UNIT}")
    ]


def test_installing_twice_is_installing_once(service: Systemd) -> None:
    service.install(JOB)
    service.install(JOB)
    assert [path.name for path in Path(service.file).parent.iterdir()] == [UNIT]


def test_without_a_bus_nothing_is_written_and_the_way_out_is_told(service: Systemd, systemctl: Fake) -> None:
    systemctl.answer((["--user"], {"code": 1, "err": "Failed to connect to bus: No medium found\n"}))
    with pytest.raises(ServiceError, match="No medium found") as caught:
        service.install(JOB)
    assert "WSL" in caught.value.hint
    assert "--watch" in caught.value.hint
    assert not Path(service.file).exists()


def test_where_there_is_no_systemd_nothing_is_written(tmp_path: Path) -> None:
    service = Systemd({"HOME": str(tmp_path), "PATH": str(tmp_path)})
    with pytest.raises(ServiceError, match="no systemd"):
        service.install(JOB)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failing", ["daemon-reload", "enable", "restart"])
def test_an_installation_that_fails_leaves_what_was_there(service: Systemd, systemctl: Fake, failing: str) -> None:
    systemctl.answer((["--user", failing], {"code": 1, "err": "no\n"}))
    with pytest.raises(ServiceError, match=failing):
        service.install(JOB)
    assert not Path(service.file).exists()
    assert ["--user", "disable", "--now", UNIT] in systemctl.calls(), "no link to what is not there is left"
    systemctl.answer()
    service.install(JOB)
    systemctl.answer((["--user", failing], {"code": 1, "err": "no\n"}))
    with pytest.raises(ServiceError, match=failing):
        service.install(Job("/other", ()))
    assert Path(service.file).read_text(encoding="utf-8") == service.render(JOB)
    assert systemctl.calls()[-2:] == [["--user", "daemon-reload"], ["--user", "restart", UNIT]], "it runs again"


def test_uninstalling_stops_it_and_takes_the_unit_away(service: Systemd, systemctl: Fake) -> None:
    service.install(JOB)
    systemctl.calls()
    assert service.uninstall() is True
    assert not Path(service.file).exists()
    assert ["--user", "disable", "--now", UNIT] in systemctl.calls()
    assert service.uninstall() is False


@pytest.mark.parametrize(
    ("shown", "state", "pid", "detail"),
    [
        ("ActiveState=active\nSubState=running\nMainPID=4711\nExecMainStatus=0\n", "running", 4711, ""),
        ("ActiveState=failed\nSubState=failed\nMainPID=0\nExecMainStatus=2\n", "stopped", None, "failed, last exit status 2"),
        ("ActiveState=inactive\nSubState=dead\nMainPID=0\nExecMainStatus=0\n", "stopped", None, "dead, last exit status 0"),
    ],
)  # fmt: skip
def test_its_state_is_what_systemd_says(
    service: Systemd, systemctl: Fake, shown: str, state: str, pid: int | None, detail: str
) -> None:
    assert service.state().state == "not installed"
    service.install(JOB)
    systemctl.answer((["--user", "show", UNIT], {"out": shown}))
    found = service.state()
    assert (found.state, found.pid, found.detail) == (state, pid, detail)


def test_its_state_is_unknown_without_a_bus(service: Systemd, systemctl: Fake) -> None:
    service.install(JOB)
    systemctl.answer((["--user"], {"code": 1, "err": "no bus"}))
    assert service.state().state == "unknown"
