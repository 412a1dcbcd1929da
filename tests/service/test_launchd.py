"""The LaunchAgent: what launchd reads is what was meant, and installing is all or nothing."""

from __future__ import annotations

import plistlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.service.job import Job
from agent_raw_rag.service.launchd import LABEL, Launchd
from tests.service.fakes import Fake

JOB = Job("/Users/you/.local/bin/raw-rag-ingest", ("--watch", "--interval", "60"))
EXAMPLE = Path(__file__).parents[2] / "launchd" / f"{LABEL}.plist"
DOMAIN, TARGET = "gui/501", f"gui/501/{LABEL}"
NOT_LOADED = {"code": 113, "err": "Could not find service\n"}
TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"), min_size=1
)


@pytest.fixture
def launchctl(tmp_path: Path) -> Fake:
    fake = Fake(tmp_path, "launchctl")
    fake.answer((["print", TARGET], NOT_LOADED))
    return fake


@pytest.fixture
def service(launchctl: Fake, tmp_path: Path) -> Launchd:
    return Launchd(launchctl.environment(tmp_path / "home"), 501)


def test_the_example_is_what_is_rendered_for_example_paths() -> None:
    assert Launchd({"HOME": "/Users/you"}, 501).render(JOB) == EXAMPLE.read_text(encoding="utf-8")


@given(words=st.lists(TEXT, max_size=3), environment=st.dictionaries(TEXT, TEXT, max_size=3))
def test_what_launchd_reads_is_what_was_meant(words: list[str], environment: dict[str, str]) -> None:
    read = plistlib.loads(Launchd({"HOME": "/h"}, 501).render(Job("/p", tuple(words), environment)).encode())
    assert read["ProgramArguments"] == ["/p", *words]
    assert read.get("EnvironmentVariables", {}) == environment
    assert read["Label"] == LABEL
    assert read["KeepAlive"] == {"SuccessfulExit": False}


def test_the_example_names_no_folder_of_the_machine_it_was_built_on() -> None:
    paths = re.findall(r"<string>(/[^<]*)</string>", EXAMPLE.read_text(encoding="utf-8"))
    assert paths == ["/Users/you/.local/bin/raw-rag-ingest"]


@pytest.mark.parametrize("word", ["a\x1bb", "\udcff"], ids=["control character", "broken UTF-8"])
def test_what_a_property_list_cannot_hold_is_said(service: Launchd, word: str) -> None:
    with pytest.raises(ServiceError, match="cannot be described"):
        service.install(Job("/p", (word,)))
    assert not Path(service.file).exists()


@pytest.mark.skipif(shutil.which("plutil") is None, reason="plutil is on macOS only")
def test_plutil_finds_nothing_wrong_with_it() -> None:
    subprocess.run(["plutil", "-lint", str(EXAMPLE)], check=True)


def test_installing_replaces_and_starts_it(service: Launchd, launchctl: Fake) -> None:
    service.install(JOB)
    assert Path(service.file).read_text(encoding="utf-8") == service.render(JOB)
    assert launchctl.calls() == [
        ["print", DOMAIN], ["bootout", TARGET], ["print", TARGET], ["enable", TARGET],
        ["bootstrap", DOMAIN, service.file],
    ]  # fmt: skip
    service.install(JOB)
    assert [path.name for path in Path(service.file).parent.iterdir()] == [f"{LABEL}.plist"]


def test_an_old_one_that_is_slow_to_end_is_waited_for(service: Launchd, launchctl: Fake) -> None:
    launchctl.answer((["print", TARGET], {"once": True}), (["print", TARGET], NOT_LOADED))
    service.install(JOB)
    assert launchctl.calls().count(["print", TARGET]) == 2


def test_without_a_graphical_session_nothing_is_written(service: Launchd, launchctl: Fake) -> None:
    launchctl.answer((["print", DOMAIN], {"code": 112, "err": "Could not find domain\n"}))
    with pytest.raises(ServiceError, match="Could not find domain") as caught:
        service.install(JOB)
    assert "--watch" in caught.value.hint
    assert not Path(service.file).exists()


def test_an_installation_that_fails_leaves_what_was_there(service: Launchd, launchctl: Fake) -> None:
    failing = (["bootstrap"], {"code": 5, "err": "Bootstrap failed: 5: Input/output error\n"})
    launchctl.answer((["print", TARGET], NOT_LOADED), failing)
    with pytest.raises(ServiceError, match="Bootstrap failed"):
        service.install(JOB)
    assert not Path(service.file).exists()
    launchctl.answer((["print", TARGET], NOT_LOADED))
    service.install(JOB)
    launchctl.answer((["print", TARGET], NOT_LOADED), failing)
    with pytest.raises(ServiceError):
        service.install(Job("/other", ()))
    assert Path(service.file).read_text(encoding="utf-8") == service.render(JOB)


def test_uninstalling_stops_it_and_takes_the_file_away(service: Launchd, launchctl: Fake) -> None:
    service.install(JOB)
    launchctl.calls()
    assert service.uninstall() is True
    assert launchctl.calls()[0] == ["bootout", TARGET]
    assert not Path(service.file).exists()
    assert service.uninstall() is False


@pytest.mark.parametrize(
    ("answer", "state", "pid", "detail"),
    [
        ({"out": "x = {\n\tstate = running\n\tpid = 4711\n\tlast exit code = 1\n}\n"}, "running", 4711, ""),
        ({"out": "x = {\n\tstate = not running\n\tlast exit code = 2\n}\n"}, "stopped", None, "last exit status 2"),
        (NOT_LOADED, "stopped", None, "not loaded"),
    ],
)
def test_its_state_is_what_launchd_says(
    service: Launchd, launchctl: Fake, answer: dict[str, object], state: str, pid: int | None, detail: str
) -> None:
    assert service.state().state == "not installed"
    service.install(JOB)
    launchctl.answer((["print", TARGET], answer))
    found = service.state()
    assert (found.state, found.pid, found.detail) == (state, pid, detail)
