"""Codex rollouts of every generation: whose words they are, each once, and that any split of a rollout reads the same."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.adapters._codex_outcome import result_of_output
from agent_raw_rag.adapters.base import Root
from agent_raw_rag.adapters.codex import ADAPTER
from agent_raw_rag.ingest.reading import Batch, Cursor, read_batches, start_cursor
from agent_raw_rag.models import Action, BadRecord, Image, Outcome, Record, Role, SessionInfo, Source, Text, Turn
from agent_raw_rag.sources.lines import read_lines
from tests.support import line_batches, plain, sources_in, turns_of

LOGS = Path(__file__).parents[1] / "logs" / "codex"
VERSIONS = ("0.29", "0.60", "0.171")
EXPECT: dict[str, list[str]] = json.loads((LOGS / "expect.json").read_text(encoding="utf-8"))
OWN = "01a20000-0000-7000-8000-000000000001"
PARENT = "01a20000-0000-7000-8000-000000000002"
NOW = "2026-11-20T09:00:00.000Z"


# ---------------------------------------------------------------- small rollouts, written here


def row(kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": NOW, "type": kind, "payload": payload}


def meta(session: str = OWN, **more: Any) -> dict[str, Any]:
    return row("session_meta", {"id": session, "timestamp": NOW, "cwd": "/work", "cli_version": "0.140.0", **more})


def event(type_: str, **more: Any) -> dict[str, Any]:
    return row("event_msg", {"type": type_, **more})


def item(kind: str, **more: Any) -> dict[str, Any]:
    return event("item_completed", item={"type": kind, **more})


def message(role: str, *texts: str, kinds: list[str] | None = None) -> dict[str, Any]:
    shape = "output_text" if role == "assistant" else "input_text"
    payload: dict[str, Any] = {"type": "message", "role": role, "content": [{"type": shape, "text": t} for t in texts]}
    if kinds is not None:
        payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
    return row("response_item", payload)


def asked(text: str) -> list[dict[str, Any]]:
    return [message("user", text), event("user_message", message=text)]


def said(text: str) -> list[dict[str, Any]]:
    return [event("agent_message", message=text), message("assistant", text)]


def call(name: str, call_id: str, arguments: str = "{}", **more: Any) -> dict[str, Any]:
    return row(
        "response_item", {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, **more}
    )


def output(call_id: str, text: Any) -> dict[str, Any]:
    return row("response_item", {"type": "function_call_output", "call_id": call_id, "output": text})


def source(session: str = OWN) -> Source:
    return Source("codex", f"/codex/rollout-{session}.jsonl", "/codex", ADAPTER_SHAPE, session=session)


ADAPTER_SHAPE = sources_in(ADAPTER, Root(str(LOGS / "0.29"), ADAPTER.roots({}, "/")[0].patterns))[0].shape


def records(rows: Iterable[dict[str, Any]]) -> list[Record | BadRecord]:
    return [Record(one, number * 100, number * 100 + 100) for number, one in enumerate(rows)]


def batch(*rows: dict[str, Any]) -> Batch:
    (only,) = read_batches(ADAPTER, records(rows), start_cursor(ADAPTER, source()))
    return only


def turns(*rows: dict[str, Any]) -> list[tuple[str, str]]:
    """Role and words of every turn; an action is its tool's name."""
    return [(turn.role.value, " ".join(words(turn))) for turn in batch(*rows).turns]


def words(turn: Turn) -> Iterator[str]:
    for one in turn.items:
        if isinstance(one, Action):
            yield f"[{one.call.name}]"
        else:
            yield f"<{one.label}>" if isinstance(one, Image) else one.text


def actions(*rows: dict[str, Any]) -> list[Action]:
    return [one for turn in batch(*rows).turns for one in turn.items if isinstance(one, Action)]


# ---------------------------------------------------------------- the fixtures, read once


@cache
def fixture_batches() -> dict[str, list[Batch]]:
    found = {}
    for version in VERSIONS:
        root = Root(str(LOGS / version), ADAPTER.roots({}, "/")[0].patterns)
        for one in sources_in(ADAPTER, root):
            found[one.path] = list(line_batches(ADAPTER, one))
    return found


def fixture_turns() -> list[Turn]:
    """All turns of all sessions, copies collapsed."""
    return list({turn.key: turn for batches in fixture_batches().values() for turn in turns_of(batches)}.values())


def holding(token: str, found: Iterable[Turn]) -> list[Turn]:
    exact = re.compile(rf"{token}(?![A-Za-z0-9_])")
    return [turn for turn in found if any(exact.search(text) for text in words(turn))]


def info(session: str) -> SessionInfo:
    return next(b.infos[session] for batches in fixture_batches().values() for b in batches if session in b.infos)


