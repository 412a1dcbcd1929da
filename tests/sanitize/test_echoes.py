"""Calls of our own memory are not stored: an old memory must not come back as a new one."""

from __future__ import annotations

import pytest

from agent_raw_rag.models import Action, Outcome, ToolCall, ToolResult
from agent_raw_rag.sanitize import Options
from agent_raw_rag.sanitize.actions import action_lines
from agent_raw_rag.sanitize.scrub import scrub

DEFAULT = Options()
OWN = [
    "mcp__raw-rag__raw_rag_search",
    "mcp__raw_rag__search",
    "raw_rag_search",
    "raw-rag-mcp_raw_rag_recent",
    "mcp__agent-raw-rag-mcp__context",
    "RawRAG.search",
    "mcp__memory__recall",
    "mcp__memory_recall",
    "memory_recall",
    "memory.recall",
    "mcp__memory__recall_memory",
    "recall_memory",
]
FOREIGN = ["mcp__github__search", "memory", "memorize", "mcp__inmemory__get", "drag_rag_doll", "read", "recall"]
OWN_CODE = [
    "const r = await memory.recall({query: 'cache'})",
    "text(await tools.mcp__memory__recall({query: 'cache'}))",
    "print(json.stringify(memory.search('a (b) c')))",
]
OTHER_CODE = [
    "const r = await memory.recall({query: 'x'}); await tools.bash({command: r})",
    "await tools.bash({command: 'ls'})",
    "const memory = 3",
    "os.remove(memory.path())",
]


def kept(name: str, args: dict[str, object] | str = "{}", options: Options = DEFAULT) -> list[str]:
    return action_lines(Action(ToolCall(name, args), ToolResult(None, Outcome.FAILED, "an old memory")), scrub, options)


@pytest.mark.parametrize("name", OWN)
def test_drops_a_call_of_ours_with_its_output(name: str) -> None:
    assert kept(name) == []


@pytest.mark.parametrize("name", FOREIGN)
def test_keeps_a_call_of_others(name: str) -> None:
    assert kept(name)[0].startswith(f"[{name}]")


@pytest.mark.parametrize("tool", ["execute", "codemode", "exec"])
@pytest.mark.parametrize("code", OWN_CODE)
def test_drops_code_that_only_asks_us(tool: str, code: str) -> None:
    assert kept(tool, {"code": code}) == []
    assert kept(tool, code) == []


@pytest.mark.parametrize("code", OTHER_CODE)
def test_keeps_code_that_does_more(code: str) -> None:
    assert kept("execute", {"code": code}) != []


def test_our_names_are_an_option() -> None:
    options = Options(own_names=("team-archive",), own_servers=("notes",))
    assert kept("mcp__team_archive__find", options=options) == []
    assert kept("notes_find", options=options) == []
    assert kept("memory_recall", options=options) != []
