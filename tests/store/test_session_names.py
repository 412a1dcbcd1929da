"""A session is named by its public id, its native id, or an unambiguous beginning of either."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.errors import NotFoundError, UsageError
from agent_raw_rag.store.connection import connect, transaction
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.writer import Writer

SESSIONS = [("claude", "7c1e-1"), ("claude", "7c2e-2"), ("codex", "shared"), ("mcp", "shared"), ("mcp", "ext:tester")]


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    connection = connect(str(tmp_path / "raw_rag.db"), write=True)
    with transaction(connection):
        for agent, native in SESSIONS:
            Writer(connection).session(agent, native)
    return Reader(connection)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("claude:7c1e-1", "claude:7c1e-1"),
        ("7c1e-1", "claude:7c1e-1"),
        ("7c1", "claude:7c1e-1"),
        ("claude:7c1", "claude:7c1e-1"),
        ("codex:shared", "codex:shared"),
        ("codex:sh", "codex:shared"),
        ("mcp:ext:tester", "mcp:ext:tester"),
        ("ext:tester", "mcp:ext:tester"),
        ("ext:te", "mcp:ext:tester"),
        ("mcp:ext:t", "mcp:ext:tester"),
    ],
)
def test_a_session_is_found_by_its_names(reader: Reader, name: str, found: str) -> None:
    assert reader.session(name).public_id == found


@pytest.mark.parametrize("name", ["", ":", "nobody", "claude:", "claude:shared", "ext:nobody"])
def test_a_name_of_nothing_is_said_to_be_one(reader: Reader, name: str) -> None:
    with pytest.raises(NotFoundError):
        reader.session(name)


@pytest.mark.parametrize("name", ["7c", "claude:7c", "shared"])
def test_a_name_of_several_is_refused(reader: Reader, name: str) -> None:
    with pytest.raises(UsageError):
        reader.session(name)