@pytest.mark.parametrize("token", [one for one in EXPECT["user"] if one != "KEEP_USER_10"])
def test_each_human_prompt_is_one_user_turn(token: str) -> None:
    assert [turn.role for turn in holding(token, fixture_turns())] == [Role.USER]


@pytest.mark.parametrize("token", [one for one in EXPECT["assistant"] if one != "KEEP_ASSIST_10"])
def test_each_answer_is_in_one_assistant_turn(token: str) -> None:
    assert [turn.role for turn in holding(token, fixture_turns())] == [Role.ASSISTANT]


def test_a_compaction_is_a_summary_and_its_raw_form_is_not_said_again() -> None:
    assert [turn.role for turn in holding("KEEP_SUM_1", fixture_turns())] == [Role.SUMMARY]


@pytest.mark.parametrize("token", EXPECT["thinking"] + EXPECT["other_keep"])
def test_thoughts_and_reviews_are_kept_once(token: str) -> None:
    assert [turn.role for turn in holding(token, fixture_turns())] == [Role.ASSISTANT]


@pytest.mark.parametrize("token", EXPECT["never_as_user"])
def test_what_the_harness_put_in_is_never_the_users(token: str) -> None:
    found = holding(token, fixture_turns())
    assert not [turn for turn in found if turn.role is Role.USER]
    assert not found or token == "NOISE_inter_agent"


@pytest.mark.parametrize("token", EXPECT["tool_error"])
def test_a_failed_call_keeps_its_output(token: str) -> None:
    made = [one for turn in fixture_turns() for one in turn.items if isinstance(one, Action)]
    (found,) = [one for one in made if one.result is not None and token in one.result.output]
    assert found.result is not None
    assert found.result.outcome is Outcome.FAILED
    assert found.result.exit_code


def test_the_output_of_calls_that_did_not_fail_is_not_carried_along() -> None:
    made = [one for turn in fixture_turns() for one in turn.items if isinstance(one, Action)]
    assert not [one for one in made if one.result and one.result.output and one.result.outcome is not Outcome.FAILED]


@pytest.mark.parametrize("token", ["KEEP_SUB_prompt", "KEEP_SUB_answer"])
def test_a_sub_agents_words_stand_in_a_session_with_a_parent(token: str) -> None:
    (turn,) = holding(token, fixture_turns())
    assert turn.role is not Role.USER
    found = info(turn.session)
    assert (found.parent, found.parent_kind) == ("01a20000-aaaa-7000-8000-000000000001", "subagent")


def test_a_message_between_agents_is_an_order_under_its_authors_name() -> None:
    (turn,) = holding("KEEP_SUB_note", fixture_turns())
    assert turn.role is Role.TASK
    assert next(words(turn)).startswith("[/root/helper] ")


def test_a_legacy_fork_has_its_parents_keys_for_what_was_copied_and_its_own_for_what_is_new() -> None:
    parent, fork = (turns_of(batches) for path, batches in fixture_batches().items() if "019b0000-bbbb" in path)
    assert [turn.key for turn in fork[: len(parent)]] == [turn.key for turn in parent]
    assert {turn.key for turn in fork[len(parent) :]}.isdisjoint(turn.key for turn in parent)
    assert info(fork[0].session).parent == parent[0].session


def test_a_paginated_fork_only_points_at_its_parent() -> None:
    found = info("01a20000-aaaa-7000-8000-000000000003")
    assert (found.parent, found.parent_kind) == ("01a20000-aaaa-7000-8000-000000000001", "fork")


def test_bare_files_have_a_directory_but_no_times() -> None:
    session = "5973b6c0-94b8-487b-a530-2aeb6098ae0e"
    found = info(session)
    assert (found.cwd, found.branch, found.version) == ("/home/dev/orchid", "main", None)
    assert {turn.time for turn in fixture_turns() if turn.session == session} == {None}


def test_unknown_types_are_counted_by_name_and_version() -> None:
    (path,) = [path for path in fixture_batches() if path.endswith("aaaa-7000-8000-000000000001.jsonl")]
    assert dict(fixture_batches()[path][-1].tally) == {"unknown|0.171.0|hypothetical_new_item": 1}


@pytest.mark.parametrize("golden", sorted(LOGS.rglob("*.turns.json")), ids=lambda path: path.name[8:27])
def test_fixtures_read_as_their_goldens_say(golden: Path) -> None:
    (path,) = [path for path in fixture_batches() if path.startswith(str(golden).removesuffix(".turns.json"))]
    found = [plain(turn) for turn in turns_of(fixture_batches()[path])]
    assert found == json.loads(golden.read_text(encoding="utf-8"))


