"""omp and pi sessions of every generation: whose words they are, each once, and that any split of a file reads the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.adapters.base import Root
from agent_raw_rag.adapters.omp import ADAPTER
from agent_raw_rag.ingest.reading import Batch, Cursor, read_batches, start_cursor
from agent_raw_rag.models import Action, BadRecord, Image, Outcome, Record, Role, SessionInfo, Source, Turn
from agent_raw_rag.sources.lines import read_lines
from tests.support import line_batches, plain, sources_in, turns_of

LOGS = Path(__file__).parents[1] / "logs" / "omp"
VERSIONS = ("omp-18", "pi-0.87", "pi-1.6", "pi-v1")
EXPECT: dict[str, list[str]] = json.loads((LOGS / "expect.json").read_text(encoding="utf-8"))
HOSTILE = {"KEEP_USER_11", "KEEP_USER_12", "KEEP_ASSIST_11"}
"""Sentinels of the hostile file, which a test below writes itself."""
MAIN = "01a20000-1111-7000-8000-000000000001"
NOW = "2026-11-20T09:00:00.000Z"


# ---------------------------------------------------------------- small sessions, written here


def entry(type_: str, **more: Any) -> dict[str, Any]:
    return {"type": type_, "timestamp": NOW, **more}


def header(session: str = "s1", **more: Any) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": session, "timestamp": NOW, "cwd": "/work", **more}


def message(role: str, content: Any = None, at: str = NOW, id_: str | None = None, **more: Any) -> dict[str, Any]:
    held = {"role": role, "content": content, **{key: value for key, value in more.items() if key != "parentId"}}
    found: dict[str, Any] = {"type": "message", "timestamp": at, "message": held}
    if id_ is not None:
        found.update(id=id_, parentId=more.get("parentId"))
    return found


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def tool(name: str = "bash", call: str = "c1") -> list[dict[str, Any]]:
    return [{"type": "toolCall", "id": call, "name": name, "arguments": {"command": "make"}}]


def source(relative: str = "-work/2026-11-20T11-00-00-000Z_s1.jsonl") -> Source:
    found = ADAPTER.classify(Root("/sessions", ()), relative)
    assert found is not None
    return found


def records(rows: Iterable[dict[str, Any]]) -> list[Record | BadRecord]:
    return [Record(one, number * 100, number * 100 + 100) for number, one in enumerate(rows)]


def batch(*rows: dict[str, Any], of: Source | None = None) -> Batch:
    (only,) = read_batches(ADAPTER, records(rows), start_cursor(ADAPTER, of or source()))
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


# ---------------------------------------------------------------- the fixtures, read once


@cache
def fixture_batches() -> dict[str, list[Batch]]:
    found = {}
    for version in VERSIONS:
        for one in sources_in(ADAPTER, Root(str(LOGS / version), ("sessions/**/*.jsonl",))):
            found[one.path] = list(line_batches(ADAPTER, one))
    return found


def fixture_turns() -> list[Turn]:
    """All turns of all sessions, copies collapsed."""
    return list({turn.key: turn for batches in fixture_batches().values() for turn in turns_of(batches)}.values())


def of_session(session: str) -> list[Turn]:
    return [turn for batches in fixture_batches().values() for turn in turns_of(batches) if turn.session == session]


def holding(token: str, found: Iterable[Turn]) -> list[Turn]:
    exact = re.compile(rf"{token}(?![A-Za-z0-9_])")
    return [turn for turn in found if any(exact.search(one) for one in words(turn))]


def info(session: str) -> SessionInfo:
    return next(b.infos[session] for batches in fixture_batches().values() for b in batches if session in b.infos)


@pytest.mark.parametrize("token", sorted(set(EXPECT["user"]) - HOSTILE))
def test_each_human_prompt_is_one_user_turn(token: str) -> None:
    assert [turn.role for turn in holding(token, fixture_turns())] == [Role.USER]


@pytest.mark.parametrize("token", sorted({*EXPECT["assistant"], *EXPECT["thinking"], *EXPECT["index_once"]} - HOSTILE))
def test_each_answer_is_in_one_assistant_turn(token: str) -> None:
    assert [turn.role for turn in holding(token, fixture_turns())] == [Role.ASSISTANT]


@pytest.mark.parametrize("token", EXPECT["summary"])
def test_compactions_and_branch_summaries_are_summaries(token: str) -> None:
    assert [turn.role for turn in holding(token, fixture_turns())] == [Role.SUMMARY]


@pytest.mark.parametrize("token", EXPECT["never_as_user"])
def test_what_the_harness_put_in_is_nobodys(token: str) -> None:
    assert holding(token, fixture_turns()) == []


@pytest.mark.parametrize("token", EXPECT["tool_error"])
def test_a_failed_call_keeps_its_output_and_its_exit_code(token: str) -> None:
    made = [one for turn in fixture_turns() for one in turn.items if isinstance(one, Action)]
    (found,) = [one for one in made if one.result and re.search(rf"{token}(?!\d)", one.result.output)]
    assert found.result is not None
    assert found.result.outcome is Outcome.FAILED
    assert found.result.exit_code


def test_a_sub_agents_order_stands_in_a_session_with_a_parent() -> None:
    (turn,) = holding("KEEP_SUB_prompt", fixture_turns())
    assert turn.role is Role.TASK
    assert (info(turn.session).parent, info(turn.session).parent_kind) == (MAIN, "subagent")


@pytest.mark.parametrize(
    ("fork", "parent"),
    [
        ("01a20000-1111-7000-8000-000000000002", MAIN),
        ("01a20000-2222-7000-8000-000000000002", "01a20000-2222-7000-8000-000000000001"),
    ],
)
def test_a_fork_has_its_parents_keys_for_what_was_copied_and_names_its_parent(fork: str, parent: str) -> None:
    shared = {turn.key for turn in of_session(fork)} & {turn.key for turn in of_session(parent)}
    assert len(shared) == len(of_session(fork)) - 2
    assert (info(fork).parent, info(fork).parent_kind) == (parent, "fork")


def test_a_branch_begins_at_the_entry_that_it_answers() -> None:
    (left,) = holding("KEEP_ASSIST_2", of_session(MAIN))
    (summary,) = holding("KEEP_SUM_1", of_session(MAIN))
    assert summary.branch_from == left.record_ids[-1]
    assert [turn.branch_from for turn in of_session(MAIN) if turn is not summary] == [None] * (
        len(of_session(MAIN)) - 1
    )


def test_a_file_with_nothing_but_a_title_slot_has_no_turns_and_no_session() -> None:
    (path,) = [path for path in fixture_batches() if path.endswith("_empty.jsonl")]
    assert [(one.turns, one.infos) for one in fixture_batches()[path]] == [([], {})]


def test_a_session_knows_its_place_title_and_start() -> None:
    found = info(MAIN)
    assert (found.cwd, found.title, found.version, found.started) == (
        "/home/dev/orchid",
        "Async scheduler",
        "v3",
        1795172400000,
    )


def test_unknown_types_are_counted_by_name_and_version() -> None:
    tallies = [dict(batches[-1].tally) for batches in fixture_batches().values() if batches[-1].tally]
    assert tallies == [{"unknown|v3|warp_core": 1}]


@pytest.mark.parametrize("golden", sorted(LOGS.rglob("*.turns.json")), ids=lambda path: path.name[-30:-11])
def test_fixtures_read_as_their_goldens_say(golden: Path) -> None:
    batches = fixture_batches()[str(golden).removesuffix(".turns.json") + ".jsonl"]
    assert [plain(turn) for turn in turns_of(batches)] == json.loads(golden.read_text(encoding="utf-8"))


def test_a_hostile_file_costs_only_what_is_broken_in_it(tmp_path: Path) -> None:
    rows = [
        header(),
        message("user", text("KEEP_USER_11 big"), id_="a"),
        message("assistant", tool(), id_="b", parentId="a"),
        message("toolResult", text("x" * (2 << 20)), id_="c", parentId="b", toolCallId="c1", toolName="bash"),
        {
            "type": "message",
            "id": "zz",
            "parentId": "nowhere",
            "message": {"role": "user", "content": text("KEEP_USER_12")},
        },
        message("assistant", text("KEEP_ASSIST_11"), id_="zz", parentId="zz"),
    ]
    path = tmp_path / "2026-11-20T11-00-00-000Z_s1.jsonl"
    path.write_bytes(b"\n".join([*map(orjson.dumps, rows), b"not json at all", b'{"type":"message","KEEP_PARTIAL']))
    batches = list(read_batches(ADAPTER, read_lines(str(path)), start_cursor(ADAPTER, source())))
    found = turns_of(batches)
    assert [(turn.role.value, turn.branch_from) for turn in found] == [
        ("user", None), ("assistant", None), ("user", "nowhere"), ("assistant", None),
    ]  # fmt: skip
    assert found[2].time is None
    assert dict(batches[-1].tally) == {"skipped|v3|json": 1}


# ---------------------------------------------------------------- who is human


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (message("user", text("fix it")), [("user", "fix it")]),
        (message("user", "fix it", attribution="user"), [("user", "fix it")]),
        (message("user", "go on", attribution="agent"), [("task", "go on")]),
        (message("user", [*text("look"), {"type": "image", "data": "blob:sha256:ab"}]), [("user", "look <image>")]),
        (message("user", ""), []),
        (message("user", None), []),
        (message("developer", text("<system-reminder>x</system-reminder>")), []),
        (message("system", "", sections={"preamble": "x"}), []),
        (message("custom", "x", display=True), []),
        (message("hookMessage", "x"), []),
        (message("fileMention", files=[{"content": "x"}]), []),
        (entry("custom_message", content="x", attribution="user"), []),
        (entry("context_edit", targetId="a", replacement=text("x")), []),
        (entry("session_init", task="x", systemPrompt="x"), []),
        (message("bashExecution", command="make", exitCode=0, output="x"), [("user", "! make")]),
        (message("bashExecution", command="make", exitCode=2, output="x"), [("user", "! make (exit 2)")]),
        (message("bashExecution", command="make", exitCode=2, excludeFromContext=True), []),
        (message("pythonExecution", code="print(1)", exitCode=0), [("user", "! print(1)")]),
        (entry("compaction", summary="so far", systemMessage={"content": "x"}), [("summary", "so far")]),
        (entry("branch_summary", summary="dropped"), [("summary", "dropped")]),
        (entry("compaction", summary=None), []),
        (message("assistant", [], stopReason="error", errorMessage="429"), []),
        (message("assistant", [{"type": "thinking", "thinking": "hm"}, *text("yes")]), [("assistant", "hm yes")]),
        (message("assistant", [{"type": "thinking", "thinking": "", "redacted": True}]), []),
    ],
)
def test_a_role_says_whose_words_they_are(row: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert turns(header(), row) == expected


@pytest.mark.parametrize("kind", ["warp_core", "", None, 7, ["message"], {"a": 1}])
def test_a_type_never_seen_before_is_counted(kind: Any) -> None:
    (name,) = batch(header(), entry(kind)).tally
    assert name.startswith("unknown|v3|")


def test_a_role_never_seen_before_is_counted() -> None:
    assert dict(batch(header(), message("oracle", "x")).tally) == {"unknown|v3|message/oracle": 1}


# ---------------------------------------------------------------- identity


def test_entry_ids_given_later_by_a_migration_do_not_change_a_turn() -> None:
    before = batch(message("user", "go on"), message("assistant", text("ok"), at="2026-11-20T09:00:01.000Z")).turns
    rows = [message("user", "go on", id_="a"), message("assistant", text("ok"), at="2026-11-20T09:00:01.000Z", id_="b")]
    assert [turn.key for turn in batch(header(), *rows).turns] == [turn.key for turn in before]


def test_equal_words_at_another_time_are_another_turn() -> None:
    found = batch(header(), message("user", "go on"), message("user", "go on", at="2026-11-20T09:00:01.000Z")).turns
    assert len({turn.key for turn in found}) == 2


def test_words_without_a_time_belong_to_their_session_and_entry() -> None:
    orphan = {"type": "message", "message": {"role": "user", "content": "yes"}}
    found = [batch(header(session), {**orphan, "id": id_}).turns[0].key for session in ("s1", "s2") for id_ in "ab"]
    assert len(set(found)) == 4


# ---------------------------------------------------------------- the tree


def test_a_branch_that_begins_with_an_entry_without_words_is_still_one() -> None:
    rows = [
        message("user", "a", id_="1"),
        message("assistant", text("b"), id_="2", parentId="1"),
        message("user", "c", id_="3", parentId="2"),
        entry("model_change", id="4", parentId="2"),
        message("user", "d", id_="5", parentId="4"),
        message("assistant", text("e"), id_="6", parentId="5"),
    ]
    found = batch(header(), *rows).turns
    assert [turn.branch_from for turn in found] == [None, None, None, "2", None]
    assert found[2].trail == ["3", "4"]


def test_a_second_root_is_no_branch() -> None:
    rows = [message("user", "a", id_="1"), message("user", "b", id_="2", parentId=None)]
    assert [turn.branch_from for turn in batch(header(), *rows).turns] == [None, None]


# ---------------------------------------------------------------- sessions


@pytest.mark.parametrize(
    ("named", "parent"),
    [
        ("s0", "s0"),
        ("/home/me/.pi/agent/sessions/--w--/2026-11-20T11-00-00-000Z_s0.jsonl", "s0"),
        ("C:\\sessions\\2026-11-20T11-00-00-000Z_my_own_id.jsonl", "my_own_id"),
        ("", None),
        (None, None),
        ("s1", None),
    ],
)
def test_a_fork_names_its_parent_by_id_or_by_path(named: Any, parent: str | None) -> None:
    found = batch(header(parentSession=named)).infos["s1"]
    assert (found.parent, found.parent_kind) == (parent, "fork" if parent else None)


def test_a_sub_agent_with_its_parents_id_is_a_session_of_its_own() -> None:
    helper = source("-work/2026-11-20T11-00-00-000Z_s1/Helper.jsonl")
    found = batch({"type": "title", "title": "t"}, header("s1"), message("user", "count"), of=helper)
    assert [(turn.session, turn.role) for turn in found.turns] == [("s1/Helper", Role.TASK)]
    assert (found.infos["s1/Helper"].parent, found.infos["s1/Helper"].title) == ("s1", "t")


def test_a_sub_agents_title_slot_makes_no_session_of_its_own() -> None:
    helper = source("-work/2026-11-20T11-00-00-000Z_s1/Helper.jsonl")
    assert list(batch({"type": "title", "title": "t"}, header("s2"), of=helper).infos) == ["s2"]


def test_the_last_title_counts() -> None:
    slot, change = {"type": "title", "title": "first"}, entry("title_change", title="second")
    assert batch(slot, header(title="first"), change, entry("session_info", name="third")).infos["s1"].title == "third"
    assert [
        event.title for event in ADAPTER.parse(Record(slot), ADAPTER.start(source())) if isinstance(event, SessionInfo)
    ] == ["first"]


def test_a_second_header_changes_nothing() -> None:
    found = batch(header(), header("s9", cwd="/other"), message("user", "a"))
    assert [turn.session for turn in found.turns] == ["s1"]
    assert found.infos["s1"].cwd == "/work"


# ---------------------------------------------------------------- how calls ended


@pytest.mark.parametrize(
    ("result", "outcome", "code"),
    [
        ({"content": text("fine"), "isError": False}, "ok", None),
        ({"content": text("fine"), "isError": False, "details": {"exitCode": 0}}, "ok", 0),
        ({"content": text("bad"), "isError": True, "details": {"exitCode": 3}}, "failed", 3),
        ({"content": text("bad"), "isError": False, "details": {"exitCode": 3}}, "failed", 3),
        ({"content": text("bad\n\n\nCommand exited with code 2"), "isError": True}, "failed", 2),
        ({"content": text("bad\n\n\nCommand exited with code 2"), "toolName": "bash"}, "failed", 2),
        ({"content": text("a log: Command exited with code 2"), "toolName": "read", "isError": False}, "ok", None),
        ({"content": text("no such file"), "isError": True}, "failed", None),
        ({"content": text("some output\n\n\nCommand aborted"), "isError": True}, "interrupted", None),
        ({"content": text("Tool call denied by user"), "isError": True}, "rejected", None),
        ({"content": "a string", "isError": True}, "failed", None),
        ({"content": None, "isError": True}, "failed", None),
        ({"content": [{"type": "image", "data": "AA"}], "isError": False}, "ok", None),
    ],
)
def test_a_result_tells_how_its_call_ended(result: dict[str, Any], outcome: str, code: int | None) -> None:
    rows = [
        message("assistant", tool()),
        {**message("toolResult"), "message": {"role": "toolResult", "toolCallId": "c1", **result}},
    ]
    ((made,),) = [turn.items for turn in batch(header(), *rows).turns]
    assert isinstance(made, Action)
    assert made.result is not None
    assert (made.result.outcome.value, made.result.exit_code) == (outcome, code)
    assert bool(made.result.output) == (outcome == "failed" and bool(result["content"]))


@pytest.mark.parametrize("reason", ["aborted", "error"])
def test_the_calls_of_a_message_that_was_cut_off_never_ran(reason: str) -> None:
    ((made,),) = [turn.items for turn in batch(header(), message("assistant", tool(), stopReason=reason)).turns]
    assert isinstance(made, Action)
    assert made.result is not None
    assert made.result.outcome is Outcome.INTERRUPTED


# ---------------------------------------------------------------- where the files are


@pytest.mark.parametrize(
    ("env", "paths"),
    [
        ({}, ["/home/me/.omp", "/home/me/.local/share/omp/sessions", "/home/me/.pi/agent"]),
        ({"PI_CODING_AGENT_DIR": "/a/"}, ["/a", "/home/me/.local/share/omp/sessions"]),
        ({"PI_CONFIG_DIR": ".mine"}, ["/home/me/.mine", "/home/me/.local/share/omp/sessions", "/home/me/.pi/agent"]),
        ({"XDG_DATA_HOME": "/x"}, ["/home/me/.omp", "/x/omp/sessions", "/home/me/.pi/agent"]),
        ({"PI_CODING_AGENT_SESSION_DIR": "~/s"}, ["/home/me/.omp", "/home/me/.local/share/omp/sessions", "/home/me/s"]),
    ],
)
def test_the_data_folders_move_with_their_variables(env: dict[str, str], paths: list[str]) -> None:
    assert [root.path for root in ADAPTER.roots(env, "/home/me")] == paths


def test_all_profiles_are_read(tmp_path: Path) -> None:
    for folder in ("agent", "profiles/work/agent"):
        (tmp_path / ".omp" / folder / "sessions" / "-").mkdir(parents=True)
        (tmp_path / ".omp" / folder / "sessions" / "-" / "2026-11-20T11-00-00-000Z_s1.jsonl").touch()
    (root, *_) = ADAPTER.roots({}, str(tmp_path))
    assert len(sources_in(ADAPTER, root)) == 2


@pytest.mark.parametrize(
    ("relative", "session", "parent"),
    [
        ("sessions/-w/2026-11-20T11-00-00-000Z_s1.jsonl", "s1", None),
        ("sessions/-w/2026-11-20T11-00-00-000Z_my_own_id.jsonl", "my_own_id", None),
        ("2026-11-20T11-00-00-000Z_s1.jsonl", "s1", None),
        ("sessions/-w/odd.jsonl", "odd", None),
        ("sessions/-w/2026-11-20T11-00-00-000Z_s1/Helper.jsonl", "s1/Helper", "s1"),
        ("sessions/-w/2026-11-20T11-00-00-000Z_s1/Helper/Inner.jsonl", "s1/Helper/Inner", "s1"),
        ("sessions/-w/2026-11-20T11-00-00-000Z_s1/1.bash.log", None, None),
        ("sessions/-w/2026-11-20T11-00-00-000Z_s1.jsonl.bak", None, None),
        ("sessions/-w/2026-11-20T11-00-00-000Z_s1.bak.jsonl", None, None),
        ("sessions/-w/2026-11-20T11-00-00-000Z_s1.lock.jsonl", None, None),
        ("sessions/history.jsonl", None, None),
    ],
)
def test_only_session_files_are_conversations(relative: str, session: str | None, parent: str | None) -> None:
    found = ADAPTER.classify(Root("/omp", ()), relative)
    assert ((found.session, found.parent) if found else (None, None)) == (session, parent)


def test_parents_are_read_before_sub_agents_and_forks() -> None:
    names = [
        "2026-11-20T11-00-00-000Z_s1.jsonl",
        "2026-11-20T11-00-00-000Z_s1/Helper.jsonl",
        "2026-11-20T12-00-00-000Z_s2.jsonl",
    ]
    found = [source(f"-w/{name}") for name in reversed(names)]
    assert [one.path.removeprefix("/sessions/-w/") for one in sorted(found, key=lambda one: one.order)] == names


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/home/dev/.omp/agent/sessions/-w/2026_s1.jsonl", ("omp", "--resume", "s1")),
        ("/home/dev/.pi/agent/sessions/--home-dev-w--/2026_s1.jsonl", ("pi", "--session", "s1")),
        ("C:\\Users\\dev\\.pi\\agent\\sessions\\--C--w--\\2026_s1.jsonl", ("pi", "--session", "s1")),
        ("/mnt/moved/sessions/-w/2026_s1.jsonl", ("omp", "--resume", "s1")),
        (None, ("omp", "--resume", "s1")),
    ],
)
def test_a_session_is_reopened_by_the_program_whose_folder_its_log_lies_in(
    path: str | None, words: tuple[str, ...]
) -> None:
    assert ADAPTER.resume is not None
    assert ADAPTER.resume("s1", path) == words


# ---------------------------------------------------------------- laws


def in_pieces(one: Source, found: list[Record | BadRecord], cuts: list[int]) -> dict[tuple[str, str], Any]:
    """The turns as a store would hold them after reading the file up to each cut, and then its rest."""
    held: dict[tuple[str, str], Any] = {}
    cursor = start_cursor(ADAPTER, one)
    for cut in [*sorted(cuts), len(found)]:
        rest = [record for record in found[:cut] if record.start >= cursor.offset]
        for part in read_batches(ADAPTER, rest, cursor):
            held.update(
                {
                    (turn.session, turn.key): (plain(turn), turn.start, turn.end, turn.branch_from, turn.record_ids)
                    for turn in part.turns
                }
            )
            end = part.cursor
        cursor = Cursor(end.offset, end.done, orjson.loads(orjson.dumps(end.state)), end.tally)
    return held


@st.composite
def sessions(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A tree of entries that grows at its leaf, and now and then at another place."""
    rows = [header()]
    for number in range(draw(st.integers(0, 30))):
        at = f"2026-11-20T09:{number:02}:00.000Z"
        parent = (
            draw(st.sampled_from([*(row["id"] for row in rows[1:]), None]))
            if draw(st.integers(0, 5)) == 0
            else rows[-1]["id"]
        )
        kind = draw(st.integers(0, 6))
        made = [
            message("user", "go on", at),
            message("assistant", text("ok"), at),
            message("assistant", [*text("look"), *tool(call=f"c{number % 3}")], at),
            message("toolResult", text("bad"), at, toolCallId=f"c{draw(st.integers(0, 3))}", isError=True),
            {**entry("compaction", summary="so far"), "timestamp": at},
            {**entry("label"), "timestamp": at},
            message("assistant", tool(call="c3"), at, stopReason="aborted"),
        ][kind]
        rows.append({**made, "id": f"e{number}", "parentId": parent if number else None})
    return rows


