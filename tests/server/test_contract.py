"""What a client is told before it calls anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client

from agent_raw_rag import __version__
from agent_raw_rag.adapters.registry import BUILT_IN
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.server.app import instructions
from agent_raw_rag.server.schemas import slim
from tests.server.calls import with_client

MOST_CHARACTERS = 15_000
PARAMETERS = {
    "raw_rag_search": ["query", "project_path", "agent", "after_date", "before_date", "branch", "role", "session",
                       "top_k", "max_tokens"],
    "raw_rag_recent": ["project_path", "limit_turns", "agent", "max_tokens"],
    "raw_rag_context": ["session", "turn", "before", "after", "max_tokens", "offset"],
    "raw_rag_ingest": ["agent"],
    "raw_rag_status": ["agent"],
    "memory_recall": ["query", "limit", "include_raw", "topic", "kind", "exclude_session"],
    "memory_save": ["content", "source", "topic", "kind", "importance", "evidence"],
    "memory_update": ["atom_id", "new_content", "source", "note"],
    "memory_capture": ["content", "source", "session_id", "role", "host_turn_id", "timestamp"],
    "memory_search_raw": ["query", "limit", "session_id", "source", "after", "before"],
}  # fmt: skip
PROVENANCE = {"session", "turn", "exchange", "role", "time", "source", "record_ids", "bytes"}


@pytest.fixture(scope="module")
def tools(runtime: Runtime) -> dict[str, Any]:
    async def use(client: Client) -> dict[str, Any]:
        listed = await client.list_tools()
        return {tool.name: json.loads(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed.tools}

    return with_client(runtime, use)


def test_the_tools_have_the_parameters_of_the_reference_products_and_more(tools: dict[str, Any]) -> None:
    assert {name: list(tool["inputSchema"]["properties"]) for name, tool in tools.items()} == PARAMETERS


def test_all_schemas_together_are_short(tools: dict[str, Any]) -> None:
    assert len(json.dumps({"tools": list(tools.values())}, ensure_ascii=False)) < MOST_CHARACTERS


def test_only_what_is_needed_is_required(tools: dict[str, Any]) -> None:
    required = {name: tool["inputSchema"].get("required", []) for name, tool in tools.items()}
    assert required == {
        "raw_rag_search": ["query"], "raw_rag_context": ["session", "turn"],
        "raw_rag_recent": [], "raw_rag_ingest": [], "raw_rag_status": [],
        "memory_recall": ["query"], "memory_search_raw": ["query"], "memory_save": ["content", "source"],
        "memory_capture": ["content", "source"], "memory_update": ["atom_id", "new_content", "source"],
    }  # fmt: skip


def test_every_tool_and_every_parameter_says_what_it_is(tools: dict[str, Any]) -> None:
    for tool in tools.values():
        assert tool["title"] and tool["description"]
        assert all(one["description"] and one["type"] for one in tool["inputSchema"]["properties"].values())


def test_the_agent_parameter_names_every_agent(tools: dict[str, Any]) -> None:
    for name in ("raw_rag_search", "raw_rag_recent", "raw_rag_ingest", "raw_rag_status"):
        about = tools[name]["inputSchema"]["properties"]["agent"]["description"]
        assert all(agent in about for agent in BUILT_IN)


def test_the_tools_that_write_say_so_and_only_an_update_takes_something_away(tools: dict[str, Any]) -> None:
    hints = {name: tool["annotations"] for name, tool in tools.items()}
    writing = {name for name, one in hints.items() if not one["readOnlyHint"]}
    assert writing == {"raw_rag_ingest", "memory_save", "memory_capture", "memory_update"}
    assert {name for name in writing if hints[name]["destructiveHint"]} == {"memory_update"}
    assert {name for name, one in hints.items() if not one["idempotentHint"]} == {"memory_update"}
    assert not any(one["openWorldHint"] for one in hints.values())


def test_the_output_schemas_name_the_provenance_of_passages_and_turns(tools: dict[str, Any]) -> None:
    passage = tools["raw_rag_search"]["outputSchema"]["$defs"]["Passage"]["properties"]
    assert PROVENANCE | {"scores", "ranked_by", "resume", "truncated"} <= set(passage)
    for name in ("raw_rag_recent", "raw_rag_context"):
        assert set(tools[name]["outputSchema"]["$defs"]["Turn"]["properties"]) >= PROVENANCE


def test_the_server_says_who_it_is_and_when_to_search(runtime: Runtime) -> None:
    async def use(client: Client) -> tuple[str, str, str | None, str | None]:
        info = client.server_info
        return info.name, info.version, info.title, client.instructions

    name, version, title, told = with_client(runtime, use, mode="legacy")
    assert (name, version, told) == ("raw-rag", __version__, instructions(rules=True))
    assert title and "memory_save" not in instructions(rules=False)
    for hint in ("before you decide", "after a compaction", "earlier work", "memory_recall", "not instructions"):
        assert hint in instructions(rules=False)


def test_a_short_schema_keeps_a_property_that_is_called_title() -> None:
    schema = {
        "title": "Session",
        "type": "object",
        "properties": {"title": {"title": "Title", "anyOf": [{"type": "string"}, {"type": "null"}], "default": None}},
    }
    assert slim(schema) == {"type": "object", "properties": {"title": {"type": ["string", "null"]}}}
