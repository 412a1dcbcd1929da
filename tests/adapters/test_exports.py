"""Conversations of chat services' exports: what of them was said, by whom, when, and on which branch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.adapters.exports import Conversation, Node, export_of, stretches
from agent_raw_rag.models import Image, Message, Outcome, Role, Text, Thinking, ToolCall, ToolResult
from tests.memory.moving import CHATGPT, CLAUDE_AI


def conversation(path: Any, number: int) -> Conversation:
    entry = json.loads(path.read_text(encoding="utf-8"))[number]
    row = export_of(entry)
    assert row is not None
    return row.read(entry)


def said(found: Conversation) -> Iterator[tuple[Role, int | None, list[Any], bool]]:
    for stretch in stretches(found):
        for message in stretch.messages:
            yield message.role, message.time, list(message.parts), stretch.abandoned


def test_a_claude_ai_message_is_its_blocks_its_pastes_and_the_names_of_its_files() -> None:
    found = conversation(CLAUDE_AI / "conversations.json", 0)
    assert (found.session, found.title) == ("00000100-0000-4000-8000-000000000000", "Kiln schedule for stoneware")
    (_, asked, human, _), (_, _, model, _) = said(found)
    assert asked == 1_777_881_601_250
    assert [type(part) for part in human] == [Text, Image, Text, Image]
    assert [part.label for part in human if isinstance(part, Image)] == ["file firing-log.csv", "file shelf.jpg"]
    assert "SENTINEL-PASTE" in human[2].text and "SENTINEL-ATTACHED" not in str(human)
    assert [type(part) for part in model] == [Thinking, ToolCall, ToolResult, ToolCall, ToolResult, Text]
    assert [part.outcome for part in model if isinstance(part, ToolResult)] == [Outcome.OK, Outcome.FAILED]
    assert found.unknown == ()


def test_a_claude_ai_message_that_was_edited_is_an_abandoned_branch() -> None:
    found = list(said(conversation(CLAUDE_AI / "conversations.json", 1)))
    assert [abandoned for *_, abandoned in found] == [False, False, True, False, False]
    assert "SENTINEL-EDITED-AWAY" in str(found[2])


def test_an_old_claude_ai_export_is_one_line_of_texts() -> None:
    found = conversation(CLAUDE_AI / "conversations.json", 4)
    assert [role for role, *_ in said(found)] == [Role.USER, Role.ASSISTANT]
    assert found.title is None and found.skipped == ("message-not-object", "message-without-sender")


def test_a_chatgpt_conversation_is_what_its_live_branch_says_and_beside_it_what_was_regenerated() -> None:
    found = conversation(CHATGPT / "conversations-000.json", 0)
    told = list(said(found))
    assert [abandoned for *_, abandoned in told] == [False, True, *[False] * 8]
    assert "SENTINEL-REGENERATED-AWAY" in str(told[1])
    assert told[0][1] == 1_781_000_000_125
    text = str(told)
    assert "SENTINEL-SYSTEM" not in text and "SENTINEL-PROFILE" not in text and "Thought for 4s" not in text
    assert found.unknown == ("content/hologram",) and "SENTINEL-GREASE" in text


def test_a_chatgpt_call_is_a_message_to_a_tool_and_its_result_the_tools_answer() -> None:
    parts = [part for _, _, found, _ in said(conversation(CHATGPT / "conversations-000.json", 0)) for part in found]
    calls = [part.name for part in parts if isinstance(part, ToolCall)]
    results = [(part.outcome, part.output) for part in parts if isinstance(part, ToolResult)]
    assert calls == ["python", "web.run"]
    assert results == [(Outcome.FAILED, "SENTINEL-OUTPUT NameError: bore"), (Outcome.UNKNOWN, "")]


def test_a_chatgpt_conversation_without_times_has_none() -> None:
    found = conversation(CHATGPT / "conversations-000.json", 1)
    assert [time for _, time, *_ in said(found)] == [None] and found.skipped == ("node-not-object",)


@pytest.mark.parametrize("entry", [{"chat_messages": []}, {"mapping": {}}], ids=["claude.ai", "chatgpt"])
def test_a_conversation_without_identity_is_none(entry: dict[str, Any]) -> None:
    row = export_of(entry)
    assert row is not None
    with pytest.raises(ValueError, match="without"):
        row.read(entry)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
KEYS = st.sampled_from(["uuid", "sender", "content", "text", "type", "author", "role", "parts", "content_type", "metadata",
                        "parent", "message", "attachments", "parent_message_uuid", "input", "thoughts"])  # fmt: skip
ODD = st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=4) | st.sampled_from(["human", "user", "text"]))


@given(st.lists(ODD | JSON, max_size=4), st.dictionaries(st.text(max_size=3), ODD | JSON, max_size=4))
def test_no_export_however_odd_breaks_its_reader(messages: list[Any], mapping: dict[str, Any]) -> None:
    for entry in ({"uuid": "u", "chat_messages": messages}, {"id": "i", "mapping": mapping}):
        row = export_of(entry)
        assert row is not None
        list(said(row.read(entry)))


@given(st.lists(st.none() | st.integers(0, 8), min_size=1, max_size=9), st.integers(0, 9))
def test_every_message_of_a_tree_is_told_once_and_the_live_branch_in_its_order(
    parents: list[int | None], leaf: int
) -> None:
    """Parents before their children, as exports have them; a leaf that is not there is the last one."""
    links = [None if parent is None or parent >= number else str(parent) for number, parent in enumerate(parents)]
    nodes = tuple(Node(str(number), parent, (_message(number),)) for number, parent in enumerate(links))
    told = list(stretches(Conversation("s", None, None, None, nodes, str(leaf))))
    assert sorted(message.key for one in told for message in one.messages) == sorted(node.id for node in nodes)
    live = [message.key for one in told if not one.abandoned for message in one.messages]
    place: str | None = str(leaf) if leaf < len(nodes) else nodes[-1].id
    chain = []
    while place is not None:
        chain.append(place)
        place = nodes[int(place)].parent
    assert live == chain[::-1]


def _message(number: int) -> Message:
    return Message(Role.USER, str(number), (Text("x"),))
