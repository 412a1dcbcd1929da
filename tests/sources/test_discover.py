"""Finding sources: globs, links, order."""

from __future__ import annotations

import os
from pathlib import Path

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.models import Shape, Source
from agent_raw_rag.sources.discover import find_sources


def adapter() -> Adapter:
    def classify(root: Root, relative: str) -> Source | None:
        return None if "skip" in relative else Source("test", f"{root.path}/{relative}", root.path, Shape.LINES)

    return Adapter("test", "Test", lambda env, home: (), classify, lambda record, state: (), lambda source: {})


def found(root: Path, *patterns: str) -> list[str]:
    sources = find_sources(adapter(), (Root(str(root), patterns),))
    return [source.path.removeprefix(f"{root.resolve()}/") for source in sources]


def make(root: Path, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("", encoding="utf-8")


def test_globs_match_levels_and_any_depth(tmp_path: Path) -> None:
    make(tmp_path, "a.jsonl", "p/b.jsonl", "p/q/c.jsonl", "p/q/r/d.jsonl", "p/skip.jsonl", "p/e.txt")
    assert found(tmp_path, "*/*.jsonl") == ["p/b.jsonl"]
    assert found(tmp_path, "p/**/*.jsonl") == ["p/b.jsonl", "p/q/c.jsonl", "p/q/r/d.jsonl"]


def test_a_folder_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    assert found(tmp_path / "none", "*.jsonl") == []


def test_links_that_lead_out_are_not_followed_and_links_inside_count_once(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make(root, "p/a.jsonl")
    make(outside, "b.jsonl")
    (root / "p/out.jsonl").symlink_to(outside / "b.jsonl")
    (root / "q").symlink_to(outside)
    (root / "p/again.jsonl").symlink_to(root / "p/a.jsonl")
    (root / "p/loop").symlink_to(root)
    assert found(root, "**/*.jsonl") == ["p/a.jsonl"]


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    make(tmp_path / "real", "a.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    sources = find_sources(
        adapter(), (Root(str(tmp_path / "link"), ("*.jsonl",)), Root(str(tmp_path / "real"), ("*.jsonl",)))
    )
    assert [source.path for source in sources] == [str(tmp_path / "real/a.jsonl")]


def test_pipes_and_links_in_a_circle_are_no_sources(tmp_path: Path) -> None:
    make(tmp_path, "a.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "circle.jsonl").symlink_to("circle.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to("nowhere.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    assert found(tmp_path, "*.jsonl") == ["a.jsonl"]
