"""What every row of the registry promises, whichever agent it is for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.adapters.base import Adapter
from agent_raw_rag.adapters.registry import BUILT_IN, adapters
from agent_raw_rag.models import Record, Shape, Source
from agent_raw_rag.sources.discover import find_sources
from agent_raw_rag.sources.samples import lay_out
from tests.samples import SAMPLES

HOME = "/home/dev"
ROWS = [adapters()[name] for name in BUILT_IN]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["type", "message", "role", "content", "id", "uuid", "timestamp", "payload", "text", "data", "parts"]
)
WORDS = st.sampled_from(
    ["user", "assistant", "message", "session", "text", "response_item", "tool_call", "summary", "PLANNER"]
)
DATA = st.dictionaries(KEYS, WORDS | JSON | st.dictionaries(KEYS, WORDS | JSON, max_size=4), max_size=6)

every = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.agent)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Adapter], list[Source]]:
    home = tmp_path_factory.mktemp("contract") / "home"
    lay_out(str(SAMPLES), str(home))
    return lambda row: find_sources(row, row.roots({}, str(home)))


@every
def test_a_row_says_what_it_is_for(row: Adapter) -> None:
    assert row.agent == row.agent.lower() and row.title and row.formats


@every
def test_without_any_variable_all_roots_are_absolute_folders_of_the_home(row: Adapter) -> None:
    roots = row.roots({}, HOME)
    assert roots and all(root.path.startswith(f"{HOME}/") and root.patterns for root in roots)
    assert row.roots({}, HOME) == roots


@every
def test_only_the_variables_it_names_move_it(row: Adapter) -> None:
    others = {name: "/else/where" for other in ROWS for name in other.environment if name not in row.environment}
    assert row.roots({**others, "LANG": "C", "PWD": "/"}, HOME) == row.roots({}, HOME)
    if row.environment:
        assert row.roots(dict.fromkeys(row.environment, "/else/where"), HOME) != row.roots({}, HOME)


@every
def test_a_folder_that_is_named_is_the_only_one_looked_at(row: Adapter) -> None:
    assert row.folder is None or {root.path.startswith("/mnt/old") for root in row.folder("/mnt/old")} == {True}


@every
@pytest.mark.parametrize("name", ["auth.json", ".credentials.json", "settings.json", "notes.txt", "deep/er/auth.json"])
def test_files_that_are_no_conversations_are_not_claimed(row: Adapter, name: str) -> None:
    assert [found for root in row.roots({}, HOME) if (found := row.classify(root, name))] == []


@every
def test_what_it_claims_bears_its_name_and_a_state_that_a_cursor_can_store(
    row: Adapter, sources: Callable[[Adapter], list[Source]]
) -> None:
    found = sources(row)
    assert found
    for source in found:
        assert source.agent == row.agent and Path(source.path).is_relative_to(source.root)
        assert json.loads(json.dumps(row.start(source))) is not None
        assert (source.shape is not Shape.DATABASE) or row.families


@every
def test_reopening_names_the_session(row: Adapter) -> None:
    assert row.resume is None or row.resume("abc-123", None)[-1] == "abc-123"


@every
@settings(max_examples=60)
@given(data=st.lists(DATA, min_size=1, max_size=4))
def test_no_record_breaks_it_and_the_same_ones_give_the_same_events(row: Adapter, data: list[dict[str, Any]]) -> None:
    for shape in Shape:
        source = Source(row.agent, f"{HOME}/x.jsonl", HOME, shape)
        once, again = row.start(source), row.start(source)
        for one in data:
            copy = json.loads(json.dumps(one))
            assert list(row.parse(Record(one), once)) == list(row.parse(Record(copy), again))
            assert one == copy


def installed(folder: Path, body: str) -> str:
    """What the registry says with a package of somebody else's on the path."""
    info = folder / "their_agent-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-agent\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[agent_raw_rag.adapters]\ntheirs = their_agent:ADAPTER\n", encoding="utf-8")
    (folder / "their_agent.py").write_text(body, encoding="utf-8")
    program = (
        "from agent_raw_rag.adapters.registry import adapters\nfrom agent_raw_rag.errors import RawRagError\n"
        "try: print(*adapters())\nexcept RawRagError as error: print(error)"
    )
    path = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_row_of_another_package_is_one_of_the_rows(tmp_path: Path) -> None:
    body = """
from agent_raw_rag.adapters.base import Adapter
ADAPTER = Adapter("theirs", "Their agent", lambda env, home: (), lambda root, path: None, lambda r, s: (), lambda s: {})
"""
    assert installed(tmp_path, body).split() == [*BUILT_IN, "theirs"]


@pytest.mark.parametrize(("body", "said"), [("import nowhere_at_all", "nowhere_at_all"), ("ADAPTER = 3", "no Adapter")])
def test_a_row_of_another_package_that_is_broken_is_told_as_theirs(tmp_path: Path, body: str, said: str) -> None:
    answer = installed(tmp_path, body)
    assert said in answer and "their-agent" in answer
