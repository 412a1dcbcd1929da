"""Tables, pictures and files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.errors import UsageError
from agent_raw_rag.evals.curves import check_plots, drawable, svg
from agent_raw_rag.evals.report import report, write
from agent_raw_rag.evals.summary import curves, ranks, summary
from agent_raw_rag.evals.tables import Table, markdown, remarks, tables
from tests.evals.bakery_run import BAKERY, asked, load, runtime

COMMAND = "raw-rag eval folder bakery"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def written(home: Path) -> Path:
    answers, chosen = asked(home)
    found = report(load(BAKERY), summary(answers, chosen), runtime(home).settings, HashingEncoder(), {"limit": None})
    more = {"curves": curves(answers), "ranks": ranks(answers["full"])}
    names = [path.name for path in write(home / "out", "bakery", found, more, COMMAND, pictures=True)]
    assert names == ["bakery.json", "bakery-windows.svg", "bakery-turns.svg", "bakery.md"]
    return home / "out"


def test_the_file_says_how_where_and_with_what_it_was_measured(written: Path) -> None:
    found = json.loads((written / "bakery.json").read_text(encoding="utf-8"))
    assert found["command"] == COMMAND
    assert set(found["machine"]) == {"cpu", "cores", "ram_gb", "system", "python", "packages"}
    assert found["machine"]["packages"]["numpy"]
    assert found["space"].startswith("hashing")
    assert found["settings"]["chunks"] == {"size": 48, "overlap": 8}
    assert found["corpus"] == {"conversations": 2, "turns": 20, "questions": 6, "left_out": {}, "remarks": {}}
    assert [row["id"] for row in found["ranks"]] == ["a1", "a2", "a3", "b1", "b2", "b3", "b4"]


def test_no_file_names_a_folder_of_the_machine_or_repeats_a_text(written: Path, home: Path) -> None:
    for path in written.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not [word for word in (str(home), str(Path.home()) + "/", str(BAKERY), "thermostat") if word in text]


def test_the_page_has_the_tables_in_percent_and_says_that_no_answer_was_judged(written: Path) -> None:
    page = (written / "bakery.md").read_text(encoding="utf-8")
    assert "| configuration | n | R@1 |" in page
    assert "No model answered anything" in page
    assert "Of 1 questions that the corpus does not answer" in page
    assert "![bakery-windows.svg](bakery-windows.svg)" in page
    assert "[bakery.json](bakery.json)" in page


def test_the_same_curves_give_the_same_picture() -> None:
    points = {"full": [[0.5, 0.4, 0.6], [0.7, 0.6, 0.8]], "lexical": [[0.4, 0.3, 0.5], [0.6, 0.5, 0.7]]}
    one = svg(points, "recall")
    assert one == svg(points, "recall")
    assert "<dc:date>" not in one and ">lexical</text>" in one


def test_a_picture_leaves_out_single_switches() -> None:
    assert drawable(["lexical", "full", "without exact", "with recency", "without rerank"]) == [
        "lexical",
        "full",
        "without rerank",
    ]


def test_without_matplotlib_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"agent-raw-rag-mcp\[plots\]"):
        check_plots()


def test_a_folder_that_cannot_be_made_is_told(home: Path, written: Path) -> None:
    found = json.loads((written / "bakery.json").read_text(encoding="utf-8"))
    with pytest.raises(UsageError, match="cannot be written"):
        write(written / "bakery.md" / "below", "x", found, {}, COMMAND, pictures=False)


def test_tables_have_a_cell_for_every_column(home: Path) -> None:
    answers, chosen = asked(home)
    found = report(load(BAKERY), summary(answers, chosen), runtime(home).settings, None, {})
    made = tables(found)
    assert [row for table in made for row in table.rows if len(row) != len(table.columns)] == []
    assert len({table.title for table in made}) == len(made) == 8
    assert remarks(found)


def test_a_table_in_markdown() -> None:
    shown = markdown(Table("T", ["a", "b"], [["1|2", "3"]]))
    assert shown == "**T**\n\n| a | b |\n| --- | --- |\n| 1\\|2 | 3 |\n"