def test_a_hostile_file_costs_only_what_is_broken_in_it(tmp_path: Path) -> None:
    rows = [
        meta(history_mode="paginated"),
        *asked("KEEP_USER_10 big one"),
        call("exec_command", "call_z1"),
        item("CommandExecution", id="call_z1", exit_code=0, aggregated_output="x" * (2 << 20)),
        output("call_z1", "Process exited with code 0\nOutput:\n" + "x" * (2 << 20)),
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "KEEP_ASSIST_10 without a time"}},
        row("response_item", None),
    ]
    path = tmp_path / f"rollout-{OWN}.jsonl"
    lines = [orjson.dumps(one) for one in rows]
    path.write_bytes(b"\n".join([*lines, b"", b"not json", b"[]", b'{"type":"response_item","payload":{"KEEP_PARTIAL']))
    batches = list(read_batches(ADAPTER, read_lines(str(path)), start_cursor(ADAPTER, source())))
    assert [(turn.role.value, turn.time is None) for turn in turns_of(batches)] == [
        ("user", False), ("assistant", False), ("assistant", True),
    ]  # fmt: skip
    assert set(batches[-1].tally) == {
        "skipped|0.140.0|json", "skipped|0.140.0|not-object", "unknown|0.140.0|response_item without payload",
    }  # fmt: skip


# ---------------------------------------------------------------- who is human


HUMAN = [
    "fix the tests",
    "<div>why is this tag not closed",
    "# Heading of my own",
    "Warning: do not touch the parser",
    "the <environment_context> is wrong",
]
HARNESS = [
    "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nrules\n</INSTRUCTIONS>",
    "<user_instructions>\n\nrules\n\n</user_instructions>",
    "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>",
    "<turn_aborted>\nThe user interrupted\n</turn_aborted>",
    '<subagent_notification>\n{"status":"done"}\n</subagent_notification>',
    "<skill>\n<name>review</name>\n</skill>",
    '<hook_prompt hook_run_id="stop:0">go on</hook_prompt>',
    "<user_action>\n  <action>review</action>\n</user_action>",
    '<codex_internal_context source="goal">go on</codex_internal_context>',
    "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
    '<image name=[Image #1] path="/tmp/a.png">',
]


@pytest.mark.parametrize("text", HUMAN)
def test_a_text_without_the_harness_mark_is_the_users(text: str) -> None:
    assert turns(message("user", text)["payload"]) == [("user", text)]


@pytest.mark.parametrize("text", HARNESS)
def test_a_text_with_the_harness_mark_is_nobodys(text: str) -> None:
    assert turns(message("user", text)["payload"]) == []
    assert turns(meta(), message("user", text), *said("yes")) == [("assistant", "yes")]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["user.text", "user.text"], "one two"),
        (["agents_md.instructions", "user.text"], " two"),
        (["agents_md.instructions", "environments.environment_context"], None),
        (["unknown", "unknown"], "one two"),
        (["user.text"], "one two"),
        (["generic.turn_aborted"], None),
    ],
)
def test_the_label_of_a_content_item_says_whose_it_is(kinds: list[str], expected: str | None) -> None:
    found = turns(meta(), message("user", "one", " two", kinds=kinds), event("task_complete"))
    assert found == ([("user", expected)] if expected else [])


def test_developer_messages_are_nobodys() -> None:
    assert turns(meta(), message("developer", "recalled memory"), message("system", "prompt")) == []


def test_an_event_of_the_harness_kind_is_nobodys() -> None:
    assert turns(meta(), event("user_message", message="rules", kind="user_instructions")) == []


def test_what_an_editor_put_before_the_request_is_left_out() -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nrename it\n"
    assert turns(meta(), *asked(text)) == [("user", "rename it")]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("Exit code: 0\nDuration: 1 s\nOutput:\nExit code: 7", "! ls -l"),
        ("Exit code: 2\nDuration: 1 s", "! ls -l (exit 2)"),
        ("", "! ls -l"),
    ],
)
def test_a_shell_command_of_the_human_is_a_user_turn(result: str, expected: str) -> None:
    text = f"<user_shell_command>\n<command>\nls -l\n</command>\n<result>\n{result}\n</result>\n</user_shell_command>"
    assert turns(meta(), message("user", text)) == [("user", expected)]


def test_pictures_come_with_the_prompt() -> None:
    content = [{"type": "input_image", "image_url": "data:image/png;base64,AA"}, {"type": "input_text", "text": "look"}]
    written = row("response_item", {"type": "message", "role": "user", "content": content})
    assert turns(meta(), written, event("user_message", message="look")) == [("user", "look <image>")]
    named = event("user_message", message="", local_images=["/tmp/chart.png"])
    assert turns(meta(), named) == [("user", "<chart.png>")]


