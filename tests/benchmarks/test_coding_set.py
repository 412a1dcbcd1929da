"""The coding-dialogue benchmark is sound, and its check sees what would make it unsound."""

from __future__ import annotations

import importlib.util
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "coding"


@pytest.fixture(scope="module")
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coding_check", FOLDER / "check.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files(check: ModuleType) -> tuple[list[dict[str, Any]], ...]:
    return check.rows("corpus"), check.rows("queries"), check.rows("unanswerable")


def test_the_shipped_set_has_no_fault(check: ModuleType, files: tuple[list[dict[str, Any]], ...]) -> None:
    assert check.faults(*files) == []


def test_the_shipped_set_asks_every_type_of_question_in_every_size_promised(
    check: ModuleType, files: tuple[list[dict[str, Any]], ...]
) -> None:
    found = check.statistics(*files)
    assert found["conversations"] == 8
    assert 700 <= found["turns"] <= 1000
    assert found["queries"] >= 280
    assert found["unanswerable"] == 25
    assert set(found["types"]) == check.TYPES
    assert min(kind["queries"] for kind in found["types"].values()) >= 15


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        (0, "id", "c01/s1:2"),
        (0, "id", "c02/s9:1"),
        (0, "date", "14 January 2025"),
        (0, "date", "2025-01-14T09:12:00"),
        (0, "date", "2031-01-14T09:12:00+01:00"),
        (0, "speaker", "tool"),
        (0, "text", " "),
        (1, "gold", []),
        (1, "gold", ["c01/s1:3", "c01/s1:3"]),
        (1, "gold", ["c02/s1:2"]),
        (1, "gold", ["c01/s99:1"]),
        (1, "type", "other"),
        (1, "qid", "c01-q02"),
        (2, "conv", "c99"),
        (2, "qid", "c01-n02"),
    ],
)
def test_one_wrong_field_is_a_fault(
    check: ModuleType, files: tuple[list[dict[str, Any]], ...], part: int, key: str, value: object
) -> None:
    changed = [list(rows) for rows in files]
    changed[part][0] = {**deepcopy(changed[part][0]), key: value}
    assert check.faults(*changed)


def test_a_question_that_repeats_a_turn_is_a_fault(check: ModuleType, files: tuple[list[dict[str, Any]], ...]) -> None:
    turns, queries, unanswerable = files
    copied = [{**queries[0], "query": turns[0]["text"].upper()}, *queries[1:]]
    assert check.faults(turns, copied, unanswerable) == [f"{queries[0]['qid']}: is a turn, word for word"]
