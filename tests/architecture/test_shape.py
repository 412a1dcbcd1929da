"""The shape of the code: what a reader may rely on in every module."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import agent_raw_rag

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "agent_raw_rag"
MODULES = sorted(PACKAGE.rglob("*.py"))

TABLES = {"sanitize/tokens.py", "sanitize/contexts.py"}
"""Modules that are one table each: as long as what they list."""

AGENTS = re.compile(r"claude|codex|opencode|antigravity|\bomp\b|oh[-_ ]my[-_ ]pi", re.IGNORECASE)
MAY_NAME_AGENTS = {
    "config/__init__.py": "an example in the description of a key",
    "sources/projects.py": "a folder in which worktrees of any agent may lie",
}


def test_the_import_contract_holds() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_modules_are_small() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > 400 and name not in TABLES} == {}
    assert statistics.median(lengths.values()) <= 200


def test_every_public_name_says_what_it_is() -> None:
    silent = [f"{_name(path)}: {what}" for path in MODULES for what in _undocumented(path)]
    assert silent == []


def test_agents_are_named_in_their_adapters_only() -> None:
    leaks = [
        f"{_name(path)}:{line}: {text[:60]!r}"
        for path in MODULES
        if path.parent.name != "adapters" and _name(path) not in MAY_NAME_AGENTS
        for line, text in _texts(path)
        if AGENTS.search(text)
    ]
    assert leaks == []


def test_every_exception_from_the_naming_rule_is_still_needed() -> None:
    named = {name for name in MAY_NAME_AGENTS if any(AGENTS.search(text) for _, text in _texts(PACKAGE / name))}
    assert named == MAY_NAME_AGENTS.keys()


def test_nothing_is_printed_outside_the_commands() -> None:
    prints = [
        f"{_name(path)}:{node.lineno}"
        for path in MODULES
        if path.parent.name != "cli"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        if not any(keyword.arg == "file" for keyword in node.keywords)
    ]
    assert prints == []


def test_tests_fake_nothing_and_wait_for_nothing() -> None:
    forbidden = re.compile(r"\bmock\b|MagicMock|\b(?:time|asyncio|anyio)\.sleep\b|^class Test", re.MULTILINE)
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != Path(__file__)
        for match in forbidden.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert agent_raw_rag.__version__ == version
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Text literals with their lines; docstrings and other texts that nobody reads at run time are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unread = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unread:
            yield node.lineno, node.value


def _undocumented(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not ast.get_docstring(tree):
        yield "module"
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from (f"{node.name}.{name}" for name in _silent(node.body))
        yield from _silent([node])


def _silent(nodes: list[ast.stmt]) -> Iterator[str]:
    for node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node) and not _overloads(node):
            yield node.name


def _overloads(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id in ("overload", "override") for one in node.decorator_list)