# ---------------------------------------------------------------- each thing once


@pytest.mark.parametrize(
    "rows",
    [
        asked("hello there"),
        asked("hello there")[::-1],
        [message("user", "hello there"), event("token_count"), event("user_message", message="hello  there\n")],
        [message("user", "hello there"), item("UserMessage", content=[{"type": "text", "text": "hello there"}])],
        [event("user_message", message="hello there")],
        [message("user", "hello there"), *said("yes")],
    ],
)
def test_a_prompt_is_said_once_in_whatever_copies_it_stands(rows: list[dict[str, Any]]) -> None:
    found = [text.split() for role, text in turns(meta(), *rows) if role == "user"]
    assert found == [["hello", "there"]]


@pytest.mark.parametrize(
    "rows",
    [
        said("done now"),
        [message("assistant", "done now")],
        [*said("first"), *said("done now")[::-1]],
        [*said("first"), message("assistant", "done now"), event("task_complete")],
        [
            event("agent_message", message="done now"),
            message("assistant", "done now <oai-mem-citation>x</oai-mem-citation>"),
        ],
        [event("agent_message", message="done now"), event("turn_aborted")],
        [item("AgentMessage", content=[{"type": "Text", "text": "done now"}]), message("assistant", "done now")],
    ],
)
def test_an_answer_is_said_once_in_whatever_copies_it_stands(rows: list[dict[str, Any]]) -> None:
    found = [text for role, text in turns(meta(), *rows) if role == "assistant" and "done now" in text]
    assert len(found) == 1


def test_the_same_words_twice_are_two_turns() -> None:
    found = batch(meta(), *asked("go on"), *said("ok"), *said("ok"), *asked("go on"), *said("ok")).turns
    assert [turn.role.value for turn in found] == ["user", "assistant", "assistant", "user", "assistant"]
    assert len({turn.key for turn in found}) == 5


def test_a_plan_stands_once_whether_or_not_the_answer_repeats_it() -> None:
    plan, tagged = item("Plan", text="1. look"), "<proposed_plan>1. look</proposed_plan>"
    assert turns(meta(), plan, message("assistant", tagged)) == [("assistant", tagged)]
    assert turns(meta(), message("assistant", tagged), plan, event("task_complete")) == [("assistant", tagged)]
    assert turns(meta(), plan, event("task_complete")) == [("assistant", "1. look")]


def test_a_review_is_said_once_though_a_message_repeats_it() -> None:
    review = event("exited_review_mode", review_output={"overall_explanation": "looks good", "findings": []})
    assert turns(meta(), *said("a"), review) == [("assistant", "a"), ("assistant", "looks good")]
    repeated = [message("user", "<user_action>looks good</user_action>"), review, message("assistant", "looks good")]
    assert turns(meta(), *repeated, event("agent_message", message="b"), message("assistant", "b")) == [
        ("assistant", "looks good"), ("assistant", "b"),
    ]  # fmt: skip


def test_a_raw_summary_is_dropped_even_if_counts_come_between() -> None:
    rows = [
        *said("a"),
        message("assistant", "we did this"),
        event("token_count"),
        row("compacted", {"message": "S: we did this"}),
    ]
    assert turns(meta(), *rows) == [("assistant", "a"), ("summary", "S: we did this")]


def test_a_compaction_without_a_readable_summary_says_nothing() -> None:
    assert (
        turns(meta(), row("compacted", {"message": "", "replacement_history": [message("user", "old")["payload"]]}))
        == []
    )


SPEAKER = st.sampled_from(["user", "assistant"])
FORM = st.sampled_from(["item and event", "event and item", "item", "event"])


@given(st.lists(st.tuples(SPEAKER, FORM), max_size=12))
def test_every_sentence_is_said_once_and_in_order_in_any_mixture_of_copies(script: list[tuple[str, str]]) -> None:
    rows, expected = [meta()], []
    for number, (role, form) in enumerate(script):
        text = f"sentence {number:03}."
        written = message(role, text)
        heard = event("user_message" if role == "user" else "agent_message", message=text)
        rows += {
            "item and event": [written, heard],
            "event and item": [heard, written],
            "item": [written],
            "event": [heard],
        }[form]
        expected.append((role, text))
    found = turns(*rows, event("task_complete"))
    assert sorted(found) == sorted(expected)
    assert [one for one in found if one[0] == "assistant"] == [one for one in expected if one[0] == "assistant"]


# ---------------------------------------------------------------- sessions, forks, rollbacks


