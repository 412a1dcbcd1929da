"""The how-to page says what the commands do."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from agent_raw_rag.connect.plan import wirings
from tests.cli.commands import Environment, given, run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "connect-an-agent.md").read_text(encoding="utf-8")
LINES = re.findall(r"^raw-rag (connect .+)$", PAGE, re.MULTILINE)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    (tmp_path / "home" / ".pi" / "agent").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return {"HOME": str(tmp_path / "home"), "RAW_RAG_HOME": str(tmp_path / "store")}


@pytest.mark.parametrize("line", LINES)
def test_every_example_runs(home: Environment, line: str) -> None:
    result = run(home, *shlex.split(line))
    assert result.exit_code == 0, result.output


def test_every_agent_and_every_option_has_an_example() -> None:
    words = {word for line in LINES for word in shlex.split(line)}
    assert (
        set(wirings()) | {"--all", "--dry-run", "--undo", "--status", "--hooks", "--instructions", "--scope"} <= words
    )


def test_the_table_of_hooks_is_that_of_the_rows() -> None:
    table = dict(re.findall(r"^\| (\w[^|]*?) \| (.+) \|$", PAGE, re.MULTILINE))
    with_hooks = [one.title for _, one in wirings().values() if one.hooks or one.extension]
    named = [name for agents, how in table.items() if how not in ("how", "none") for name in agents.split(", ")]
    assert len(named) == len(with_hooks)
    assert table["Antigravity"] == "none"


def test_the_entry_that_is_written_is_the_one_of_the_examples(home: Environment) -> None:
    given(home, "connect", "pi")
    written = (Path(home["HOME"]) / ".pi/agent/mcp.json").read_text(encoding="utf-8")
    example = (ROOT / "EXAMPLE.md").read_text(encoding="utf-8").partition("## pi")[2]
    assert '"exposure": "direct"' in written and '"exposure": "direct"' in example.partition("## ")[0]
