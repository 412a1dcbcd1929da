"""Every bad argument gets a message that says what is wrong and what to do; never a traceback, never silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from agent_raw_rag.runtime import Runtime
from tests.samples import empty_runtime
from tests.server.calls import refusal, with_client

SEARCH = {"query": "retry"}


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {}, ["query", "missing"]),
        ("search", {"query": "  "}, ["query is empty"]),
        ("search", {**SEARCH, "project_path": "a\0b"}, ["is no path"]),
        ("recent", {"project_path": "/" + "x" * 100_000}, ["100001 characters"]),
        ("search", {"query": 404}, ["query", "404"]),
        ("search", {**SEARCH, "agent": "cursor"}, ["cursor", "Known agents", "antigravity"]),
        ("search", {**SEARCH, "after_date": "2026-13-45"}, ["2026-13-45", "2026-11-30"]),
        ("search", {**SEARCH, "before_date": "2026/10/05"}, ["2026/10/05"]),
        ("search", {**SEARCH, "after_date": "2026-10-02", "before_date": "2026-10-01"}, ["empty"]),
        ("search", {**SEARCH, "role": "human"}, ["human", "assistant"]),
        ("search", {**SEARCH, "session": "nope"}, ["nope"]),
        ("search", {**SEARCH, "top_k": 0}, ["top_k", "1", "100"]),
        ("search", {**SEARCH, "top_k": -1}, ["top_k"]),
        ("search", {**SEARCH, "top_k": 101}, ["top_k"]),
        ("search", {**SEARCH, "top_k": "many"}, ["top_k", "many", "integer"]),
        ("search", {**SEARCH, "top_k": 2.5}, ["top_k", "2.5"]),
        ("search", {**SEARCH, "max_tokens": 10}, ["max_tokens", "200"]),
        ("search", {**SEARCH, "projectpath": "/x"}, ["projectpath", "project_path"]),
        ("search", {**SEARCH, "zzz": 1}, ["zzz", "query"]),
        ("recent", {"limit_turns": 0}, ["limit_turns"]),
        ("recent", {"agent": "Claude Code"}, ["Claude Code", "claude"]),
        ("context", {"session": "claude:none", "turn": 1}, ["claude:none"]),
        ("context", {"session": "", "turn": 1}, ["session"]),
        ("context", {"session": "claude:7c1e", "turn": 10**30}, ["turn"]),
        ("context", {"session": "claude:7c1e", "turn": "x"}, ["turn", "'x'"]),
        ("context", {"session": "codex:019a", "turn": 9999}, ["9999"]),
        ("context", {"session": "codex:019a", "turn": 1, "before": -1}, ["before"]),
        ("context", {"session": "codex:019a", "turn": 1, "offset": -5}, ["offset"]),
        ("ingest", {"agent": "nobody"}, ["nobody", "Known agents"]),
        ("status", {"agent": "nobody"}, ["nobody", "Known agents"]),
    ],
)  # fmt: skip
def test_a_bad_argument_is_named(runtime: Runtime, tool: str, arguments: dict[str, Any], said: list[str]) -> None:
    message = refusal(runtime, tool, arguments)
    assert all(part in message for part in said), message
    assert "pydantic" not in message


@pytest.mark.parametrize("tool", ["search", "recent", "status"])
def test_before_the_first_ingest_it_says_what_to_do(tmp_path: Path, tool: str) -> None:
    message = refusal(empty_runtime(tmp_path), tool, {"query": "x"} if tool == "search" else {})
    assert "no store" in message and "raw-rag-ingest" in message


def test_an_unknown_tool_is_refused(runtime: Runtime) -> None:
    assert "raw_rag_dream" in refusal(runtime, "dream", {})


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip
NAMES = st.sampled_from(
    ["query", "project_path", "agent", "after_date", "before_date", "branch", "role", "session", "top_k", "max_tokens",
     "limit_turns", "turn", "before", "after", "offset", "other"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["search", "recent", "context", "status"]), st.dictionaries(NAMES, VALUES)),
        min_size=1, max_size=8,
    )
)  # fmt: skip
def test_whatever_the_arguments_a_call_is_answered_or_refused(
    runtime: Runtime, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    async def use(client: Client) -> list[str]:
        results = [await client.call_tool(f"raw_rag_{tool}", arguments) for tool, arguments in calls]
        return [result.content[0].text for result in results if result.is_error]  # type: ignore[union-attr]

    for message in with_client(runtime, use):
        assert not message.startswith("Error executing tool"), message


@pytest.mark.parametrize("name", ["agent", "session", "after_date", "role", "top_k", "x" * 100_000])
def test_a_refusal_does_not_repeat_a_long_argument_at_full_length(runtime: Runtime, name: str) -> None:
    assert len(refusal(runtime, "search", {**SEARCH, name: "x" * 100_000})) < 2000