def test_later_headers_do_not_change_the_session() -> None:
    found = batch(meta(), *asked("a"), meta(PARENT, cwd="/other"), *asked("b"))
    assert {turn.session for turn in found.turns} == {OWN}
    assert found.infos[OWN].cwd == "/work"


def test_a_fork_of_a_fork_has_the_keys_of_the_first() -> None:
    grandparent = "01a20000-0000-7000-8000-000000000003"
    history = [*asked("a"), call("exec_command", "call_1"), *said("b")]
    first = batch(meta(grandparent), *history).turns
    third = batch(
        meta(forked_from_id=PARENT), meta(PARENT, forked_from_id=grandparent), meta(grandparent), *history
    ).turns
    assert [turn.key for turn in third] == [turn.key for turn in first]


def test_a_fork_of_old_versions_is_known_by_the_second_header() -> None:
    found = batch(meta(), meta(PARENT), *asked("a"))
    assert (found.infos[OWN].parent, found.infos[OWN].parent_kind) == (PARENT, "fork")
    assert found.turns[0].key == batch(meta(PARENT), *asked("a")).turns[0].key


def test_a_rollout_that_was_migrated_to_the_paginated_form_has_the_keys_it_had() -> None:
    made = [call("exec_command", "c"), output("c", "Exit code: 1\nOutput:\nbad")]
    legacy = batch(meta(), *asked("a"), *made, *said("b")).turns
    asked_item = item("UserMessage", content=[{"type": "text", "text": "a"}])
    said_item = item("AgentMessage", content=[{"type": "Text", "text": "b"}])
    rows = [message("user", "a"), asked_item, *made, said_item, message("assistant", "b")]
    paginated = batch(meta(history_mode="paginated"), *rows).turns
    assert [plain(turn) for turn in paginated] == [plain(turn) for turn in legacy]


def test_equal_prompts_of_unrelated_sessions_have_different_keys() -> None:
    assert batch(meta(), *asked("yes")).turns[0].key != batch(meta(PARENT), *asked("yes")).turns[0].key


def test_after_a_fork_equal_words_in_another_context_are_not_taken_for_copies() -> None:
    parent = batch(meta(PARENT), *asked("a"), *asked("left"), *asked("yes")).turns
    fork = batch(meta(forked_from_id=PARENT), meta(PARENT), *asked("a"), *asked("right"), *asked("yes")).turns
    assert [one.key == two.key for one, two in zip(parent, fork, strict=True)] == [True, False, False]


@pytest.mark.parametrize(
    "more",
    [
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": PARENT}}}},
        {"source": {"subagent": "review"}, "parent_thread_id": PARENT},
        {"thread_source": "subagent", "session_id": PARENT},
    ],
)
def test_the_prompts_of_a_sub_agent_are_orders(more: dict[str, Any]) -> None:
    found = batch(meta(**more), *asked("count the callers"))
    assert [turn.role for turn in found.turns] == [Role.TASK]
    assert (found.infos[OWN].parent, found.infos[OWN].parent_kind) == (PARENT, "subagent")


def test_a_rollback_counts_the_shell_commands_among_the_prompts_it_takes_back() -> None:
    shell = message("user", "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>")
    rows = [meta(), *asked("a"), *asked("b"), shell, *asked("c"), event("thread_rolled_back", num_turns=2)]
    again = [*asked("d"), event("thread_rolled_back", num_turns=1)]
    assert [mark.rollback.exchanges for mark in batch(*rows, *again).marks] == [3, 1]


@pytest.mark.parametrize("count", [0, -1, None, "2", 10**15])
def test_a_rollback_of_an_odd_count_does_no_harm(count: Any) -> None:
    assert turns(meta(), *asked("a"), event("thread_rolled_back", num_turns=count)) == [("user", "a")]


def test_names_and_directories_found_on_the_way_are_told_once() -> None:
    context = row("turn_context", {"cwd": "/late"})
    found = batch(meta(cwd=None), context, context, event("thread_name_updated", thread_name="Fix it"))
    assert (found.infos[OWN].cwd, found.infos[OWN].title) == ("/late", "Fix it")
    assert len(list(ADAPTER.parse(Record(context), dict(found.cursor.state)))) == 0


# ---------------------------------------------------------------- calls and how they ended


