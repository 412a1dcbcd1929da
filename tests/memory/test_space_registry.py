"""The registry of memory spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotFoundError
from agent_raw_rag.models import Actor
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.journal import Journal
from tests.samples import empty_runtime

OWNER = Actor("owner", "cli")
NOW = 1_796_000_000_000


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return empty_runtime(tmp_path)


def listed(runtime: Runtime) -> list[tuple[str, bool]]:
    return [(item.space, item.enabled) for item in runtime.spaces_registry.items()]


def test_the_default_space_is_always_there_and_enabled(runtime: Runtime) -> None:
    assert listed(runtime) == [("default", True)]
    with pytest.raises(BadArgumentError):
        runtime.spaces_registry.enable("default", False, actor=OWNER, now=NOW)
    with pytest.raises(ConflictError):
        runtime.spaces_registry.create("default", actor=OWNER, now=NOW)


def test_a_space_is_made_disabled_and_enabled_and_all_of_it_is_written_down(runtime: Runtime) -> None:
    spaces = runtime.spaces_registry
    spaces.create("proj", title="A project", actor=OWNER, now=NOW)
    spaces.enable("proj", False, actor=OWNER, now=NOW + 1)
    spaces.enable("proj", False, actor=OWNER, now=NOW + 2)
    assert listed(runtime) == [("default", True), ("proj", False)]
    spaces.enable("proj", True, actor=OWNER, now=NOW + 3)
    assert listed(runtime) == [("default", True), ("proj", True)]
    rows = Journal(runtime.reader.connection).rows()
    assert [(row.action, row.target, row.time - NOW) for row in rows] == [
        ("space_create", "proj", 0), ("space_disable", "proj", 1), ("space_enable", "proj", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("slug", ["", "A", "-x", "_x", "a b", "../x", "a/b", "x" * 64, "ä", "a\n", "."])
def test_what_cannot_be_a_folder_cannot_be_a_space(runtime: Runtime, slug: str) -> None:
    with pytest.raises(BadArgumentError):
        runtime.spaces_registry.create(slug, actor=OWNER, now=NOW)
    assert listed(runtime) == [("default", True)]


def test_a_space_is_made_once(runtime: Runtime) -> None:
    runtime.spaces_registry.create("x" * 63, actor=OWNER, now=NOW)
    with pytest.raises(ConflictError):
        runtime.spaces_registry.create("x" * 63, actor=OWNER, now=NOW)


def test_a_space_that_is_not_there_is_not_found(runtime: Runtime) -> None:
    with pytest.raises(NotFoundError):
        runtime.spaces_registry.enable("proj", True, actor=OWNER, now=NOW)
