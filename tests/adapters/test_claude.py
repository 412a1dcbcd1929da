"""Claude Code logs of every generation: what is human, what is whose, and that any split of a log reads the same."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.adapters.base import Root
from agent_raw_rag.adapters.claude import ADAPTER
from agent_raw_rag.ingest.reading import Batch, Cursor, read_batches, start_cursor
from agent_raw_rag.models import (
    BadRecord,
    Image,
    Message,
    Outcome,
    Record,
    Role,
    SessionInfo,
    Source,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Trail,
    Turn,
    Unknown,
)
from agent_raw_rag.sources.lines import read_lines
from tests.support import line_batches, plain, sources_in, turns_of

LOGS = Path(__file__).parents[1] / "logs" / "claude"
EXPECT: dict[str, list[str]] = json.loads((LOGS / "expect.json").read_text(encoding="utf-8"))
ROOT = Root("/data/projects", ("**/*.jsonl",))
SESSION = "11111111-1111-4111-8111-111111111111"
NOW = "2026-11-20T09:00:00.000Z"


# ---------------------------------------------------------------- small logs, written here


def source(path: str = f"-home-dev-orchid/{SESSION}.jsonl") -> Source:
    found = ADAPTER.classify(ROOT, path)
    assert found is not None
    return found


def records(*rows: dict[str, Any]) -> list[Record | BadRecord]:
    return [Record(row, number * 100, number * 100 + 100) for number, row in enumerate(rows)]


def read(*rows: dict[str, Any], of: Source | None = None) -> Batch:
    of = of or source()
    (batch,) = read_batches(ADAPTER, records(*rows), start_cursor(ADAPTER, of))
    return batch


def said(turns: list[Turn], role: Role = Role.USER) -> list[str]:
    return [item.text for turn in turns if turn.role is role for item in turn.items if isinstance(item, Text)]


U1 = "00000000-0000-4000-8000-0000000000a1"


def user(content: object, uuid: str | None = U1, parent: str | None = None, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "message": message, "uuid": uuid, "parentUuid": parent, "timestamp": NOW, **more}


def answer(
    *blocks: dict[str, Any], uuid: str = "a1", parent: str | None = None, message_id: str = "m1", **more: Any
) -> Any:
    message = {"id": message_id, "role": "assistant", "model": "claude-opus", "content": list(blocks)}
    return {"type": "assistant", "message": message, "uuid": uuid, "parentUuid": parent, "timestamp": NOW, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Bash", **args: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": args}


def result(
    call_id: str, content: object, echo: object = None, *, error: bool | None = None, **more: Any
) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    block |= {} if error is None else {"is_error": error}
    fields: dict[str, Any] = more if echo is None else {"toolUseResult": echo, **more}
    return user([block], uuid=f"r-{call_id}", **fields)


def queue(operation: str, content: str | None = None, **more: Any) -> dict[str, Any]:
    row = {"type": "queue-operation", "operation": operation, "timestamp": NOW, **more}
    return row if content is None else {**row, "content": content}


def steer(prompt: object, uuid: str = "q1", **more: Any) -> dict[str, Any]:
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt", **more}
    return {"type": "attachment", "attachment": attachment, "uuid": uuid, "timestamp": NOW}


# ---------------------------------------------------------------- where


def test_roots_are_both_usual_places() -> None:
    assert [root.path for root in ADAPTER.roots({}, "/home/dev")] == [
        "/home/dev/.claude/projects",
        "/home/dev/.config/claude/projects",
    ]


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("/data/claude", ["/data/claude/projects"]),
        ("/data/one/, ~/two ,", ["/data/one/projects", "/home/dev/two/projects"]),
        (" ", ["/home/dev/.claude/projects", "/home/dev/.config/claude/projects"]),
    ],
)
def test_config_dir_moves_the_roots(value: str, paths: list[str]) -> None:
    assert [root.path for root in ADAPTER.roots({"CLAUDE_CONFIG_DIR": value}, "/home/dev")] == paths


@pytest.mark.parametrize(
    ("path", "session", "parent"),
    [
        (f"-home-x/{SESSION}.jsonl", SESSION, None),
        (f"-home-x/2026-01-26-{SESSION}.jsonl", f"2026-01-26-{SESSION}", None),
        ("-home-x/session_b.jsonl", "session_b", None),
        (f"-home-x/subagent/{SESSION}.jsonl", SESSION, None),
        (f"memory/{SESSION}.jsonl", SESSION, None),
        (f"-home-x/{SESSION}/subagents/agent-a1.jsonl", f"{SESSION}/agent-a1", SESSION),
        (f"-home-x/{SESSION}/subagents/workflows/wf_1/agent-a1.jsonl", f"{SESSION}/agent-a1", SESSION),
        ("-home-x/agent-0c7ab1d2.jsonl", None, None),
    ],
)
def test_a_path_tells_session_and_parent(path: str, session: str | None, parent: str | None) -> None:
    found = source(path)
    assert (found.session, found.parent, found.path) == (session, parent, f"/data/projects/{path}")


@pytest.mark.parametrize(
    "path",
    [
        f"-home-x/{SESSION}/resume-head.jsonl",
        f"-home-x/{SESSION}/before-cleanup/1.jsonl",
        f"-home-x/{SESSION}/before-cleanup/1.jsonl.replaced",
        f"-home-x/{SESSION}/subagents/workflows/wf_1/journal.jsonl",
        f"-home-x/{SESSION}/subagents/agent-a1.meta.json",
        f"-home-x/{SESSION}/tool-results/b1.jsonl",
        "-home-x/memory/notes.jsonl",
        "-home-x/sessions-index.json",
    ],
)
def test_copies_and_side_files_are_no_sessions(path: str) -> None:
    assert ADAPTER.classify(ROOT, path) is None


def test_sessions_are_read_before_sub_agents() -> None:
    found = [
        source(path) for path in ("-a/agent-1.jsonl", f"-a/{SESSION}/subagents/agent-2.jsonl", f"-b/{SESSION}.jsonl")
    ]
    assert min(found, key=lambda one: (one.order, one.path)).session == SESSION


def test_a_session_is_reopened_by_its_id() -> None:
    assert ADAPTER.resume is not None
    assert ADAPTER.resume(SESSION, None) == ("claude", "--resume", SESSION)


# ---------------------------------------------------------------- what is human

HUMAN: list[tuple[object, dict[str, Any], list[str]]] = [
    ("fix it", {}, ["fix it"]),
    ([text("fix it"), text("and that")], {}, ["fix it", "and that"]),
    (["fix it"], {}, ["fix it"]),
    (" fix it ", {"origin": {"kind": "human"}, "promptSource": "typed"}, [" fix it "]),
    ("fix it", {"rowSource": "local", "origin": None, "isMeta": False}, ["fix it"]),
    ("fix <system-reminder>\nbe brief\n</system-reminder>\n", {}, ["fix"]),
    ("<system-reminder>be brief</system-reminder>\nfix it", {}, ["fix it"]),
    ([text("<system-reminder>x</system-reminder>"), text("fix it")], {}, ["fix it"]),
    ([text("<ide_opened_file>The user opened a.py</ide_opened_file>"), text("fix it")], {}, ["fix it"]),
    ("<ide_selection>a\nb</ide_selection>\n\nfix it", {}, ["fix it"]),
    ("what does <ide_selection>x</ide_selection> mean?", {}, ["what does <ide_selection>x</ide_selection> mean?"]),
    ("explain the unclosed <system-reminder> tag", {}, ["explain the unclosed <system-reminder> tag"]),
    (
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>42 auth</command-args>",
        {},
        ["/review 42 auth"],
    ),
    ("<command-name>/ask</command-name><command-args>why\n<b>?</command-args>", {}, ["/ask why\n<b>?"]),
    ("/etc/hosts", {}, ["/etc/hosts"]),
]

HARNESS: list[tuple[object, dict[str, Any]]] = [
    ("fix it", {"isMeta": True}),
    ("fix it", {"isVisibleInTranscriptOnly": True}),
    ("fix it", {"origin": {"kind": "task-notification"}}),
    ("fix it", {"origin": {"kind": "peer", "from": "x"}}),
    ("fix it", {"rowSource": "harness"}),
    ("fix it", {"rowSource": "recorded"}),
    ("fix it", {"toolUseResult": "Error: x"}),
    ("fix it", {"sourceToolUseID": "t1"}),
    (
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
        {},
    ),
    ("<command-message>init is analyzing your codebase…</command-message>\n<command-name>/init</command-name>", {}),
    ("<local-command-stdout>See ya!</local-command-stdout>", {}),
    ("<local-command-stderr>no</local-command-stderr>", {}),
    ("<local-command-caveat>Caveat: x</local-command-caveat>", {}),
    ("Caveat: The messages below were generated by the user", {}),
    ("<bash-input>git status</bash-input>", {}),
    ("<bash-stdout></bash-stdout><bash-stderr>failed</bash-stderr>", {}),
    ("<system-reminder>be brief</system-reminder>", {}),
    ("<system-reminder>cut off", {}),
    ("\n<task-notification>\n<task-id>b1</task-id>", {}),
    ("<ide_opened_file>The user opened a.py</ide_opened_file>", {}),
    ("<user-memory-input>always use tabs</user-memory-input>", {}),
    ('<teammate-message teammate_id="lead">done</teammate-message>', {}),
    ([text("[Request interrupted by user for tool use]")], {}),
    ("Continue from where you left off.", {}),
    ([text("<system-reminder>x</system-reminder>"), {"type": "image", "source": {}}], {}),
    ("", {}),
    ("  \n", {}),
    (None, {}),
    (7, {}),
    ([None, 7, {"type": "text", "text": 7}], {}),
]


@pytest.mark.parametrize(("content", "more", "words"), HUMAN)
def test_a_row_that_nothing_marks_as_harness_text_is_the_humans(
    content: object, more: dict[str, Any], words: list[str]
) -> None:
    batch = read(user(content, **more))
    assert said(batch.turns) == words
    assert [turn.key for turn in batch.turns] == [U1]


@pytest.mark.parametrize(("content", "more"), HARNESS)
def test_harness_text_under_the_users_name_is_not_indexed(content: object, more: dict[str, Any]) -> None:
    batch = read(user(content, **more))
    assert batch.turns == []
    assert not batch.tally


def test_a_pasted_image_alone_is_a_prompt() -> None:
    (turn,) = read(user([{"type": "image", "source": {"data": "aaaa"}}])).turns
    assert (turn.role, turn.items) == (Role.USER, [Image("image")])


def test_a_compaction_is_a_summary() -> None:
    flagged = read(user("Primary request: x", isCompactSummary=True, isVisibleInTranscriptOnly=True)).turns
    plain_old = read(user([text("This session is being continued from a previous conversation. x")])).turns
    assert [turn.role for turn in [*flagged, *plain_old]] == [Role.SUMMARY, Role.SUMMARY]


def test_api_errors_and_synthetic_answers_are_not_indexed() -> None:
    error = answer(text("API Error"), isApiErrorMessage=True)
    filler = answer(text("No response requested."))
    filler["message"]["model"] = "<synthetic>"
    assert read(error, filler, answer(text("(no content)")), answer(text("\n\n"))).turns == []


def test_what_a_human_typed_when_refusing_a_tool_call_is_the_humans() -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
    )
    note = "\n\nNote: The user's next message may contain a correction or preference."
    turns = read(answer(call("t1")), result("t1", f"{refusal}the user said:\nuse the typed id{note}", error=True)).turns
    assert said(turns) == ["use the typed id"]
    assert plain(turns[0])["items"][0]["outcome"] == "rejected"


@pytest.mark.parametrize(
    "content",
    [
        "The user doesn't want to proceed with this tool use. STOP what you are doing.",
        "The user doesn't want to proceed with this tool use. the user said:\nThe user wants to clarify these questions.",
        "Exit code 1\nthe user said:\nhello",
    ],
)
def test_a_refusal_without_words_says_nothing(content: str) -> None:
    assert said(read(answer(call("t1")), result("t1", content, error=True)).turns) == []


# ---------------------------------------------------------------- prompts typed while the model works


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([queue("enqueue", "also b"), queue("remove")], ["also b"]),
        ([queue("enqueue", "also b"), queue("dequeue"), user("also b")], ["also b"]),
        ([queue("enqueue", "also b"), queue("popAll", "also b")], []),
        ([queue("enqueue", "also b"), queue("popAll"), queue("remove")], []),
        ([queue("enqueue", "also b")], []),
        ([queue("remove", "also b", reason="absorbed_mid_turn")], ["also b"]),
        ([queue("remove", "also b", reason="deleted_by_user")], []),
        ([queue("enqueue", "one"), queue("enqueue", "two"), queue("remove"), queue("remove")], ["one", "two"]),
        ([queue("enqueue", "/ide"), queue("remove")], []),
        ([queue("enqueue", '{"task_id":"b1"}'), queue("enqueue", "b"), queue("remove"), queue("remove")], ["b"]),
        ([queue("enqueue", "<task-notification>x</task-notification>"), queue("remove")], []),
        ([steer("also b")], ["also b"]),
        ([steer([text("also b")], origin={"kind": "human"}, humanTurn=True)], ["also b"]),
        ([steer("also b", origin={"kind": "task-notification"})], []),
        ([steer("also b", commandMode="task-notification")], []),
        ([steer("also b", humanTurn=False)], []),
        ([steer("also b", isMeta=True)], []),
        ([queue("enqueue", "also b"), steer("also b"), queue("remove")], ["also b"]),
        ([queue("enqueue", "also b"), steer("also b"), queue("remove", "also b")], ["also b"]),
        ([steer("first"), queue("enqueue", "also b"), queue("remove", "also b"), steer("also b")], ["first", "also b"]),
        ([queue("enqueue", "also b"), queue("remove"), user("also b")], ["also b"]),
        ([queue("enqueue", "also b"), user("also b"), queue("remove")], ["also b"]),
        ([queue("enqueue", "go"), queue("remove"), answer(text("ok")), user("go")], ["go", "go"]),
        ([steer("go"), answer(text("ok")), steer("go", uuid="q2")], ["go", "go"]),
    ],
)
def test_a_prompt_from_the_queue_is_told_once_if_it_was_delivered(rows: list[dict[str, Any]], words: list[str]) -> None:
    assert said(read(answer(text("hm"), uuid="a0", message_id="m0"), *rows).turns) == words


def test_both_signs_of_a_delivered_prompt_give_the_same_key() -> None:
    before = answer(text("hm"), uuid="a0", message_id="m0")
    by_row = read(before, queue("enqueue", "also b"), queue("remove")).turns[-1]
    by_attachment = read(before, steer("also b")).turns[-1]
    in_a_fork = read(before, steer("also b"), of=source("-home-x/fork.jsonl")).turns[-1]
    elsewhere = read(answer(text("x"), uuid="other"), steer("also b")).turns[-1]
    assert by_row.key == by_attachment.key == in_a_fork.key != elsewhere.key


# ---------------------------------------------------------------- tool calls

SHELL = {"stdout": "ok", "stderr": "", "interrupted": False, "isImage": False}
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


@pytest.mark.parametrize(
    ("row", "outcome", "exit_code", "output"),
    [
        (result("t1", "ok", SHELL, error=False), Outcome.OK, 0, ""),
        (result("t1", "ok", SHELL), Outcome.OK, 0, ""),
        (result("t1", "", {**SHELL, "returnCodeInterpretation": "No matches found"}), Outcome.OK, None, ""),
        (result("t1", "running", {**SHELL, "backgroundTaskId": "b1"}), Outcome.OK, None, ""),
        (result("t1", "ok", {**SHELL, "interrupted": True}), Outcome.INTERRUPTED, None, ""),
        (result("t1", "ok", {"filePath": "a.py"}), Outcome.OK, None, ""),
        (result("t1", '{"hits":[]}', '{"hits":[]}'), Outcome.OK, None, ""),
        (result("t1", [text("ok")]), Outcome.OK, None, ""),
        (
            result("t1", "Exit code 3\nbad\nworse", "Error: Exit code 3\nbad", error=True),
            Outcome.FAILED,
            3,
            "bad\nworse",
        ),
        (result("t1", "Exit code 127", error=True), Outcome.FAILED, 127, ""),
        (result("t1", "Exit code 2\nbad"), Outcome.FAILED, 2, "bad"),
        (result("t1", "Exit code 2\nis what a.txt says", SHELL), Outcome.OK, 0, ""),
        (result("t1", [text("bad"), text("worse")], error=True), Outcome.FAILED, None, "bad\nworse"),
        (result("t1", "<tool_use_error>no file</tool_use_error>", error=True), Outcome.FAILED, None, "no file"),
        (result("t1", "", "Error: bad", error=True), Outcome.FAILED, None, "bad"),
        (result("t1", "bad\n<system-reminder>x</system-reminder>", error=True), Outcome.FAILED, None, "bad"),
        (
            result(
                "t1",
                "<persisted-output>\nOutput too large (9KB). Full output saved to: /x\n\n"
                "Preview (first 2KB):\nExit code 1\nbad\n</persisted-output>",
                error=True,
            ),
            Outcome.FAILED,
            1,
            "bad",
        ),
        (result("t1", REFUSED, "User rejected tool use", error=True), Outcome.REJECTED, None, ""),
        (result("t1", "no", error=True, toolDenialKind="user-rejected"), Outcome.REJECTED, None, ""),
        (result("t1", "[Request interrupted by user for tool use]\nx", error=True), Outcome.INTERRUPTED, None, ""),
        (
            result("t1", "Exit code 137\nx\n[Request interrupted by user for tool use]", error=True),
            Outcome.INTERRUPTED,
            None,
            "",
        ),
        (result("t1", None, error=True), Outcome.FAILED, None, ""),
        (result("t1", 7), Outcome.OK, None, ""),
    ],
)
def test_how_a_call_ended(row: dict[str, Any], outcome: Outcome, exit_code: int | None, output: str) -> None:
    (turn,) = read(answer(call("t1", command="x")), row).turns
    (action,) = plain(turn)["items"]
    assert (action["outcome"], action["exit"], action["output"]) == (outcome.value, exit_code, output)


def test_a_call_without_an_object_of_arguments_is_still_a_call() -> None:
    (turn,) = read(answer({"type": "tool_use", "name": None, "input": [1]})).turns
    assert plain(turn)["items"][0] | {"outcome": None} == {
        "tool": "tool",
        "args": "[1]",
        "outcome": None,
        "exit": None,
        "output": None,
    }


def test_calls_that_the_provider_runs_are_calls() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]}
    failed = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": {"type": "x_error", "error_code": "busy"},
    }
    assert plain(read(answer(search, found)).turns[0])["items"][0]["outcome"] == "ok"
    assert plain(read(answer(search, failed)).turns[0])["items"][0]["output"] == "busy"


def test_several_blocks_in_one_row_are_one_message_keyed_by_the_first() -> None:
    events = parse(answer({"type": "thinking", "thinking": "hm"}, text("so"), call("t1")))
    (message,) = [event for event in events if isinstance(event, Message)]
    assert message.parts == (Thinking("hm"), Text("so"), ToolCall("Bash", {}, "t1"))
    assert message.key.startswith("m1:thinking:")
    assert (message.group, message.record_id) == ("m1", "a1")


def test_fragments_of_one_model_message_are_one_turn() -> None:
    rows = [
        answer(text("so"), uuid="a1"),
        answer(text("and so"), uuid="a2", parent="a1"),
        answer(call("t1"), uuid="a3"),
    ]
    (turn,) = read(*rows).turns
    assert [type(item).__name__ for item in turn.items] == ["Text", "Text", "Action"]


def parse(*rows: dict[str, Any]) -> list[Any]:
    state = ADAPTER.start(source())
    return [event for record in records(*rows) if isinstance(record, Record) for event in ADAPTER.parse(record, state)]


def test_a_resume_that_writes_new_uuids_keeps_the_keys_of_answers() -> None:
    first = read(answer(text("adding"), uuid="a1"), answer(call("t1"), uuid="a2", message_id="m2")).turns
    again = read(answer(text("adding"), uuid="b1"), answer(call("t1"), uuid="b2", message_id="m2")).turns
    assert [turn.key for turn in first] == [turn.key for turn in again]


def test_a_record_without_uuid_has_a_key_of_its_content() -> None:
    one = user("a", uuid=None, promptId="p1")
    keys = {read(row).turns[0].key for row in (one, {**one, "promptId": "p2"}, user("b", uuid=None, promptId="p1"))}
    assert len(keys) == 3
    assert read(one).turns[0].key in keys


# ---------------------------------------------------------------- the tree


def branches(*rows: dict[str, Any]) -> list[str | None]:
    return [turn.branch_from for turn in read(*rows).turns if turn.role is Role.USER]


def test_a_prompt_that_goes_back_names_where_to() -> None:
    rows = [
        user("a", "u1"),
        answer(text("b"), uuid="a1", parent="u1"),
        user("c", "u2", "a1"),
        answer(text("d"), uuid="a2", parent="u2", message_id="m2"),
        user("C", "u3", "a1"),
    ]
    assert branches(*rows) == [None, None, "a1"]


def test_parallel_calls_are_no_rewind() -> None:
    rows = [
        user("a", "u1"),
        answer(call("t1"), uuid="a1", parent="u1"),
        answer(call("t2"), uuid="a2", parent="a1"),
        result("t1", "x", parentUuid="a1"),
        result("t2", "x", parentUuid="a2"),
        answer(text("b"), uuid="a3", parent="r-t2", message_id="m3"),
        user("c", "u2", "a3"),
    ]
    assert branches(*rows) == [None, None]


@pytest.mark.parametrize("parent", ["a1", "s1", "p1", None])
def test_rows_between_answer_and_prompt_are_no_rewind(parent: str | None) -> None:
    rows = [
        user("a", "u1"),
        answer(text("b"), uuid="a1", parent="u1"),
        {"type": "system", "subtype": "turn_duration", "uuid": "s1", "parentUuid": "a1"},
        {"type": "progress", "uuid": "p1", "parentUuid": "s1"},
        user("c", "u2", parent),
    ]
    expected = None if parent != "s1" else "s1"
    assert branches(*rows) == [None, expected]


def test_going_on_after_a_compaction_is_no_rewind() -> None:
    rows = [
        user("a", "u1"),
        answer(text("b"), uuid="a1", parent="u1"),
        {"type": "system", "subtype": "compact_boundary", "uuid": "s1", "parentUuid": None, "logicalParentUuid": "a1"},
        user("sum", "u2", "s1", isCompactSummary=True),
        user("c", "u3", "a1"),
    ]
    assert branches(*rows) == [None, None]


def test_the_place_a_rewind_names_can_be_found_on_a_trail() -> None:
    rows = [
        user("a", "u1"),
        answer(text("b"), uuid="a1", parent="u1"),
        {"type": "progress", "uuid": "p1", "parentUuid": "a1"},
        {"type": "progress", "uuid": "p2", "parentUuid": "p1"},
        user("c", "u2", "p2"),
        answer(text("d"), uuid="a2", parent="u2", message_id="m2"),
        user("C", "u3", "p2"),
    ]
    turns = read(*rows).turns
    assert turns[-1].branch_from == "p2"
    assert turns[1].trail == ["a1", "p2"]  # of the many progress rows only the one that is a parent


def test_a_row_that_says_nothing_leaves_its_id_on_the_trail() -> None:
    assert parse(user("<bash-input>ls</bash-input>", "n1"))[-1] == Trail("n1")


# ---------------------------------------------------------------- sub-agents


def inline(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "isSidechain": True}


def test_inline_sub_agents_are_sessions_of_their_own_even_side_by_side() -> None:
    rows = [
        user("go", "u1"),
        inline(user("task one", "x1", None)),
        inline(user("task two", "y1", None)),
        inline(answer(call("t1"), uuid="x2", parent="x1", message_id="mx")),
        inline(answer(call("t2"), uuid="x3", parent="x2", message_id="mx")),
        inline(answer(text("two done"), uuid="y2", parent="y1", message_id="my")),
        inline({**result("t1", "x"), "parentUuid": "x2"}),
        inline({**result("t2", "x"), "parentUuid": "x3"}),
        inline(answer(text("one done"), uuid="x4", parent="r-t1", message_id="mz")),
        user("next", "u2", "u1"),
    ]
    batch = read(*rows)
    by_session = defaultdict(list)
    for turn in batch.turns:
        by_session[turn.session.removeprefix(SESSION)].append(turn.role)
    assert by_session == {
        "": [Role.USER, Role.USER],
        "/sidechain-x1": [Role.TASK, Role.ASSISTANT, Role.ASSISTANT],
        "/sidechain-y1": [Role.TASK, Role.ASSISTANT],
    }
    about = batch.infos[f"{SESSION}/sidechain-x1"]
    assert (about.parent, about.parent_kind) == (SESSION, "subagent")
    assert batch.turns[-1].branch_from is None


def test_a_sub_agent_beside_its_session_belongs_to_the_session_its_rows_name() -> None:
    beside = source("-home-x/agent-0c7.jsonl")
    batch = read(user("do x", sessionId=SESSION), answer(text("done")), user("more", "u2"), of=beside)
    assert {turn.session for turn in batch.turns} == {f"{SESSION}/agent-0c7"}
    assert [turn.role for turn in batch.turns] == [Role.TASK, Role.ASSISTANT, Role.TASK]
    assert (about := batch.infos[f"{SESSION}/agent-0c7"]).parent == SESSION
    assert about.parent_kind == "subagent"


def test_a_sub_agent_is_linked_to_its_parent_even_by_a_row_that_tells_nothing_else() -> None:
    bare = {"type": "user", "message": {"content": "do x"}, "uuid": "u1"}
    about = read(bare, of=source(f"-home-x/{SESSION}/subagents/agent-1.jsonl")).infos[f"{SESSION}/agent-1"]
    assert (about.parent, about.parent_kind) == (SESSION, "subagent")


def test_a_sub_agent_whose_rows_name_no_session_stands_alone() -> None:
    batch = read(user("do x"), of=source("-home-x/agent-0c7.jsonl"))
    assert [(turn.session, turn.role) for turn in batch.turns] == [("agent-0c7", Role.TASK)]


@pytest.mark.parametrize("prompt", ["Warmup", [text("Warmup")]])
def test_warm_up_agents_leave_nothing(prompt: object) -> None:
    beside = read(user(prompt, sessionId=SESSION), answer(text("ready")), of=source("-home-x/agent-1.jsonl"))
    within = read(inline(user(prompt)), inline(answer(text("ready"), parent=U1)))
    assert (beside.turns, beside.infos) == ([], {})
    assert (within.turns, set(within.infos)) == ([], {SESSION})


# ---------------------------------------------------------------- facts


def test_facts_about_a_session_come_from_its_rows() -> None:
    rows = [
        {"type": "mode", "mode": "normal"},
        user("a", cwd="/a", gitBranch="", version="2.1.1"),
        user("b", "u2", "u1", cwd="/b", gitBranch="main", version="2.1.2"),
        {"type": "custom-title", "customTitle": "mine"},
        {"type": "ai-title", "aiTitle": "made up"},
    ]
    assert read(*rows).infos == {
        SESSION: SessionInfo(SESSION, cwd="/a", branch="main", title="mine", version="2.1.2", started=1795165200000)
    }


def test_facts_are_told_only_when_they_are_new() -> None:
    row = user("a", cwd="/a", gitBranch="main", version="2.1.1")
    infos = [event for event in parse(row, {**row, "uuid": "u2"}) if isinstance(event, SessionInfo)]
    assert len(infos) == 1


def test_a_summary_row_names_this_session_only_if_it_points_into_it() -> None:
    summary = {"type": "summary", "summary": "about it", "leafUuid": U1}
    assert read({**summary, "leafUuid": "elsewhere"}, user("a"), summary).infos[SESSION].title == "about it"
    assert read(summary, user("a")).infos[SESSION].title is None


def test_a_branched_session_names_its_origin() -> None:
    copied = user("a", forkedFrom={"sessionId": "origin", "messageUuid": "u1"})
    about = read(copied, user("b", "u2", "u1")).infos[SESSION]
    assert (about.parent, about.parent_kind) == ("origin", "fork")


def test_what_was_never_seen_is_counted_and_what_is_known_is_not() -> None:
    rows = [
        {"type": "quantum-state"},
        {"type": None},
        {},
        {"type": {"a": 1}},
        answer({"type": "hologram"}),
        {"type": "marble-origami-x"},
        {"type": "api-request-blob", "message": {"role": "user", "content": "x"}},
        {"type": "attachment", "attachment": {"type": "brand-new"}},
        {"type": "system", "subtype": "brand-new"},
    ]
    kinds = [event.kind for event in parse(*rows) if isinstance(event, Unknown)]
    assert kinds == ["quantum-state", "none", "none", "none", "block:hologram"]


# ---------------------------------------------------------------- whole trees of every version


@cache
def everything() -> tuple[tuple[Turn, ...], dict[str, SessionInfo], dict[str, int]]:
    turns: list[Turn] = []
    infos: dict[str, SessionInfo] = {}
    tally: dict[str, int] = {}
    for folder in sorted(LOGS.glob("*/projects")):
        for found in sources_in(ADAPTER, Root(str(folder), ("**/*.jsonl",))):
            batches = list(line_batches(ADAPTER, found))
            turns += turns_of(batches)
            infos |= {session: info for batch in batches for session, info in batch.infos.items()}
            tally |= batches[-1].tally
    return tuple(turns), infos, tally


def holders(token: str) -> list[Turn]:
    """The turns that say a token, copies of one turn counted once."""
    found = {turn.key: turn for turn in everything()[0] if any(has(token, item) for item in plain(turn)["items"])}
    return list(found.values())


def has(token: str, value: object) -> bool:
    """Whether a text has the token as a whole word: KEEP_USER_1 does not stand in KEEP_USER_12."""
    words = json.dumps(value, ensure_ascii=False).replace("_", "a")
    token = token.replace("_", "a")
    return any(not rest[:1].isalnum() for rest in words.split(token)[1:])


def spoken(token: str) -> list[Turn]:
    """The turns that say a token in words, not in a tool call."""
    return [turn for turn in holders(token) if any(isinstance(i, Text) and has(token, i.text) for i in turn.items)]


@pytest.mark.parametrize("token", EXPECT["user"])
def test_a_humans_words_are_found_once_as_the_humans(token: str) -> None:
    assert [turn.role for turn in holders(token)] == [Role.USER]


@pytest.mark.parametrize("token", EXPECT["assistant"])
def test_the_models_words_are_found_once_as_the_models(token: str) -> None:
    assert [turn.role for turn in holders(token)] == [Role.ASSISTANT]


@pytest.mark.parametrize("token", EXPECT["summary"])
def test_summaries_are_found_once_as_summaries(token: str) -> None:
    assert [turn.role for turn in holders(token)] == [Role.SUMMARY]


@pytest.mark.parametrize("token", [name for name in EXPECT["subagent"] if name != "KEEP_SUB_out"])
def test_sub_agents_words_are_found_in_sessions_that_have_a_parent(token: str) -> None:
    infos = everything()[1]
    (turn,) = spoken(token)
    assert infos[turn.session].parent_kind == "subagent"
    assert turn.role in (Role.TASK, Role.ASSISTANT)
    assert {holder.role for holder in holders(token)} <= {Role.TASK, Role.ASSISTANT}


@pytest.mark.parametrize("token", EXPECT["never_as_user"])
def test_noise_is_never_words(token: str) -> None:
    assert spoken(token) == []
    assert Role.USER not in {turn.role for turn in holders(token)}


@pytest.mark.parametrize("token", EXPECT["tool_error"])
def test_output_of_a_failed_call_is_kept_with_its_exit_code(token: str) -> None:
    (turn,) = holders(token)
    (action,) = [item for item in plain(turn)["items"] if has(token, item)]
    assert (action["outcome"], action["exit"], has(token, action["output"])) == ("failed", 1, True)


@pytest.mark.parametrize("token", [*EXPECT["tool_output"], "KEEP_SUB_out"])
def test_output_of_a_call_that_succeeded_is_not_kept(token: str) -> None:
    assert holders(token) == []


@pytest.mark.parametrize("token", [*EXPECT["thinking"], *EXPECT["tool_input"]])
def test_thinking_and_arguments_are_found_once(token: str) -> None:
    assert len(holders(token)) == 1


@pytest.mark.parametrize("token", [name for name in EXPECT["index_once"] if name != "DUP_V1_USER"])
def test_what_stands_in_several_places_has_one_key(token: str) -> None:
    assert len(spoken(token)) == 1


def test_a_line_still_being_written_is_not_read() -> None:
    assert holders("KEEP_PARTIAL") == []


def test_every_unread_row_is_counted() -> None:
    assert everything()[2] == {
        "skipped|2.1.197|json": 1,
        "skipped|2.1.197|not-object": 4,
        "unknown|2.1.197|quantum-state": 1,
        "unknown|2.1.197|block:hologram": 1,
    }


def test_no_two_turns_of_a_session_share_a_key_with_different_words() -> None:
    words: dict[tuple[str, str], object] = {}
    for turn in everything()[0]:
        shown = plain(turn)["items"]
        assert words.setdefault((turn.session, turn.key), shown) == shown


@pytest.mark.parametrize("golden", sorted(LOGS.glob("**/*.golden.json")), ids=lambda path: path.name[:8])
def test_a_session_reads_as_its_golden_file_says(golden: Path) -> None:
    path = golden.with_name(golden.name.replace(".golden.json", ".jsonl"))
    root = Root(str(next(parent for parent in path.parents if parent.name == "projects")), ())
    found = ADAPTER.classify(root, path.relative_to(root.path).as_posix())
    assert found is not None
    turns = [plain(turn) for turn in turns_of(line_batches(ADAPTER, found))]
    if os.environ.get("RAW_RAG_WRITE_GOLDENS"):
        golden.write_text(json.dumps(turns, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert json.loads(golden.read_text(encoding="utf-8")) == turns


# ---------------------------------------------------------------- laws


@cache
def logs() -> dict[str, tuple[Source, tuple[Record | BadRecord, ...]]]:
    found = {}
    for folder in sorted(LOGS.glob("*/projects")):
        for one in sources_in(ADAPTER, Root(str(folder), ("**/*.jsonl",))):
            found[one.path] = (one, tuple(read_lines(one.path)))
    return found


def whole(turn: Turn) -> dict[str, Any]:
    return {
        **plain(turn),
        "records": turn.record_ids,
        "trail": turn.trail,
        "span": (turn.start, turn.end),
        "branch": turn.branch_from,
        "settled": turn.settled,
    }


def stored(cursor: Cursor) -> Cursor:
    """A cursor as it comes back from the store: through JSON."""
    return replace(cursor, state=json.loads(json.dumps(cursor.state)))


def in_pieces(one: Source, all_records: tuple[Record | BadRecord, ...], cuts: list[int]) -> Iterator[Batch]:
    cursor = start_cursor(ADAPTER, one)
    for cut in [*cuts, len(all_records)]:
        visible = [record for record in all_records[:cut] if record.start >= cursor.offset]
        for batch in read_batches(ADAPTER, visible, stored(cursor)):
            yield batch
            cursor = batch.cursor


@settings(max_examples=150)
@given(st.data())
def test_reading_in_pieces_gives_the_turns_of_reading_in_one_go(data: st.DataObject) -> None:
    one, all_records = logs()[data.draw(st.sampled_from(sorted(logs())))]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(all_records)), max_size=6)))
    pieces = list(in_pieces(one, all_records, cuts))
    together = list(read_batches(ADAPTER, all_records, start_cursor(ADAPTER, one)))
    assert [whole(turn) for turn in turns_of(pieces)] == [whole(turn) for turn in turns_of(together)]
    assert pieces[-1].tally == together[-1].tally


def test_reading_record_by_record_gives_the_turns_of_reading_in_one_go() -> None:
    for one, all_records in logs().values():
        pieces = list(in_pieces(one, all_records, list(range(len(all_records)))))
        together = list(read_batches(ADAPTER, all_records, start_cursor(ADAPTER, one)))
        assert [whole(turn) for turn in turns_of(pieces)] == [whole(turn) for turn in turns_of(together)]


TYPES = ["user", "assistant", "system", "attachment", "queue-operation", "summary", "custom-title", "progress", "new"]
BLOCKS = ["text", "thinking", "tool_use", "tool_result", "web_search_tool_result", "image", "queued_command"]
WORDS = [*BLOCKS, "enqueue", "remove", "dequeue", "popAll", "prompt", "human", "Warmup", "compact_boundary", "u1", NOW]
FIELDS = [
    "type",
    "message",
    "content",
    "text",
    "thinking",
    "id",
    "name",
    "input",
    "tool_use_id",
    "is_error",
    "toolUseResult",
    "uuid",
    "parentUuid",
    "timestamp",
    "sessionId",
    "cwd",
    "version",
    "gitBranch",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "origin",
    "kind",
    "rowSource",
    "attachment",
    "prompt",
    "commandMode",
    "operation",
    "reason",
    "summary",
    "leafUuid",
    "customTitle",
    "model",
    "forkedFrom",
    "subtype",
    "logicalParentUuid",
    "toolDenialKind",
    "promptId",
]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=12,
)
ROWS = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.sampled_from(TYPES) | VALUES,
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=10),
)


@settings(max_examples=150)
@given(st.lists(ROWS, max_size=6), st.sampled_from([f"-x/{SESSION}.jsonl", "-x/agent-1.jsonl"]))
def test_no_json_value_in_any_field_costs_a_record(rows: list[dict[str, Any]], path: str) -> None:
    batch = read(*rows, of=source(path))
    assert not any(name.startswith("skipped") for name in batch.tally)
    for turn in batch.turns:
        assert all(not isinstance(item, ToolResult) for item in turn.items)