@pytest.mark.parametrize(
    ("text", "outcome", "code", "kept"),
    [
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nfine", "ok", 0, ""),
        ("Exit code: 2\nWall time: 1 seconds\nTotal output lines: 1\nOutput:\nbad", "failed", 2, "bad"),
        ("Chunk ID: 1\nWall time: 1 s\nProcess exited with code 3\nOriginal token count: 1\nOutput:\nbad", "failed", 3, "bad"),
        ("Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 9", "ok", 0, ""),
        ('{"output":"bad","metadata":{"exit_code":1,"duration_seconds":0.1}}', "failed", 1, "bad"),
        ('{"output":"fine","metadata":{"exit_code":0,"duration_seconds":0.1}}', "ok", 0, ""),
        ("Wall time: 1.0 seconds\nOutput:\nExit code: 9", "ok", None, ""),
        ("Wall time: 1.2 seconds\naborted by user", "interrupted", None, ""),
        ("aborted by user after 3.2s", "interrupted", None, ""),
        ("exec command rejected by user", "rejected", None, ""),
        ("patch rejected by user", "rejected", None, ""),
        ("user rejected MCP tool call", "rejected", None, ""),
        ("apply_patch verification failed: no such lines", "failed", None, "apply_patch verification failed: no such lines"),
        ("failed to parse function arguments: x", "failed", None, "failed to parse function arguments: x"),
        ("execution error: Io", "failed", None, "execution error: Io"),
        ("Script failed\nWall time 0.1 seconds\nOutput:\nSyntaxError", "failed", None, "SyntaxError"),
        ("Script completed\nWall time 0.1 seconds\nOutput:\n", "ok", None, ""),
        ("Script running with cell ID 4\nWall time 9 seconds\nOutput:\n", "unknown", None, ""),
        ("Chunk ID: 1\nWall time: 30 seconds\nProcess running with session ID 7\nOutput:\n", "unknown", None, ""),
        ("Plan updated", "ok", None, ""),
        ("whatever", "unknown", None, ""),
        ("", "unknown", None, ""),
        ([{"type": "input_text", "text": "Exit code: 1\nOutput:\nbad"}], "failed", 1, "bad"),
        ({"content": "Exit code: 1\nOutput:\nbad", "success": False}, "failed", 1, "bad"),
        (None, "unknown", None, ""),
        (7, "unknown", None, ""),
    ],
)  # fmt: skip
def test_the_text_of_an_output_tells_how_the_call_ended(text: Any, outcome: str, code: int | None, kept: str) -> None:
    result = result_of_output("call_1", text, reported=False)
    assert result is not None
    assert (result.outcome.value, result.exit_code, result.output) == (outcome, code, kept)


@pytest.mark.parametrize(
    ("report", "outcome", "code"),
    [
        (item("CommandExecution", id="c", status="failed", exit_code=3, aggregated_output="bad"), "failed", 3),
        (item("CommandExecution", id="c", status="declined", exit_code=-1), "rejected", None),
        (item("CommandExecution", id="c", status="in_progress", exit_code=None), "unknown", None),
        (event("exec_command_end", call_id="c", exit_code=0), "ok", 0),
        (item("FileChange", id="c", status="failed", stderr="no"), "failed", None),
        (event("patch_apply_end", call_id="c", success=False, stderr="patch rejected by user"), "rejected", None),
        (item("McpToolCall", id="c", status="failed", error={"message": "no"}), "failed", None),
        (item("McpToolCall", id="c", status="completed", result={"content": [], "isError": True}), "failed", None),
        (event("mcp_tool_call_end", call_id="c", result={"Err": "no"}), "failed", None),
        (event("mcp_tool_call_end", call_id="c", result={"Ok": {"content": [], "isError": False}}), "ok", None),
        (event("dynamic_tool_call_response", call_id="c", success=False, error="no"), "failed", None),
    ],
)
def test_an_event_tells_how_a_call_ended_before_its_output_does(report: Any, outcome: str, code: int | None) -> None:
    (made,) = actions(meta(), call("tool", "c"), report, output("c", "Exit code: 0\nOutput:\nfine"))
    assert made.result is not None
    assert (made.result.outcome.value, made.result.exit_code) == (outcome, code)


def test_a_patch_that_succeeded_has_the_exit_code_of_its_output() -> None:
    (made,) = actions(
        meta(),
        call("apply_patch", "c"),
        event("patch_apply_end", call_id="c", success=True),
        output("c", "Exit code: 0\nOutput:\n"),
    )
    assert made.result is not None
    assert made.result.exit_code == 0


def test_a_process_that_still_runs_waits_for_its_end_where_that_is_recorded() -> None:
    running = output("c", "Chunk ID: 1\nWall time: 30 seconds\nProcess running with session ID 7\nOutput:\n")
    end = item("CommandExecution", id="c", status="failed", exit_code=1, aggregated_output="bad")
    (late,) = actions(meta(history_mode="paginated"), call("exec_command", "c"), running, *said("still waiting"), end)
    assert late.result is not None
    assert late.result.exit_code == 1
    (legacy,) = actions(meta(), call("exec_command", "c"), running)
    assert legacy.result is not None
    assert legacy.result.outcome is Outcome.UNKNOWN


