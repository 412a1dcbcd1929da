"""Which platform has which service."""

from __future__ import annotations

import pytest

from agent_raw_rag.errors import ServiceError
from agent_raw_rag.service.choice import service_of


@pytest.mark.parametrize(("platform", "place"), [("linux", "systemd"), ("darwin", "LaunchAgents")])
def test_each_platform_has_its_own(platform: str, place: str) -> None:
    assert place in service_of(platform, {"HOME": "/home/you"}).file


def test_on_windows_the_task_scheduler_is_named() -> None:
    with pytest.raises(ServiceError, match="Windows") as caught:
        service_of("win32", {})
    assert "schtasks" in caught.value.hint
    assert "raw-rag-ingest --watch" in caught.value.hint


def test_elsewhere_it_is_said() -> None:
    with pytest.raises(ServiceError, match="freebsd14"):
        service_of("freebsd14", {})