@given(sessions(), st.lists(st.integers(0, 30), max_size=4))
def test_a_session_read_in_pieces_is_the_session_read_whole(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    found = records(rows)
    assert in_pieces(source(), found, [min(cut, len(found)) for cut in cuts]) == in_pieces(source(), found, [])


@settings(max_examples=25)
@given(st.data())
def test_fixtures_read_in_pieces_are_the_fixtures_read_whole(data: st.DataObject) -> None:
    found = list(read_lines(data.draw(st.sampled_from(sorted(fixture_batches())))))
    cuts = data.draw(st.lists(st.integers(0, len(found)), max_size=5))
    assert in_pieces(source(), found, cuts) == in_pieces(source(), found, [])


ROLES = st.sampled_from(["user", "assistant", "toolResult", "bashExecution", "pythonExecution", "system"])
TYPES = st.sampled_from(["message", "session", "title", "compaction", "branch_summary", "session_init", "session_info"])
BLOCKS = st.sampled_from(["text", "thinking", "toolCall", "image"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | BLOCKS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "id", "name"]), inner),
    max_leaves=6,
)
HELD = st.dictionaries(
    st.sampled_from(
        ["role", "content", "toolCallId", "toolName", "isError", "details", "command", "code", "exitCode", "attribution",
         "stopReason", "timestamp", "excludeFromContext"]
    ),
    JSON | ROLES,
)  # fmt: skip
ENTRY = st.dictionaries(
    st.sampled_from(
        [
            "type",
            "id",
            "parentId",
            "timestamp",
            "message",
            "summary",
            "title",
            "name",
            "cwd",
            "version",
            "parentSession",
        ]
    ),
    JSON | TYPES | HELD,
)


@given(st.lists(ENTRY, max_size=4))
def test_no_value_in_any_field_breaks_the_reading(rows: list[dict[str, Any]]) -> None:
    state = ADAPTER.start(source())
    for row in rows:
        list(ADAPTER.parse(Record(row), state))
        list(ADAPTER.parse(Record({**row, "type": "message"}), state))
    assert isinstance(state["session"], str)
