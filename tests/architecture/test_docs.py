"""The documentation says what the product does, and what it points to exists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.adapters.base import Adapter
from agent_raw_rag.ingest.reading import read_batches, start_cursor
from agent_raw_rag.models import Text
from agent_raw_rag.sanitize.rule import Rule, plant
from agent_raw_rag.sources.discover import find_sources
from agent_raw_rag.sources.lines import read_lines

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.timeout(400)  # it asks every command for its help
def test_the_generated_pages_are_those_of_the_product() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    targets = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link).resolve() for link in LINK.findall(index.read_text(encoding="utf-8"))}
    pages = {page for page in (ROOT / "docs").rglob("*.md") if page != index and page.parent.name != "decisions"}
    assert {page.name for page in pages - linked} == set()


def test_every_command_in_an_example_exists() -> None:
    from typer.main import get_command

    from agent_raw_rag.cli.app import app

    known = set(getattr(get_command(app), "commands", {}))
    told = {
        word
        for page in PAGES
        for _, code in FENCED.findall(page.read_text(encoding="utf-8"))
        for word in re.findall(r"^(?:uv run |uvx --from \S+ )?raw-rag ([a-z]\S*)", code, re.MULTILINE)
    }
    assert told - known == set()
    assert known - told == {"demo"}, "each command stands in an example; demo is `make demo`"


def test_every_environment_variable_of_ours_is_documented() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    documented = (ROOT / "docs" / "reference" / "config.md").read_text(encoding="utf-8")
    used = set(re.findall(r"\bRAW_RAG_[A-Z_]+\b", source))
    assert {name for name in used if f"`{name}`" not in documented} == set()


def test_every_make_target_in_the_documentation_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    told = {
        word
        for page in PAGES
        for word in re.findall(r"(?:`|^|\s)make ([a-z]+)\b(?=`|$|  )", page.read_text(encoding="utf-8"))
    }
    assert told - targets == set()


def test_every_example_of_a_configuration_starts_the_server() -> None:
    blocks = FENCED.findall((ROOT / "EXAMPLE.md").read_text(encoding="utf-8"))
    parsed = [json.loads(code) for language, code in blocks if language == "json"]
    parsed += [tomllib.loads(code) for language, code in blocks if language == "toml"]
    assert len(parsed) >= 7
    assert [one for one in parsed if _command(one) != ["uvx", "agent-raw-rag-mcp"]] == []


def test_the_example_adapter_reads_a_log(tmp_path: Path) -> None:
    row: Adapter = _run(ROOT / "docs" / "how-to" / "add-an-adapter.md")["ADAPTER"]
    log = tmp_path / "sessions" / "2026" / "one.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(
        '{"type":"session","cwd":"/w","version":"1"}\n'
        '{"type":"user","id":"a","time":"2026-11-30T10:00:00Z","text":"Why?"}\n'
        '{"type":"mood"}\n'
        '{"type":"assistant","time":1796032805,"text":"Because."}\n',
        encoding="utf-8",
    )
    (source,) = find_sources(row, row.roots({"MY_AGENT_HOME": str(tmp_path)}, "/home/me"))
    (batch,) = read_batches(row, read_lines(source.path), start_cursor(row, source))
    assert [(turn.session, turn.role.value, turn.items) for turn in batch.turns] == [
        ("one", "user", [Text("Why?")]),
        ("one", "assistant", [Text("Because.")]),
    ]
    assert batch.infos["one"].cwd == "/w"
    assert batch.tally == {"unknown|1|mood": 1}


def test_the_example_rule_masks_its_example_only() -> None:
    page = (ROOT / "docs" / "how-to" / "add-a-redaction-rule.md").read_text(encoding="utf-8")
    rule: Rule = eval(FENCED.findall(page)[0][1], {"Rule": Rule})
    text, secret = plant(rule.example)
    assert re.findall(rule.pattern, text) == [secret]
    assert re.findall(rule.pattern, rule.counter) == []


@pytest.mark.skipif(os.name == "nt", reason="shell scripts are for POSIX systems")
@pytest.mark.parametrize("script", [".ci/run", ".ci/uv"])
def test_the_shell_scripts_parse_and_may_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)


def _run(page: Path) -> dict[str, Any]:
    """The names that a page's first Python block defines."""
    code = next(code for language, code in FENCED.findall(page.read_text(encoding="utf-8")) if language == "python")
    names: dict[str, Any] = {}
    exec(code, names)
    return names


def _command(configuration: dict[str, object]) -> list[str] | None:
    """The command line of the one server in an agent's configuration, whatever its form."""
    node: object = configuration
    while isinstance(node, dict):
        if "command" in node:
            command, rest = node["command"], node.get("args", [])
            return [*(command if isinstance(command, list) else [command]), *rest]
        node = next(iter(node.values()))
    return None
