"""Antigravity's conversations: one step once, whichever of its copies it is read from."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.adapters import _antigravity_proto as proto
from agent_raw_rag.adapters._antigravity_place import folder_of, usable
from agent_raw_rag.adapters._antigravity_text import human_words
from agent_raw_rag.adapters.antigravity import ADAPTER
from agent_raw_rag.adapters.base import Root
from agent_raw_rag.ingest.reading import Batch, read_whole
from agent_raw_rag.models import Action, Outcome, Record, Role, SessionInfo, Shape, Source, Text, Thinking, Turn
from agent_raw_rag.sources.document import read_document
from agent_raw_rag.sources.foreign import foreign_sessions, read_session
from tests.support import plain, sources_in

LOGS = Path(__file__).parents[1] / "logs" / "antigravity"
EXPECT: dict[str, list[str]] = json.loads((LOGS / "expect.json").read_text(encoding="utf-8"))
MAIN, PRINTED, HOSTILE, CHILD, DESKTOP, DOCUMENTS = (
    f"{letter * 4}1111-bbbb-4222-8ccc-333344445555" for letter in "abcdef"
)
CONVERSATION = "0a0a1111-bbbb-4222-8ccc-333344445555"
FULL = f"antigravity-cli/brain/{CONVERSATION}/.system_generated/logs/transcript_full.jsonl"
CLIPPED = FULL.replace("_full", "")
ROOT = ADAPTER.roots({}, "/home/dev")[0]
NOW = "2026-11-20T12:00:00Z"


@pytest.fixture
def home(tmp_path: Path) -> Root:
    """The folder of a machine that ran all three programs."""
    folder = tmp_path / ".gemini"
    shutil.copytree(LOGS / "1.1.26", folder)
    for dump in folder.rglob("*.sql"):
        with closing(sqlite3.connect(dump.with_suffix(".db"))) as connection:
            connection.executescript(dump.read_text(encoding="utf-8"))
    return ADAPTER.roots({}, str(tmp_path))[0]


def read(root: Root) -> list[tuple[Source, Batch]]:
    found = []
    for source in sources_in(ADAPTER, root):
        if source.shape is Shape.DOCUMENT:
            found.append((source, read_whole(ADAPTER, source, read_document(source))))
        else:
            for family, session, _ in foreign_sessions(source, ADAPTER.families):
                rows = read_session(source, ADAPTER.families, family, session)
                found.append((source, read_whole(ADAPTER, source, rows)))
    return found


def stored(found: list[tuple[Source, Batch]]) -> list[Turn]:
    """Turns as a store keeps them: of one key, the one read first."""
    turns: dict[str, Turn] = {}
    for _, batch in found:
        for turn in batch.turns:
            turns.setdefault(turn.key, turn)
    return list(turns.values())


def words(turn: Turn) -> str:
    return "\n".join(item.text for item in turn.items if isinstance(item, Text))


def everything(turn: Turn) -> str:
    return json.dumps(plain(turn), ensure_ascii=False)


def errors(turn: Turn) -> str:
    results = [item.result for item in turn.items if isinstance(item, Action) and item.result]
    return "\n".join(result.output for result in results if result.outcome is Outcome.FAILED)


def holding(turns: list[Turn], token: str, of: Callable[[Turn], str] = words) -> list[Turn]:
    return [turn for turn in turns if token in of(turn).replace('"', " ").split()]


# ---------------------------------------------------------------- small conversations, written here


def step(number: Any, kind: Any, content: Any = None, source: Any = "MODEL", **more: Any) -> dict[str, Any]:
    row = {"step_index": number, "source": source, "type": kind, "status": "DONE", "created_at": NOW, **more}
    return row if content is None else {**row, "content": content}


def asked(number: int, content: str, source: str = "USER_EXPLICIT") -> dict[str, Any]:
    return step(number, "USER_INPUT", f"<USER_REQUEST>\n{content}\n</USER_REQUEST>", source)


def called(number: int, *names: str, content: str | None = None, **args: Any) -> dict[str, Any]:
    return step(number, "PLANNER_RESPONSE", content, tool_calls=[{"name": name, "args": args} for name in names])


def whole(*rows: dict[str, Any], path: str = FULL, around: tuple[Record, ...] = ()) -> Batch:
    source = ADAPTER.classify(ROOT, path)
    assert source is not None
    lines = [Record(row, place * 100, place * 100 + 100, path) for place, row in enumerate(rows)]
    return read_whole(ADAPTER, source, [*lines, *around])


def said(batch: Batch) -> list[tuple[str, str]]:
    return [(turn.role.value, words(turn)) for turn in batch.turns]


def actions(batch: Batch) -> list[Action]:
    return [item for turn in batch.turns for item in turn.items if isinstance(item, Action)]


def outcomes(batch: Batch) -> list[tuple[str, str | None]]:
    return [(action.call.name, action.result.outcome.value if action.result else None) for action in actions(batch)]


# ---------------------------------------------------------------- where


def test_all_three_programs_are_found_under_the_home_folder() -> None:
    (root,) = ADAPTER.roots({"HOME": "/other"}, "/home/dev")
    assert root.path == "/home/dev/.gemini"
    assert {pattern.split("/")[0] for pattern in root.patterns} == {"antigravity-cli", "antigravity", "antigravity-ide"}


def test_a_named_folder_is_that_of_all_programs_or_of_one() -> None:
    assert ADAPTER.folder is not None
    (all_of_them,) = ADAPTER.folder("/backup/gemini")
    (one,) = ADAPTER.folder("/backup/gemini/antigravity-ide")
    assert all_of_them.path == one.path == "/backup/gemini"
    assert {pattern.split("/")[0] for pattern in one.patterns} == {"antigravity-ide"}


@pytest.mark.parametrize(
    ("path", "variant", "order"),
    [
        (FULL, "full", "0"),
        (CLIPPED, "clipped", "1"),
        (f"antigravity-ide/conversations/{CONVERSATION}.db", "database", "2"),
        (f"antigravity/brain/{CONVERSATION}/task.md", "artifact", "3"),
        (f"antigravity/brain/{CONVERSATION}/task.md.resolved.0", None, None),
        (f"antigravity/brain/{CONVERSATION}/.system_generated/messages/m1.json", None, None),
        (f"antigravity/conversations/{CONVERSATION}.pb", None, None),
        ("antigravity-cli/conversation_summaries.db", None, None),
        (f"tmp/brain/{CONVERSATION}/task.md", None, None),
    ],
)
def test_transcripts_databases_and_documents_are_sources(path: str, variant: str | None, order: str | None) -> None:
    source = ADAPTER.classify(ROOT, path)
    assert (source and source.variant, source and source.order) == (variant, order)
    assert source is None or source.session == CONVERSATION


def test_a_conversation_is_resumed_by_its_id() -> None:
    assert ADAPTER.resume is not None
    assert ADAPTER.resume(CONVERSATION, None) == ("agy", "--conversation", CONVERSATION)


# ---------------------------------------------------------------- a whole machine


@pytest.mark.parametrize(
    ("kind", "role"), [("user", Role.USER), ("assistant", Role.ASSISTANT), ("summary", Role.SUMMARY)]
)
def test_every_word_is_found_once_and_is_whose_it_is(home: Root, kind: str, role: Role) -> None:
    turns = stored(read(home))
    found = {token: [turn.role for turn in holding(turns, token)] for token in EXPECT[kind]}
    assert found == {token: [role] for token in EXPECT[kind]}


@pytest.mark.parametrize(("kind", "of"), [("tool_error", errors), ("tool_input", everything), ("thinking", everything)])
def test_errors_arguments_and_thoughts_are_found_once(home: Root, kind: str, of: Callable[[Turn], str]) -> None:
    turns = stored(read(home))
    assert {token: len(holding(turns, token, of)) for token in EXPECT[kind]} == dict.fromkeys(EXPECT[kind], 1)


def test_documents_are_found_as_they_are_now(home: Root) -> None:
    turns = stored(read(home))
    assert {token: [turn.role for turn in holding(turns, token)] for token in EXPECT["other_keep"]} == {
        "KEEP_ARTIFACT": [Role.ASSISTANT],
        "KEEP_ARTIFACT_old": [Role.ASSISTANT, Role.ASSISTANT],
    }
    assert not [turn for turn in turns if "old revision" in words(turn)]


def test_a_sub_agent_has_a_parent_and_is_never_the_user(home: Root) -> None:
    found = read(home)
    parents = {native: info for _, batch in found for native, info in batch.infos.items() if info.parent}
    assert {native: (info.parent, info.parent_kind) for native, info in parents.items()} == {CHILD: (MAIN, "subagent")}
    for token, role in (("KEEP_SUB_prompt", Role.TASK), ("KEEP_SUB_answer", Role.ASSISTANT)):
        (turn,) = holding(stored(found), token)
        assert (turn.role, turn.session) == (role, CHILD)


def test_injected_and_unfinished_words_are_nobodys(home: Root) -> None:
    turns = stored(read(home))
    for token in (*EXPECT["never_as_user"], *EXPECT["not_yet_complete"], *EXPECT["tool_output"]):
        assert holding(turns, token, everything) == []


def keys_of(home: Root, conversation: str) -> dict[str, list[str]]:
    """Keys of the steps that each copy of a conversation gives."""
    found = [(source, batch) for source, batch in read(home) if source.session == conversation]
    return {
        source.variant: [turn.key for turn in batch.turns if turn.key.startswith(conversation)]
        for source, batch in found
    }


def test_a_step_has_one_key_in_all_copies(home: Root) -> None:
    keys = {}
    for better, variant in ((None, "full"), ("transcript_full.jsonl", "clipped"), ("transcript.jsonl", "database")):
        for path in Path(home.path).rglob(better or "nothing"):
            path.unlink()
        keys[variant] = keys_of(home, MAIN)[variant]
    assert keys["full"] == keys["clipped"]
    assert keys["database"] == keys["full"][:1]


def test_of_a_lesser_copy_nothing_is_read_while_there_is_a_better_one(home: Root) -> None:
    copies = ("full", "clipped", "database")
    assert [bool(keys_of(home, MAIN)[copy]) for copy in copies] == [True, False, False]
    for name, readable in (
        ("transcript_full.jsonl", [False, True, False]),
        ("transcript.jsonl", [False, False, True]),
    ):
        for path in Path(home.path).rglob(name):
            path.write_bytes(b"")
        assert [bool(keys_of(home, MAIN)[copy]) for copy in copies] == readable


def test_the_full_transcript_wins_over_the_clipped_one(home: Root) -> None:
    (turn,) = holding(stored(read(home)), "KEEP_ASSIST_4")
    assert "<truncated" not in words(turn)


def test_each_conversation_has_its_folder(home: Root) -> None:
    folders = {native: info.cwd for _, batch in read(home) for native, info in batch.infos.items() if info.cwd}
    assert folders == dict.fromkeys((MAIN, PRINTED, CHILD), "/home/dev/orchid")


def test_a_machine_reads_as_it_was_read_before(home: Root) -> None:
    found = read(home)
    now = {
        "turns": [plain(turn) for turn in stored(found)],
        "sessions": [
            {name: value for name in SessionInfo.__slots__ if (value := getattr(info, name)) is not None}
            for _, batch in found
            for info in batch.infos.values()
        ],
        "counted": [dict(batch.tally) for _, batch in found if batch.tally],
    }
    golden = LOGS / "1.1.26.golden.json"
    if os.environ.get("RAW_RAG_WRITE_GOLDENS"):
        golden.write_text(json.dumps(now, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert now == json.loads(golden.read_text(encoding="utf-8"))


# ---------------------------------------------------------------- prompts


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        ("<USER_REQUEST>\nhi\nthere\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nx\n</ADDITIONAL_METADATA>", "hi\nthere"),
        ("<USER_REQUEST>hi</USER_REQUEST><USER_SETTINGS_CHANGE>x</USER_SETTINGS_CHANGE>", "hi"),
        ("<USER_REQUEST>a</USER_REQUEST>x<USER_REQUEST>b</USER_REQUEST>", "a\n\nb"),
        ("no wrapper", "no wrapper"),
        ("no wrapper\n<ADDITIONAL_METADATA>\nx\n</ADDITIONAL_METADATA>", "no wrapper"),
        ("<USER_REQUEST>\nlong and\n<truncated 3000 bytes>", "long and\n<truncated 3000 bytes>"),
        ("<USER_REQUEST>why <USER_SETTINGS_CHANGE>?</USER_REQUEST>", "why <USER_SETTINGS_CHANGE>?"),
        ("<ADDITIONAL_METADATA>only this", ""),
        ("<USER_REQUEST></USER_REQUEST>", ""),
    ],
)
def test_only_what_was_typed_is_left_of_a_prompt(content: str, typed: str) -> None:
    assert human_words(content) == typed


def test_a_prompt_without_words_is_no_turn() -> None:
    assert said(whole(asked(0, ""), step(1, "USER_INPUT", None, "USER_EXPLICIT"))) == []


def test_the_first_prompt_from_the_system_makes_a_sub_agent() -> None:
    batch = whole(
        asked(0, "count", "SYSTEM"),
        step(1, "SYSTEM_MESSAGE", f"[Message] sender={MAIN} go on", "SYSTEM"),
    )
    assert said(batch) == [("task", "count")]
    assert batch.infos[CONVERSATION].parent == MAIN


def test_a_later_prompt_from_the_system_makes_none() -> None:
    batch = whole(asked(0, "hello"), asked(1, "told", "SYSTEM"), step(2, "SYSTEM_MESSAGE", f"sender={MAIN}", "SYSTEM"))
    assert said(batch) == [("user", "hello"), ("task", "told")]
    assert batch.infos[CONVERSATION].parent is None


# ---------------------------------------------------------------- steps


def test_steps_are_read_in_their_order_whatever_the_lines_order_is() -> None:
    batch = whole(step(5, "PLANNER_RESPONSE", "two"), step(9, "PLANNER_RESPONSE", "three"), asked(0, "one"))
    assert [words for _, words in said(batch)] == ["one", "two", "three"]


def test_of_a_step_that_was_written_twice_the_last_line_counts() -> None:
    running = step(1, "RUN_COMMAND", "running", status="RUNNING")
    done = step(1, "RUN_COMMAND", "The command failed with exit code: 2\nOutput:\nboom")
    batch = whole(called(0, "run_command"), running, done)
    assert outcomes(batch) == [("run_command", "failed")]


def test_different_steps_of_one_number_are_both_kept() -> None:
    batch = whole(step(0, "PLANNER_RESPONSE", "a"), step(0, "CHECKPOINT", "b", "SYSTEM"))
    assert [turn.key for turn in batch.turns] == [f"{CONVERSATION}:0", f"{CONVERSATION}:0.1"]


def test_a_step_without_a_number_is_told_by_its_content() -> None:
    batch = whole(step("x", "PLANNER_RESPONSE", "a"), step(None, "PLANNER_RESPONSE", "b"))
    assert [words for _, words in said(batch)] == ["a", "b"]
    assert batch.turns[0].key != batch.turns[1].key


def test_a_step_that_only_thinks_goes_with_the_next_one() -> None:
    thinks = step(1, "PLANNER_RESPONSE", None, thinking="hm")
    batch = whole(asked(0, "go"), thinks, step(2, "PLANNER_RESPONSE", "done", thinking="ah"))
    assert batch.turns[1].items == [Thinking("hm"), Thinking("ah"), Text("done")]
    assert batch.turns[1].key == f"{CONVERSATION}:2"
    assert said(whole(asked(0, "go"), thinks)) == [("user", "go")]
    assert whole(asked(0, "go"), thinks, asked(3, "and?")).turns[1].items == [Thinking("hm")]


def test_the_first_time_is_the_start() -> None:
    assert whole(step(0, "CONVERSATION_HISTORY", source="SYSTEM"), asked(1, "a")).infos[CONVERSATION].started


@pytest.mark.parametrize("kind", ["CONVERSATION_HISTORY", "KNOWLEDGE_ARTIFACTS", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE"])
def test_injected_steps_are_ignored(kind: str) -> None:
    batch = whole(called(0, "run_command"), step(1, kind, "noise", "SYSTEM"))
    assert outcomes(batch) == [("run_command", None)]
    assert not batch.tally


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("content", "status", "outcome", "code"),
    [
        ("The command completed successfully.\nOutput:\nfailed with exit code: 3", "DONE", Outcome.OK, 0),
        ("Created At: x\nCompleted At: y\n\n\t\tThe command failed with exit code: 1", "DONE", Outcome.FAILED, 1),
        ("Command exited with code 2\nOutput:\nx", "DONE", Outcome.FAILED, 2),
        ("Command exited with code 0", "DONE", Outcome.OK, 0),
        ("Task id: task-12 is running in background", "RUNNING", Outcome.UNKNOWN, None),
        ("Encountered error in step execution: no", "ERROR", Outcome.FAILED, None),
        ("The user denied this command", "ERROR", Outcome.REJECTED, None),
        ("stopped", "CANCELLED", Outcome.INTERRUPTED, None),
        ("plain output", "DONE", Outcome.OK, None),
        (None, None, Outcome.OK, None),
    ],
)
def test_a_call_ended_as_its_words_and_status_say(
    content: str | None, status: str | None, outcome: Outcome, code: int | None
) -> None:
    (action,) = actions(whole(called(0, "run_command"), step(1, "RUN_COMMAND", content, status=status)))
    assert action.result is not None
    assert (action.result.outcome, action.result.exit_code) == (outcome, code)
    assert bool(action.result.output) == (outcome is Outcome.FAILED)


def test_the_output_of_a_failed_call_begins_behind_the_time_stamps() -> None:
    content = "Created At: x\nCompleted At: y\n\n\tThe command failed with exit code: 1\n\tOutput:\n\tboom\n"
    (action,) = actions(whole(called(0, "run_command"), step(1, "RUN_COMMAND", content)))
    assert action.result is not None
    assert action.result.output == "The command failed with exit code: 1\n\tOutput:\n\tboom"


def test_results_go_to_the_call_of_their_kind() -> None:
    batch = whole(
        called(0, "run_command", "view_file", "mcp_memory_recall", "run_command"),
        step(1, "GENERIC", "found", status="ERROR"),
        step(2, "VIEW_FILE", "file"),
        step(3, "RUN_COMMAND", "The command failed with exit code: 1"),
    )
    assert outcomes(batch) == [
        ("run_command", "failed"),
        ("view_file", "ok"),
        ("mcp_memory_recall", "failed"),
        ("run_command", None),
    ]


def test_a_result_of_an_unknown_type_goes_to_the_first_open_call_and_is_counted() -> None:
    batch = whole(called(0, "run_command"), step(1, "BROWSER_NAVIGATE", "opened"))
    assert outcomes(batch) == [("run_command", "ok")]
    assert dict(batch.tally) == {"unknown||step BROWSER_NAVIGATE": 1}


def test_calls_from_before_a_prompt_are_not_answered_after_it() -> None:
    batch = whole(called(0, "run_command"), asked(1, "stop"), step(2, "RUN_COMMAND", "late"))
    assert outcomes(batch) == [("run_command", None)]


def test_arguments_are_the_same_in_both_transcripts_and_without_labels() -> None:
    native = {"CommandLine": 'echo "1"', "Cwd": "/p", "Wait": 5, "toolAction": "Run", "toolSummary": "It runs"}
    encoded = {name: json.dumps(value) for name, value in native.items()}
    full = whole(step(0, "PLANNER_RESPONSE", tool_calls=[{"name": "default_api:run_command", "args": native}]))
    clipped = whole(step(0, "PLANNER_RESPONSE", tool_calls=[{"name": "run_command", "args": encoded}]), path=CLIPPED)
    assert actions(full)[0].call == actions(clipped)[0].call
    assert actions(full)[0].call.args == {"CommandLine": 'echo "1"', "Cwd": "/p", "Wait": 5}


def test_arguments_that_were_clipped_stay_as_they_are() -> None:
    calls = [{"name": "write_to_file", "args": {"CodeContent": '"import os\\n<trunc'}}]
    (action,) = actions(whole(step(0, "PLANNER_RESPONSE", tool_calls=calls), path=CLIPPED))
    assert action.call.args == {"CodeContent": '"import os\\n<trunc'}


@pytest.mark.parametrize(
    "content", ['{"conversationId":"%s","x":1}', "Conversation ID: %s", 'started "conversationId": "%s".']
)
def test_a_call_that_starts_a_sub_agent_names_its_conversation(content: str) -> None:
    batch = whole(called(0, "invoke_subagent"), step(1, "INVOKE_SUBAGENT", content % CHILD))
    assert batch.infos[CHILD] == SessionInfo(session=CHILD, parent=CONVERSATION, parent_kind="subagent")


# ---------------------------------------------------------------- folders


def file(origin: str, **data: Any) -> Record:
    return Record(data, origin=origin)


HISTORY = file("c/history.jsonl", conversationId=CONVERSATION, workspace="/from/history")
LAST = Record({"/from/last": CONVERSATION}, origin="c/cache/last_conversations.json")
LOG = file("c/log/cli-1.log", text=f'using project "/from/log" (id=x)\nCreated conversation {CONVERSATION}\n')
LOG_BY_ID = file("c/log/cli-1.log", text=f"project: using project ID: {MAIN}\nCreated conversation {CONVERSATION}\n")
RESOURCES = {"resources": [{"gitFolder": {"folderUri": "file:///a%20b"}}]}
PROJECT = file("config/projects/p.json", id=MAIN, projectResources=RESOURCES)
SCRATCH = "/home/dev/.gemini/antigravity-cli/scratch"


@pytest.mark.parametrize(
    ("around", "calls", "expected"),
    [
        ([LOG, LAST, HISTORY], [{"Cwd": "/from/call"}], "/from/history"),
        ([LOG, LAST], [{"Cwd": "/from/call"}], "/from/last"),
        ([LOG], [{"Cwd": "/from/call"}], "/from/log"),
        ([PROJECT, LOG_BY_ID], [], "/a b"),
        ([], [{"Cwd": SCRATCH}, {"Cwd": "/from/call/"}], "/from/call"),
        ([], [{"TargetFile": "/home/dev/p/a/x.py"}, {"AbsolutePath": "/home/dev/p/b/y.py"}], "/home/dev/p"),
        ([], [{"TargetFile": "/tmp/x.py"}, {"TargetFile": "/etc/y"}], "/tmp"),
        ([], [{"DirectoryPath": "/only/listed"}], "/only/listed"),
        ([], [{"Cwd": 5}, {"Cwd": "relative"}, {}], None),
        ([], [], None),
    ],
)
def test_the_folder_is_taken_from_the_surest_place(
    around: list[Record], calls: list[dict[str, Any]], expected: str | None
) -> None:
    assert folder_of(CONVERSATION, around, calls) == expected


@pytest.mark.parametrize("path", [SCRATCH, "/home/dev/.gemini", "", "x/y", None, 5, "/"])
def test_the_programs_own_folders_are_no_workspace(path: object) -> None:
    assert usable(path) is None


# ---------------------------------------------------------------- beside the transcript


def test_the_history_stands_in_for_empty_transcripts_once() -> None:
    rows = (
        file("c/history.jsonl", conversationId=CONVERSATION, workspace="/p", display="first", timestamp=1795176000000),
        file("c/history.jsonl", conversationId=MAIN, display="of another", timestamp=1795176000001),
        file("c/history.jsonl", conversationId=CONVERSATION, display="/mcp", type="slash_command"),
        file("c/history.jsonl", display="nobody's", timestamp=1795176000002),
    )
    batch = whole(path=CLIPPED, around=rows)
    assert said(batch) == [("user", "first")]
    assert batch.infos[CONVERSATION].cwd == "/p"
    assert said(whole(path=FULL, around=rows)) == []
    assert said(whole(asked(0, "typed"), path=CLIPPED, around=rows)) == [("user", "typed")]


def test_the_history_does_not_stand_in_for_transcripts_that_may_be_about_to_be_written() -> None:
    row = file("c/history.jsonl", conversationId=CONVERSATION, display="first", timestamp=1795176000000)
    assert said(whole(path=CLIPPED, around=(row,))) == []


def test_documents_stand_behind_the_steps_whoever_is_read_first(home: Root) -> None:
    orders = [[turn.key for turn in batch.turns] for source, batch in read(home) if source.session == MAIN]
    document = orders[0][-1]
    assert [order for order in orders if order] == [orders[0], [document]]
    plans = [[turn.key for turn in batch.turns] for source, batch in read(home) if source.session == DOCUMENTS]
    assert len(plans) == 2 and plans[0] == plans[1]


def test_a_document_that_was_written_over_keeps_its_key(tmp_path: Path) -> None:
    folder = tmp_path / "antigravity" / "brain" / CONVERSATION
    folder.mkdir(parents=True)
    (folder / "task.md.metadata.json").write_text('{"updatedAt": "2026-11-20T12:00:00Z"}', encoding="utf-8")
    root = ADAPTER.folder(str(tmp_path))[0] if ADAPTER.folder else ROOT
    turns = []
    for content in ("- [ ] one", "- [x] one"):
        (folder / "task.md").write_text(content, encoding="utf-8")
        turns += stored(read(root))
    assert [words(turn) for turn in turns] == ["- [ ] one", "- [x] one"]
    assert turns[0].key == turns[1].key
    assert turns[0].time == 1795176000000


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def test_words_and_times_are_read_from_a_database(tmp_path: Path) -> None:
    folder = tmp_path / "antigravity-cli" / "conversations"
    folder.mkdir(parents=True)
    prompt = field(1, 14) + field(19, field(1, b"\x08\x01") + field(2, "<USER_REQUEST>語?</USER_REQUEST>".encode()))
    answer = field(1, 15) + field(20, field(3, b"hm") + field(1, b"yes") + field(6, b"bot-1"))
    time = field(6, field(1, 1795176000) + field(2, 5))
    with closing(sqlite3.connect(folder / f"{CONVERSATION}.db")) as connection:
        connection.execute("CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_type, status, metadata, step_payload)")
        connection.execute("CREATE TABLE trajectory_metadata_blob (id, data)")
        rows = [(0, 14, 3, time, prompt), (2, 15, 3, None, answer), (3, 9, 3, None, answer), (4, 15, 3, None, b"\xff")]
        connection.executemany("INSERT INTO steps VALUES (?, ?, ?, ?, ?)", rows)
        blob = field(1, field(2, b"file:///home/dev/my%20project"))
        connection.execute("INSERT INTO trajectory_metadata_blob VALUES ('main', ?)", (blob,))
        connection.commit()
    (root,) = ADAPTER.folder(str(tmp_path)) if ADAPTER.folder else (ROOT,)
    ((source, batch),) = read(root)
    assert said(batch) == [("user", "語?"), ("assistant", "yes")]
    assert [turn.key for turn in batch.turns] == [f"{CONVERSATION}:0", f"{CONVERSATION}:2"]
    assert batch.turns[0].time == 1795176000000
    assert batch.infos[CONVERSATION].cwd == "/home/dev/my project"
    assert [session for _, session, _ in foreign_sessions(source, ADAPTER.families)] == [CONVERSATION]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE steps SET status = 3 WHERE idx = 1",
        "UPDATE steps SET step_payload = x'0011' WHERE idx = 1",
        "INSERT INTO steps VALUES (2, 15, 3, x'00')",
    ],
)
def test_a_change_of_a_step_changes_the_stamp(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.db"
    source = Source("antigravity", str(path), str(tmp_path), Shape.DATABASE, session=CONVERSATION)
    stamps = []
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE steps (idx INTEGER PRIMARY KEY, step_type, status, step_payload)")
        connection.execute("INSERT INTO steps VALUES (1, 15, 2, x'00')")
        for script in ("", change):
            connection.executescript(script)
            connection.commit()
            stamps.append(list(foreign_sessions(source, ADAPTER.families)))
    assert stamps[0] != stamps[1]
    assert {family for one in stamps for family, _, _ in one} == {"bare"}


@given(st.binary(max_size=64))
def test_no_bytes_break_the_field_walker(blob: bytes) -> None:
    for read_field in (proto.prompt_words, proto.answer_words, proto.step_time, proto.workspace):
        read_field(blob)
    assert sum(len(value) for _, value in proto.fields(blob) if isinstance(value, bytes)) <= len(blob)


# ---------------------------------------------------------------- hostile lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**13) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(
    [
        "USER_INPUT",
        "PLANNER_RESPONSE",
        "RUN_COMMAND",
        "CHECKPOINT",
        "SYSTEM_MESSAGE",
        "INVOKE_SUBAGENT",
        "GENERIC",
        "ODD",
    ]
)
NAMES = st.sampled_from(
    [
        "step_index",
        "source",
        "type",
        "status",
        "created_at",
        "content",
        "thinking",
        "tool_calls",
        "name",
        "args",
        "Cwd",
        "display",
        "timestamp",
        "idx",
        "step_type",
        "step_payload",
        "metadata",
        "workspace",
        "conversationId",
        "blob",
        "updatedAt",
        "kind",
        "data",
        "text",
        "cwd",
    ]
)
CALLS = st.lists(st.fixed_dictionaries({"name": JSON, "args": JSON | st.dictionaries(NAMES, JSON)}) | JSON, max_size=3)
LINES = st.fixed_dictionaries(
    {"type": KINDS | JSON},
    optional={
        "tool_calls": CALLS,
        "source": st.sampled_from(["MODEL", "SYSTEM"]) | JSON,
        "step_index": st.integers(0, 3),
    },
) | st.dictionaries(NAMES, JSON, max_size=6)
ORIGINS = st.sampled_from([FULL, CLIPPED, "c/history.jsonl", "c/log/x.log", "c/cache/last_conversations.json", "x.md"])


@given(st.lists(st.tuples(LINES, ORIGINS), max_size=6), st.sampled_from([FULL, CLIPPED]))
def test_no_value_in_any_field_breaks_the_reading(lines: list[tuple[dict[str, Any], str]], path: str) -> None:
    batch = whole(path=path, around=tuple(Record(data, origin=origin) for data, origin in lines))
    assert not [name for name in batch.tally if "parse-" in name]


@given(st.lists(LINES, max_size=4), st.sampled_from(["steps", "bare", f"antigravity/brain/{CONVERSATION}/a.md"]))
def test_no_row_or_document_breaks_the_reading(lines: list[dict[str, Any]], origin: str) -> None:
    rows = [Record({"kind": kind, **data}, origin=origin) for data in lines for kind in ("row", "metadata")]
    source = Source("antigravity", "/d/a.db", "/d", Shape.DATABASE, session=CONVERSATION)
    assert not [name for name in read_whole(ADAPTER, source, [*rows]).tally if "parse-" in name]
