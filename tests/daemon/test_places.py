"""Which folders are watched for which roots."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.adapters.base import Root
from agent_raw_rag.daemon.watch import places


@pytest.mark.parametrize(
    ("pattern", "there", "watched"),
    [
        ("**/*.jsonl", ["root"], {("root", "tree")}),
        ("sessions/**/*.jsonl", ["root/sessions"], {("root/sessions", "tree")}),
        ("sessions/**/*.jsonl", ["root"], {("root", "arrival")}),
        ("sessions/**/*.jsonl", [], {("", "arrival")}),
        ("*.db", ["root"], {("root", "folder")}),
        ("a/b/*.json", ["root/a"], {("root/a", "arrival")}),
        ("a/b/*.json", ["root/a/b"], {("root/a/b", "folder")}),
        ("*/logs/*.json", ["root"], {("root", "tree")}),
    ],
)
def test_a_pattern_is_watched_from_its_first_wildcard_on(
    tmp_path: Path, pattern: str, there: list[str], watched: set[tuple[str, str]]
) -> None:
    for folder in there:
        (tmp_path / folder).mkdir(parents=True)
    found = places([Root(str(tmp_path / "root"), (pattern,))])
    assert found == {(str(tmp_path / path) if path else str(tmp_path), kind) for path, kind in watched}


def test_what_lies_in_a_watched_tree_is_not_watched_twice(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    root = Root(str(tmp_path), ("a/**/*.json", "a/b/*.json", "a/c/*.json", "*.db"))
    assert places([root]) == {(str(tmp_path / "a"), "tree"), (str(tmp_path), "folder")}


def test_a_root_that_is_a_link_is_watched_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert places([Root(str(tmp_path / "link"), ("*.db",))]) == {(str(tmp_path / "real"), "folder")}