def test_commands_inside_a_code_mode_script_are_actions_of_their_own() -> None:
    script = row(
        "response_item", {"type": "custom_tool_call", "name": "exec", "input": "await tools.x()", "call_id": "c"}
    )
    inside = [
        item("CommandExecution", id="exec-1", command=["/bin/sh", "-lc", "make"], cwd="file:///w", exit_code=2),
        item("FileChange", id="exec-2", changes={"/w/a.py": {}}, status="completed"),
        item("McpToolCall", id="exec-3", server="memory", tool="recall", arguments={"q": 1}, result={"content": []}),
    ]  # fmt: skip
    users_own = item("CommandExecution", id="other", source="user_shell", command=["ls"], exit_code=0)
    made = actions(
        meta(history_mode="paginated"), script, *inside, users_own, output("c", "Script completed\nOutput:\n")
    )
    assert [(one.call.name, one.call.args, one.result and one.result.outcome.value) for one in made] == [
        ("exec", "await tools.x()", "ok"),
        ("exec_command", {"cmd": "make", "workdir": "/w"}, "failed"),
        ("apply_patch", {"path": "/w/a.py"}, "ok"),
        ("mcp__memory__recall", {"q": 1}, "ok"),
    ]


@pytest.mark.parametrize(
    ("payload", "name", "args"),
    [
        ({"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}'}, "shell", {"command": ["ls"]}),
        ({"type": "function_call", "name": "shell", "arguments": "not json"}, "shell", "not json"),
        ({"type": "function_call", "name": "recall", "namespace": "mcp__memory", "arguments": "{}"}, "mcp__memory__recall", {}),
        ({"type": "function_call", "name": "spawn_agent", "namespace": "multi_agent_v1", "arguments": "{}"}, "spawn_agent", {}),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch"}, "apply_patch", "*** Begin Patch"),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, "local_shell", {"command": ["ls"]}),
        ({"type": "web_search_call", "action": {"type": "search", "query": "q"}}, "web_search", {"query": "q"}),
        ({"type": "web_search_call", "action": {"type": "open_page", "url": "u"}}, "web_search", {"url": "u"}),
    ],
)  # fmt: skip
def test_calls_have_a_name_and_what_they_were_given(payload: dict[str, Any], name: str, args: Any) -> None:
    (made,) = actions(meta(), row("response_item", payload))
    assert (made.call.name, made.call.args) == (name, args)


def test_a_web_search_never_waits_for_a_result() -> None:
    search = row("response_item", {"type": "web_search_call", "status": "completed", "action": {"query": "q"}})
    found = batch(meta(), call("exec_command", "c"), *[search] * 3, *asked("next"))
    assert [one.result and one.result.outcome for turn in found.turns for one in turn.items if isinstance(one, Action)] == [
        None, *[Outcome.OK] * 3,
    ]  # fmt: skip


# ---------------------------------------------------------------- where the files are


@pytest.mark.parametrize(
    ("env", "path"),
    [({}, "/home/me/.codex"), ({"CODEX_HOME": "/data/codex/"}, "/data/codex"), ({"CODEX_HOME": "~/c"}, "/home/me/c")],
)
def test_the_data_folder_moves_with_its_variable(env: dict[str, str], path: str) -> None:
    assert [root.path for root in ADAPTER.roots(env, "/home/me")] == [path]


@pytest.mark.parametrize(
    ("relative", "session"),
    [
        (f"sessions/2026/11/20/rollout-2026-11-20T10-00-02-{OWN}.jsonl", OWN),
        (f"sessions/2026/11/20/rollout-2026-11-20T10-00-02-{OWN}.jsonl.zst", OWN),
        (f"archived_sessions/rollout-2026-11-20T10-00-02-{OWN}.jsonl", OWN),
        ("sessions/2026/11/20/rollout-old.jsonl", "rollout-old"),
        ("history.jsonl", None),
        ("sessions/2026/11/20/rollout-x.jsonl.tmp", None),
        ("sessions/2026/11/20/notes.jsonl", None),
    ],
)
def test_only_rollouts_are_conversations(relative: str, session: str | None) -> None:
    found = ADAPTER.classify(Root("/codex", ()), relative)
    assert (found.session if found else None) == session


def test_a_plain_file_is_read_before_its_compressed_copy_and_parents_before_forks() -> None:
    names = [f"rollout-2026-11-2{day}T10-00-02-{OWN}.jsonl{end}" for day in "01" for end in ("", ".zst")]
    found = [ADAPTER.classify(Root("/codex", ()), f"sessions/{name}") for name in reversed(names)]
    assert [
        one.path.rsplit("/", 1)[-1] for one in sorted(found, key=lambda one: one.order if one else "") if one
    ] == names


def test_a_session_is_reopened_by_its_id() -> None:
    assert ADAPTER.resume is not None
    assert ADAPTER.resume(OWN, None) == ("codex", "resume", OWN)


# ---------------------------------------------------------------- laws


def in_pieces(one: Source, found: list[Record | BadRecord], cuts: list[int]) -> dict[tuple[str, str], Any]:
    """The turns as a store would hold them after reading the log up to each cut, and then its rest."""
    held: dict[tuple[str, str], Any] = {}
    cursor = start_cursor(ADAPTER, one)
    for cut in [*sorted(cuts), len(found)]:
        rest = [record for record in found[:cut] if record.start >= cursor.offset]
        for part in read_batches(ADAPTER, rest, cursor):
            held.update({(turn.session, turn.key): (plain(turn), turn.start, turn.end) for turn in part.turns})
            end = part.cursor
        cursor = Cursor(end.offset, end.done, orjson.loads(orjson.dumps(end.state)), end.tally)
    return held


ROWS = st.sampled_from(
    [
        meta(),
        meta(PARENT),
        message("user", "go on"),
        event("user_message", message="go on"),
        item("UserMessage", content=[{"type": "text", "text": "other"}]),
        message("user", HARNESS[0]),
        event("agent_message", message="ok"),
        message("assistant", "ok"),
        message("assistant", "we did this"),
        row("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        call("exec_command", "c1"),
        call("exec_command", "c2"),
        output("c1", "Exit code: 1\nOutput:\nbad"),
        output("c2", "Exit code: 0\nOutput:\nfine"),
        item("CommandExecution", id="c2", exit_code=4, aggregated_output="bad"),
        item("CommandExecution", id="exec-9", exit_code=0),
        row("compacted", {"message": "Summary: we did this"}),
        event("thread_rolled_back", num_turns=1),
        event("exited_review_mode", review_output={"overall_explanation": "ok"}),
        event("token_count"),
        event("task_complete"),
        row("response_item", None),
    ]
)


@given(st.lists(ROWS, max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_a_rollout_read_in_pieces_is_the_rollout_read_whole(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    found = records(rows)
    whole = in_pieces(source(), found, [])
    assert in_pieces(source(), found, [min(cut, len(found)) for cut in cuts]) == whole


@settings(max_examples=25)
@given(st.data())
def test_fixtures_read_in_pieces_are_the_fixtures_read_whole(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(fixture_batches())))
    found = list(read_lines(path))
    cuts = data.draw(st.lists(st.integers(0, len(found)), max_size=5))
    assert in_pieces(source(), found, cuts) == in_pieces(source(), found, [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id", "content"]), inner)
    ),
    max_leaves=6,
)
KINDS = [
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "inter_agent_communication", "world_state",
]  # fmt: skip
FIELDS = [
    "id", "type", "role", "content", "message", "summary", "call_id", "name", "namespace", "arguments", "input", "output",
    "action", "item", "status", "exit_code", "source", "git", "cwd", "num_turns", "review_output", "images",
    "local_images", "result", "error", "changes", "command", "author", "thread_name", "timestamp",
    "internal_chat_message_metadata_passthrough",
]  # fmt: skip
TYPES = st.sampled_from([
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "local_shell_call",
    "web_search_call", "agent_message", "user_message", "item_completed", "thread_rolled_back", "exited_review_mode",
    "patch_apply_end", "mcp_tool_call_end", "UserMessage", "AgentMessage", "Plan", "CommandExecution", "FileChange",
    "McpToolCall",
])  # fmt: skip
PAYLOAD = st.dictionaries(st.sampled_from(FIELDS), JSON | TYPES)


@given(
    st.sampled_from(KINDS) | JSON,
    JSON | PAYLOAD | PAYLOAD.flatmap(lambda inner: st.just({"type": "item_completed", "item": inner})),
)
def test_no_value_in_any_field_breaks_the_reading(kind: Any, payload: Any) -> None:
    state = ADAPTER.start(source())
    for data in (
        {"timestamp": payload, "type": kind, "payload": payload},
        payload if isinstance(payload, dict) else {},
    ):
        list(ADAPTER.parse(Record(data), state))
    orjson.dumps({key: value for key, value in state.items() if key != "held"})


def test_keys_of_a_rollout_are_all_different() -> None:
    for batches in fixture_batches().values():
        counted = Counter((turn.session, turn.key) for turn in batches[-1].turns)
        assert not [key for key, count in counted.items() if count > 1]


def test_every_turn_has_words_of_its_own() -> None:
    assert all(
        any(isinstance(one, Text | Image | Action) or one.text for one in turn.items) for turn in fixture_turns()
    )
