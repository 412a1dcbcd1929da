"""The two READMEs are one text in two languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-TW.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def headings(text: str) -> list[int]:
    """Their levels."""
    return [len(marks) for marks in re.findall(r"^(#+) ", FENCED.sub("", text), re.MULTILINE)]


def code_blocks(text: str) -> list[str]:
    """Fenced blocks, word for word."""
    return FENCED.findall(text)


def links(text: str) -> list[str]:
    """Targets in order, apart from each README's link to the other."""
    return [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("README")]


def tables(text: str) -> list[tuple[int, int]]:
    """(rows, columns) of each."""
    found = re.findall(r"(?:^\|.*\|\n)+", FENCED.sub("", text), re.MULTILINE)
    return [(len(table.splitlines()), table.splitlines()[0].count("|") - 1) for table in found]


def items(text: str) -> list[str]:
    """The marks of list items."""
    return re.findall(r"^(-|\d+\.) ", FENCED.sub("", text), re.MULTILINE)


def code_spans(text: str) -> list[str]:
    """Names, commands and paths: the same in every language."""
    return sorted(re.findall(r"`([^`\n]+)`", FENCED.sub("", text)))


def marks(text: str) -> list[str]:
    """Comments that stand for text to come."""
    return re.findall(r"<!--.*?-->", text)


@pytest.mark.parametrize("part", [headings, code_blocks, links, tables, items, code_spans, marks])
def test_the_readmes_have_the_same(part) -> None:  # type: ignore[no-untyped-def]
    assert part(CHINESE) == part(ENGLISH)


def test_each_readme_links_to_the_other() -> None:
    assert "](README.zh-TW.md)" in ENGLISH
    assert "](README.md)" in CHINESE


def test_the_chinese_readme_is_in_traditional_characters() -> None:
    only_simplified = set("个们这说话对时会为没过开关头实现进还让应该问题览显装设备钟态错误档页码运维护读写变网络线发")
    assert set(CHINESE) & only_simplified == set()
