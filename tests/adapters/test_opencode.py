"""OpenCode's stores of every generation: the same words once, whatever tables or files they lie in."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.adapters._opencode_items import unquoted
from agent_raw_rag.adapters.base import Root
from agent_raw_rag.adapters.opencode import ADAPTER
from agent_raw_rag.ingest.reading import Batch, Mark, read_whole
from agent_raw_rag.models import (
    Action,
    Image,
    Outcome,
    Record,
    Role,
    Rollback,
    SessionInfo,
    Shape,
    Source,
    Text,
    Thinking,
    Turn,
)
from agent_raw_rag.sources.document import read_document
from agent_raw_rag.sources.foreign import foreign_sessions, read_session
from tests.support import plain, sources_in

LOGS = Path(__file__).parents[1] / "logs" / "opencode"
EXPECT: dict[str, list[str]] = json.loads((LOGS / "expect.json").read_text(encoding="utf-8"))
T0 = 1795170000000
ROOT_SESSION = "ses_dd34a69c7ffeFixtureRootSess01"
FORK = "ses_dd34a2248ffeFixtureFork00001"
NATIVE = "ses_ab3494b8affeFixtureV2Native01"
NATIVE_FORK = "ses_ab3494b8affeFixtureV2Fork0001"

STORES = {
    "1.18.33": ("1.18.33/opencode.sql", None),
    "1.2.1": ("1.2.1/opencode.sql", "1.1.65"),
    "2.0.12-upgraded": ("2.0.12-upgraded/opencode.sql", None),
    "2.0.12": ("2.0.12/opencode.sql", None),
    "1.1.65": (None, "1.1.65"),
    "0.5.29": (None, "0.5.29"),
}
"""Version -> dump of its database, and the tree of JSON files that lies beside it."""


def store(folder: Path, version: str) -> Root:
    """The data folder of a version, as the agent would have left it."""
    dump, tree = STORES[version]
    if tree:
        shutil.copytree(LOGS / tree, folder / "opencode")
    if dump:
        (folder / "opencode").mkdir(parents=True, exist_ok=True)
        write(folder / "opencode" / "opencode.db", (LOGS / dump).read_text(encoding="utf-8"))
    (root,) = ADAPTER.roots({"XDG_DATA_HOME": str(folder)}, "/nowhere")
    return root


def write(database: Path, script: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.executescript(script)


def read(root: Root) -> list[Batch]:
    batches = []
    for source in sources_in(ADAPTER, root):
        if source.shape is Shape.DOCUMENT:
            batches.append(read_whole(ADAPTER, source, read_document(source)))
        else:
            for family, session, _ in foreign_sessions(source, ADAPTER.families):
                batches.append(read_whole(ADAPTER, source, read_session(source, ADAPTER.families, family, session)))
    return batches


def stored(batches: list[Batch]) -> dict[str, Turn]:
    """Turns as a store keeps them: of one key, the one read first."""
    turns: dict[str, Turn] = {}
    for batch in batches:
        for turn in batch.turns:
            turns.setdefault(turn.key, turn)
    return turns


def words(turn: Turn) -> str:
    return "\n".join(item.text for item in turn.items if isinstance(item, Text))


def errors(turn: Turn) -> str:
    return "\n".join(
        item.result.output
        for item in turn.items
        if isinstance(item, Action) and item.result and item.result.outcome is Outcome.FAILED
    )


def everything(turn: Turn) -> str:
    return json.dumps(plain(turn), ensure_ascii=False)


def holding(turns: dict[str, Turn], token: str, of: Callable[[Turn], str] = words) -> list[Turn]:
    """Turns that hold a token as a whole word: ``KEEP_USER_2`` is not in ``KEEP_USER_20``."""
    return [turn for turn in turns.values() if token in of(turn).replace(":", " ").replace('"', " ").split()]


def parents(batches: list[Batch]) -> dict[str, tuple[str | None, str | None]]:
    return {native: (info.parent, info.parent_kind) for batch in batches for native, info in batch.infos.items()}


# ---------------------------------------------------------------- small stores, written here


def head(**facts: Any) -> Record:
    return Record({"kind": "session", "id": "ses_1", "directory": "/p", **facts}, origin="v1")


def old(
    number: str, role: str, *parts: dict[str, Any], at: int | None = T0, done: bool = True, **info: Any
) -> list[Record]:
    """A message of 1.x and its parts, as rows."""
    time: dict[str, Any] = {"created": at} if at is not None else {}
    time |= {"completed": at} if done and role == "assistant" else {}
    message = {"kind": "message", "id": number, "session_id": "ses_1", "time_created": at}
    rows = [message | {"data_json": {"role": role, "time": time, **info}}]
    rows += [
        {"kind": "part", "id": f"{number}-{place}", "message_id": number, "data_json": part}
        for place, part in enumerate(parts)
    ]
    return [Record(row, origin="v1") for row in rows]


def new(number: str, kind: str, seq: int, at: int = T0, done: bool = True, **data: Any) -> Record:
    """A row of 2.x."""
    time = {"created": at} | ({"completed": at} if done and kind == "assistant" else {})
    row = {"kind": "row", "id": number, "session_id": "ses_1", "type": kind, "seq": seq, "time_created": at}
    return Record(row | {"data_json": {"time": time, **data}}, origin="v2")


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": content, **more}


def thought(content: str) -> dict[str, Any]:
    return {"type": "reasoning", "text": content}


def tool(status: str = "completed", name: str = "bash", call: str = "call_1", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": name, "callID": call, "state": {"status": status, "input": {}, **state}}


def used(status: str = "completed", name: str = "shell", call: str = "call_1", **state: Any) -> dict[str, Any]:
    return {"type": "tool", "name": name, "id": call, "state": {"status": status, "input": {}, **state}}


def whole(*records: Record | list[Record]) -> Batch:
    flat = [one for record in records for one in (record if isinstance(record, list) else [record])]
    return read_whole(ADAPTER, Source("opencode", "/d/opencode.db", "/d", Shape.DATABASE), [*flat])


def said(batch: Batch) -> list[tuple[str, str]]:
    return [(turn.role.value, words(turn)) for turn in batch.turns]


def only_action(batch: Batch) -> Action:
    (action,) = [item for turn in batch.turns for item in turn.items if isinstance(item, Action)]
    return action


# ---------------------------------------------------------------- where


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [("/home/dev/.local/share/opencode", "opencode*.db")]),
        ({"XDG_DATA_HOME": "/data"}, [("/data/opencode", "opencode*.db")]),
        ({"XDG_DATA_HOME": ""}, [("/home/dev/.local/share/opencode", "opencode*.db")]),
        (
            {"OPENCODE_DB": "/else/where/my.sqlite"},
            [("/home/dev/.local/share/opencode", "opencode*.db"), ("/else/where", "my.sqlite")],
        ),
        ({"OPENCODE_DB": ":memory:"}, [("/home/dev/.local/share/opencode", "opencode*.db")]),
    ],
)
def test_the_environment_moves_the_data_folder(environment: dict[str, str], expected: list[tuple[str, str]]) -> None:
    roots = ADAPTER.roots(environment, "/home/dev")
    assert [(root.path, root.patterns[0]) for root in roots] == expected


def test_a_database_named_by_the_environment_lies_in_the_data_folder() -> None:
    (root,) = ADAPTER.roots({"OPENCODE_DB": "sub/mine.db"}, "/home/dev")
    assert "sub/mine.db" in root.patterns
    source = ADAPTER.classify(root, "sub/mine.db")
    assert source is not None and source.shape is Shape.DATABASE


@pytest.mark.parametrize(
    ("path", "members"),
    [
        ("opencode.db", ()),
        ("opencode-dev.db", ()),
        ("storage/session/p/ses_aB1.json", ("storage/message/ses_aB1/*.json", "storage/part/{stem}/*.json")),
        (
            "project/home-dev/storage/session/info/ses_aB1.json",
            (
                "project/home-dev/storage/session/message/ses_aB1/*.json",
                "project/home-dev/storage/session/part/ses_aB1/{stem}/*.json",
            ),
        ),
        (
            "global/storage/session/info/ses_aB1.json",
            ("global/storage/session/message/ses_aB1/*.json", "global/storage/session/part/ses_aB1/{stem}/*.json"),
        ),
        ("auth.json", None),
        ("storage/project/p.json", None),
        ("storage/session_diff/ses_aB1.json", None),
        ("log/opencode.db", None),
        ("opencode.db-wal", None),
    ],
)
def test_databases_and_session_files_are_sources(path: str, members: tuple[str, ...] | None) -> None:
    root = ADAPTER.roots({}, "/home/dev")[0]
    source = ADAPTER.classify(root, path)
    assert (source.members if source else None) == members


def test_databases_are_read_before_the_json_they_replaced(tmp_path: Path) -> None:
    shapes = [source.shape for source in sources_in(ADAPTER, store(tmp_path, "1.2.1"))]
    assert shapes == [Shape.DATABASE, *[Shape.DOCUMENT] * 6]


def test_a_session_is_resumed_by_its_id() -> None:
    assert ADAPTER.resume is not None
    assert ADAPTER.resume("ses_1", None) == ("opencode", "--session", "ses_1")


# ---------------------------------------------------------------- whole stores


@pytest.fixture(params=STORES)
def version(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def batches(tmp_path: Path, version: str) -> list[Batch]:
    return read(store(tmp_path, version))


@pytest.fixture(scope="module")
def all_batches(tmp_path_factory: pytest.TempPathFactory) -> list[Batch]:
    """All generations, the newest first, as if one machine had lived through them."""
    return [batch for name in STORES for batch in read(store(tmp_path_factory.mktemp("store"), name))]


@pytest.mark.parametrize(
    ("kind", "role"), [("user", Role.USER), ("assistant", Role.ASSISTANT), ("summary", Role.SUMMARY)]
)
def test_every_word_is_found_once_and_is_whose_it_is(all_batches: list[Batch], kind: str, role: Role) -> None:
    turns = stored(all_batches)
    found = {token: [turn.role for turn in holding(turns, token)] for token in EXPECT[kind]}
    assert found == {token: [role] for token in EXPECT[kind]}


@pytest.mark.parametrize(
    ("kind", "of"),
    [("tool_error", errors), ("tool_input", everything), ("thinking", everything), ("index_once", words)],
)
def test_errors_arguments_thoughts_and_answers_of_sub_agents_are_found_once(
    all_batches: list[Batch], kind: str, of: Callable[[Turn], str]
) -> None:
    turns = stored(all_batches)
    assert {token: len(holding(turns, token, of)) for token in EXPECT[kind]} == dict.fromkeys(EXPECT[kind], 1)


def test_what_a_sub_agent_is_told_is_a_task_in_a_session_with_a_parent(all_batches: list[Batch]) -> None:
    turns = stored(all_batches)
    for token in EXPECT["subagent"]:
        (turn,) = holding(turns, token)
        assert turn.role is Role.TASK
        if token.startswith("KEEP_SUB_"):
            assert parents(all_batches)[turn.session][1] == "subagent"


def test_injected_and_unfinished_words_are_nobodys(batches: list[Batch]) -> None:
    turns = stored(batches)
    for token in (*EXPECT["never_as_user"], *EXPECT["not_yet_complete"], "SECRET_TOKEN"):
        assert holding(turns, token, everything) == []


def test_output_of_calls_that_succeeded_is_dropped(batches: list[Batch]) -> None:
    assert [token for token in EXPECT["tool_output"] if holding(stored(batches), token, everything)] == []


def test_a_store_reads_as_it_was_read_before(batches: list[Batch], version: str) -> None:
    now = {
        "turns": [plain(turn) for batch in batches for turn in batch.turns],
        "sessions": [vars_of(info) for batch in batches for info in batch.infos.values()],
        "counted": [dict(batch.tally) for batch in batches if batch.tally],
    }
    golden = LOGS / version / "store.golden.json"
    if os.environ.get("RAW_RAG_WRITE_GOLDENS"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(json.dumps(now, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert now == json.loads(golden.read_text(encoding="utf-8"))


def vars_of(info: SessionInfo) -> dict[str, Any]:
    return {name: value for name in SessionInfo.__slots__ if (value := getattr(info, name)) is not None}


def test_one_session_has_the_same_keys_in_every_generation(tmp_path: Path) -> None:
    seen = {}
    for name in ("1.18.33", "1.2.1", "2.0.12-upgraded", "1.1.65"):
        batches = read(store(tmp_path / name, name))
        seen[name] = {turn.key for batch in batches for turn in batch.turns if turn.session == ROOT_SESSION}
    assert seen["1.18.33"] == seen["1.2.1"] == seen["2.0.12-upgraded"] == seen["1.1.65"]


@pytest.mark.parametrize(
    ("name", "parent", "fork", "copied"), [("1.18.33", ROOT_SESSION, FORK, 2), ("2.0.12", NATIVE, NATIVE_FORK, 5)]
)
def test_a_fork_has_the_keys_of_what_it_copied(tmp_path: Path, name: str, parent: str, fork: str, copied: int) -> None:
    keys: dict[str, list[str]] = {parent: [], fork: []}
    for batch in read(store(tmp_path, name)):
        for turn in batch.turns:
            keys.setdefault(turn.session, []).append(turn.key)
    shared = [key for key in keys[fork] if key in keys[parent]]
    assert shared == keys[fork][:copied] == keys[parent][:copied]
    assert len(keys[fork]) > copied


def test_a_fork_of_the_new_tables_knows_its_parent(tmp_path: Path) -> None:
    assert parents(read(store(tmp_path, "2.0.12")))[NATIVE_FORK] == (NATIVE, "fork")


def test_every_turn_of_a_session_has_a_key_of_its_own(batches: list[Batch]) -> None:
    for batch in batches:
        assert len({turn.key for turn in batch.turns}) == len(batch.turns)


def test_reading_twice_gives_the_same(tmp_path: Path, version: str) -> None:
    root = store(tmp_path, version)
    first, second = read(root), read(root)
    assert [list(map(plain, batch.turns)) for batch in first] == [list(map(plain, batch.turns)) for batch in second]


def test_broken_messages_and_files_are_counted(tmp_path: Path) -> None:
    assert sum(batch.tally["skipped||json"] for batch in read(store(tmp_path / "a", "1.18.33"))) == 1
    assert sum(batch.tally["skipped||json"] for batch in read(store(tmp_path / "b", "1.1.65"))) == 1


# ---------------------------------------------------------------- stamps


def stamps(root: Root) -> dict[str, str]:
    (source,) = [source for source in sources_in(ADAPTER, root) if source.shape is Shape.DATABASE]
    return {session: stamp for _, session, stamp in foreign_sessions(source, ADAPTER.families)}


@pytest.mark.parametrize(
    ("name", "change", "session"),
    [
        (
            "1.18.33",
            f"UPDATE part SET data = '{{}}', time_updated = time_updated + 1 WHERE session_id = '{FORK}'",
            FORK,
        ),
        ("1.18.33", f"UPDATE message SET time_updated = time_updated + 1 WHERE session_id = '{FORK}'", FORK),
        ("1.18.33", f"UPDATE session SET title = 'x', time_updated = time_updated + 1 WHERE id = '{FORK}'", FORK),
        ("1.18.33", f"INSERT INTO message VALUES ('msg_z', '{FORK}', {T0 * 2}, {T0}, '{{}}')", FORK),
        ("1.18.33", f"INSERT INTO part VALUES ('prt_z', 'msg_z', '{FORK}', {T0}, {T0}, '{{}}')", FORK),
        ("1.18.33", f"DELETE FROM part WHERE id = (SELECT max(id) FROM part WHERE session_id = '{FORK}')", FORK),
        ("1.2.1", f"UPDATE part SET time_updated = time_updated + 1 WHERE session_id = '{FORK}'", FORK),
        ("2.0.12", f"UPDATE session_message SET time_updated = time_updated + 1 WHERE session_id = '{NATIVE}'", NATIVE),
        ("2.0.12", f"DELETE FROM session_message WHERE session_id = '{NATIVE}' AND seq > 12", NATIVE),
        ("2.0.12-upgraded", f"UPDATE part SET time_updated = time_updated + 1 WHERE session_id = '{FORK}'", FORK),
        ("2.0.12-upgraded", f"UPDATE session_message SET time_updated = 5 WHERE session_id = '{FORK}'", FORK),
    ],
)
def test_a_change_in_place_changes_the_stamp_of_its_session_alone(
    tmp_path: Path, name: str, change: str, session: str
) -> None:
    root = store(tmp_path, name)
    before = stamps(root)
    write(Path(root.path) / "opencode.db", change)
    after = stamps(root)
    assert [one for one in after if after[one] != before[one]] == [session]


@pytest.mark.parametrize(("name", "session_table"), [("1.18.33", "session"), ("2.0.12", "session_v2")])
def test_a_session_that_rested_for_a_week_is_told_by_counts_alone(
    tmp_path: Path, name: str, session_table: str
) -> None:
    root = store(tmp_path, name)
    session = {"session": FORK, "session_v2": NATIVE}[session_table]
    rows = {"session": "part", "session_v2": "session_message"}[session_table]
    write(
        Path(root.path) / "opencode.db",
        f"UPDATE {session_table} SET time_updated = time_updated - 8 * 24 * 3600 * 1000 WHERE id = '{session}'",
    )
    before = stamps(root)
    write(Path(root.path) / "opencode.db", f"UPDATE {rows} SET time_updated = 5 WHERE session_id = '{session}'")
    assert stamps(root) == before
    write(Path(root.path) / "opencode.db", f"UPDATE {session_table} SET time_updated = {T0 * 2} WHERE id = '{session}'")
    assert stamps(root)[session] != before[session]


@pytest.mark.parametrize("name", ["1.18.33", "2.0.12-upgraded"])
def test_no_query_walks_through_all_rows_of_messages_or_parts(tmp_path: Path, name: str) -> None:
    root = store(tmp_path, name)
    with closing(sqlite3.connect(Path(root.path) / "opencode.db")) as connection:
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        families = [family for family in ADAPTER.families if there.issuperset(family.tables)]
        for query in (query for family in families for query in (family.sessions, *family.records)):
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", {"session": "ses_1"})]
            walks = [step for step in plan if step.startswith("SCAN") and "COVERING" not in step]
            tables = {"message", "part", "session_message"}
            assert not [step for step in walks if step.split()[1] in tables], plan


# ---------------------------------------------------------------- two generations in one file


def upgraded(folder: Path, imported: int) -> Path:
    """An upgraded store whose import was completed at the given time."""
    database = Path(store(folder, "2.0.12-upgraded").path) / "opencode.db"
    write(database, f"UPDATE kv SET time_updated = {imported} WHERE key = 'migration.v1-v2'")
    return database


def families_of(database: Path) -> dict[str, str]:
    source = Source("opencode", str(database), str(database.parent), Shape.DATABASE)
    return {session: family for family, session, _ in foreign_sessions(source, ADAPTER.families)}


def test_a_session_that_went_on_in_the_old_tables_is_read_from_both(tmp_path: Path) -> None:
    database = upgraded(tmp_path, T0 * 2)
    assert set(families_of(database).values()) == {"v1", "v2"}
    data = json.dumps({"role": "user", "time": {"created": T0 * 3}})
    write(
        database,
        f"INSERT INTO message VALUES ('msg_later', '{FORK}', {T0 * 3}, {T0 * 3}, '{data}');"
        f"INSERT INTO part VALUES ('prt_later', 'msg_later', '{FORK}', 1, 1, '{json.dumps(text('with 1.x again'))}');",
    )
    assert families_of(database)[FORK] == "v2+v1"
    (batch,) = [batch for batch in read(Root(str(database.parent), ("*.db",))) if FORK in batch.infos]
    assert [words for _, words in said(batch)][-2:] == ["KEEP_ASSIST_5 freezegun it is", "with 1.x again"]


def test_old_rows_from_before_the_upgrade_are_not_read_again(tmp_path: Path) -> None:
    database = upgraded(tmp_path, T0 * 2)
    write(database, f"DELETE FROM session_message WHERE session_id = '{FORK}' AND seq > 1")
    (batch,) = [batch for batch in read(Root(str(database.parent), ("*.db",))) if FORK in batch.infos]
    assert [role for role, _ in said(batch)] == ["user", "assistant"]


def test_an_old_message_stands_between_the_new_ones_that_surround_it() -> None:
    batch = whole(
        new("m1", "user", 0, T0, text="one"),
        new("m3", "user", 1, T0 + 20, text="three"),
        old("m2", "user", text("two"), at=T0 + 10),
        old("m4", "user", text("four"), at=T0 + 30),
    )
    assert [words for _, words in said(batch)] == ["one", "two", "three", "four"]


# ---------------------------------------------------------------- prompts


@pytest.mark.parametrize(
    ("stored_text", "typed"),
    [
        ("plain", "plain"),
        ('"fix the test"', "fix the test"),
        ('"say \\"hi\\" to\nall"\n', 'say "hi" to\nall'),
        ('"C:\\new\\table is gone"', "C:\\new\\table is gone"),
        ('"one" and "two"', '"one" and "two"'),
        ('"', '"'),
        ('""', ""),
    ],
)
def test_a_prompt_from_the_command_line_is_unquoted(stored_text: str, typed: str) -> None:
    assert unquoted(stored_text) == typed


def test_a_prompt_in_several_parts_is_one_turn_in_both_generations() -> None:
    parts = (text("one"), text("injected", synthetic=True), text("hidden", ignored=True), text("two"))
    first = whole(old("m1", "user", *parts))
    second = whole(new("m1", "user", 0, text="one\n\ntwo"))
    assert said(first) == said(second) == [("user", "one\n\ntwo")]
    assert first.turns[0].key == second.turns[0].key


def test_a_prompt_whose_parts_are_still_being_stored_keeps_its_key() -> None:
    file = {"type": "file", "mime": "image/png", "filename": "a.png"}
    keys = [
        whole(old("m1", "user", *parts)).turns[0].key
        for parts in ((text("one"),), (text("one"), text("two")), (text("one"), text("two"), file))
    ]
    assert len(set(keys)) == 1


def test_an_attachment_that_the_upgrade_lost_leaves_its_name() -> None:
    file = {"type": "file", "mime": "application/pdf", "filename": "spec.pdf", "url": "file:///p/spec.pdf"}
    first = whole(old("m1", "user", text("read this"), file))
    notice = "[Attachment unavailable after migration: spec.pdf (application/pdf)]"
    second = whole(new("m1", "user", 0, text=f"read this\n\n{notice}"))
    assert first.turns[0].items == second.turns[0].items == [Text("read this"), Image("spec.pdf")]
    assert first.turns[0].key == second.turns[0].key


def test_a_file_that_the_prompt_names_is_not_named_again() -> None:
    file = {"type": "file", "mime": "text/plain", "filename": "a.py", "url": "file:///p/a.py"}
    assert whole(old("m1", "user", text("explain @a.py"), file)).turns[0].items == [Text("explain @a.py")]


def test_a_picture_alone_is_a_prompt() -> None:
    file = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}
    assert whole(old("m1", "user", file)).turns[0].items == [Image("image/png")]


def test_prompts_in_a_child_session_are_tasks() -> None:
    batch = whole(head(parent_id="ses_0"), old("m1", "user", text("a")), old("m2", "user", text("b"), at=T0 + 1))
    assert said(batch) == [("task", "a"), ("task", "b")]
    assert parents([batch]) == {"ses_1": ("ses_0", "subagent")}


def test_a_command_that_the_human_ran_is_the_humans_in_both_generations() -> None:
    injected = text("The following tool was executed by the user", synthetic=True)
    ran = tool(input={"command": "git log"}, metadata={"exit": 2}, output="abc")
    first = whole(old("m1", "user", injected), old("m2", "assistant", ran, at=T0 + 1))
    imported = used(name="bash", input={"command": "git log"}, metadata={"exit": 2})
    second = whole(
        new("m1", "synthetic", 0, text=injected["text"]), new("m2", "assistant", 1, T0 + 1, content=[imported])
    )
    native = whole(new("m1", "shell", 0, T0 + 1, command="git log", status="exited", exit=2, output={"output": "abc"}))
    assert said(first) == said(second) == said(native) == [("user", "! git log (exit 2)")]
    assert first.turns[0].key == second.turns[0].key == native.turns[0].key


def test_after_a_prompt_the_answer_is_the_models_again() -> None:
    injected = "The following tool was executed by the user"
    batch = whole(
        new("m1", "synthetic", 0, text=injected),
        new("m2", "user", 1, T0 + 1, text="and you?"),
        new("m3", "assistant", 2, T0 + 2, content=[used(input={"command": "ls"})]),
    )
    assert [turn.role for turn in batch.turns] == [Role.USER, Role.ASSISTANT]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"status": "running"}, "! sleep 9"),
        ({"status": "exited", "exit": 0}, "! sleep 9 (exit 0)"),
        ({"status": "timeout"}, "! sleep 9 (timeout)"),
    ],
)
def test_a_command_of_the_human_tells_how_it_ended(data: dict[str, Any], expected: str) -> None:
    assert said(whole(new("m1", "shell", 0, command="sleep 9", **data))) == [("user", expected)]


# ---------------------------------------------------------------- answers


def test_each_text_begins_a_turn_and_calls_follow_it() -> None:
    parts = (text("a"), tool(call="c1"), text("a"), tool(call="c2"), tool(call="c3"))
    batch = whole(old("m1", "user", text("go")), old("m2", "assistant", *parts, at=T0 + 1))
    assert [len(turn.items) for turn in batch.turns] == [1, 2, 3]
    assert len({turn.key for turn in batch.turns}) == 3


def test_keys_do_not_depend_on_ids_or_on_parts_that_a_copy_may_lack() -> None:
    step = {"type": "step-start"}
    one = whole(
        old("m1", "user", text("go")), old("m2", "assistant", step, thought("hm"), text("a"), tool(), at=T0 + 1)
    )
    two = whole(old("x1", "user", text("go")), old("x2", "assistant", text("a"), tool(), at=T0 + 1))
    assert [turn.key for turn in one.turns] == [turn.key for turn in two.turns]


def test_answers_of_the_same_millisecond_after_different_prompts_differ() -> None:
    keys = [
        whole(old("m1", "user", text(prompt)), old("m2", "assistant", text("ok"))).turns[1].key for prompt in ("a", "b")
    ]
    assert keys[0] != keys[1]


def test_without_a_time_the_id_tells_messages_apart() -> None:
    keys = [whole(old(number, "user", text("yes"), at=None)).turns[0].key for number in ("m1", "m2")]
    assert keys[0] != keys[1]


def test_an_answer_that_grows_keeps_its_key() -> None:
    before = whole(old("m1", "user", text("go")), old("m2", "assistant", text("half an"), at=T0 + 1, done=False))
    after = whole(old("m1", "user", text("go")), old("m2", "assistant", text("half an answer"), tool(), at=T0 + 1))
    assert [turn.key for turn in before.turns] == [turn.key for turn in after.turns]


def test_an_unfinished_answer_of_the_new_tables_is_read_up_to_its_last_ended_call() -> None:
    content = [text("first"), used(), thought("hm"), text("grow"), used("streaming", call="c2", input='{"comm')]
    batch = whole(new("m1", "assistant", 0, done=False, content=content))
    assert [words for _, words in said(batch)] == ["first"]
    assert len(only_action(batch).call.args) == 0


@pytest.mark.parametrize("later", ["user", "assistant", "idle"])
def test_an_unfinished_answer_that_was_overtaken_stays_as_it_is(later: str) -> None:
    batch = whole(
        new("m1", "assistant", 0, done=False, content=[text("half")]), new("m2", later, 1, T0 + 1, text="x", content=[])
    )
    assert said(batch)[0] == ("assistant", "half")


def test_an_answer_that_broke_off_with_an_error_is_finished() -> None:
    error = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
    content: dict[str, Any] = {"content": [text("half")], "error": {"type": "aborted", "message": "aborted"}}
    assert said(whole(old("m1", "assistant", text("half"), done=False, error=error))) == [("assistant", "half")]
    assert said(whole(new("m1", "assistant", 0, done=False, **content))) == [("assistant", "half")]


def test_thoughts_go_with_what_follows_them() -> None:
    batch = whole(old("m1", "assistant", thought("a"), thought("b"), text("c"), thought("d"), tool()))
    items = [[type(item) for item in turn.items] for turn in batch.turns]
    assert items == [[Thinking, Thinking, Text, Thinking, Action]]


def test_a_synthetic_text_of_the_assistant_is_nobodys() -> None:
    assert said(whole(old("m1", "assistant", text("a"), text("put in", synthetic=True), text("b")))) == [
        ("assistant", "a\nb")
    ]


# ---------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("part", "outcome", "code", "output"),
    [
        (tool(output="x", metadata={"exit": 0}), Outcome.OK, 0, ""),
        (tool(output="x\n", metadata={"exit": 3}), Outcome.FAILED, 3, "x\n"),
        (tool("success", output="x"), Outcome.UNKNOWN, None, ""),
        (tool(output="x", metadata={"exit": None}), Outcome.UNKNOWN, None, ""),
        (tool(output="x\n<bash_metadata>\nUser aborted the command", metadata={}), Outcome.INTERRUPTED, None, ""),
        (tool(name="read", output="x", metadata={}), Outcome.OK, None, ""),
        (tool("error", "read", error="File not found"), Outcome.FAILED, None, "File not found"),
        (tool("error", "edit", error="The user rejected permission to use this tool"), Outcome.REJECTED, None, ""),
        (tool("error", "edit", error="Tool execution aborted"), Outcome.INTERRUPTED, None, ""),
        (tool("error", metadata={"output": "so far"}, error="Broken"), Outcome.FAILED, None, "so far\nBroken"),
        (tool("error", error={"data": {"message": "odd"}}), Outcome.FAILED, None, "odd"),
    ],
)
def test_a_call_ended_as_its_state_says(part: dict[str, Any], outcome: Outcome, code: int | None, output: str) -> None:
    result = only_action(whole(old("m1", "assistant", part))).result
    assert result is not None
    assert (result.outcome, result.exit_code, result.output) == (outcome, code, output)


@pytest.mark.parametrize(
    ("item", "outcome", "code", "output"),
    [
        (used(content=[text("no crontab\n")], metadata={"exit": 1}), Outcome.FAILED, 1, "no crontab\n"),
        (used(content=[text("x")], structured={"exit": 0}), Outcome.OK, 0, ""),
        (used("error", "read", error={"type": "tool.execution", "message": "gone"}), Outcome.FAILED, None, "gone"),
        (used("error", error={"type": "permission.rejected", "message": "no"}), Outcome.REJECTED, None, ""),
        (used("error", error={"type": "tool.interrupted", "message": "cut"}), Outcome.INTERRUPTED, None, ""),
    ],
)
def test_a_call_of_the_new_tables_ended_as_its_state_says(
    item: dict[str, Any], outcome: Outcome, code: int | None, output: str
) -> None:
    result = only_action(whole(new("m1", "assistant", 0, content=[item]))).result
    assert result is not None
    assert (result.outcome, result.exit_code, result.output) == (outcome, code, output)


@pytest.mark.parametrize("status", ["pending", "running", "streaming", None, 7])
def test_a_call_that_did_not_end_has_no_result(status: Any) -> None:
    assert only_action(whole(old("m1", "assistant", tool(status, input={"command": "x"})))).result is None


def test_two_calls_with_one_id_keep_their_own_results() -> None:
    batch = whole(
        old("m1", "assistant", tool("running", call="call_0")),
        old("m2", "assistant", tool(call="call_0", metadata={"exit": 1}), at=T0 + 1),
    )
    actions = [item for turn in batch.turns for item in turn.items if isinstance(item, Action)]
    assert [action.result and action.result.exit_code for action in actions] == [None, 1]


# ---------------------------------------------------------------- compaction, reverts, facts


def test_a_compaction_has_one_key_in_both_generations() -> None:
    first = whole(
        old("m1", "user", {"type": "compaction", "auto": True}),
        old("m2", "assistant", text("what was done"), at=T0 + 5, summary=True, parentID="m1"),
    )
    second = whole(new("m1", "compaction", 0, status="completed", summary="what was done", recent="[User]: x"))
    assert said(first) == said(second) == [("summary", "what was done")]
    assert first.turns[0].key == second.turns[0].key


@pytest.mark.parametrize("status", ["running", "failed"])
def test_a_compaction_that_was_not_completed_is_no_summary(status: str) -> None:
    assert said(whole(new("m1", "compaction", 0, status=status, summary="half"))) == []


def test_a_revert_takes_back_all_from_a_message_on() -> None:
    revert = json.dumps({"messageID": "m2", "snapshot": "abc"})
    batch = whole(head(revert=revert), old("m1", "user", text("a")), old("m2", "user", text("b"), at=T0 + 1))
    last = batch.turns[-1]
    assert last.record_ids == ["m2"]
    assert batch.marks == [replace(batch.marks[0], rollback=Rollback(from_record="m2"), after_key=last.key)]
    assert isinstance(batch.marks[0], Mark)


@pytest.mark.parametrize(
    "title", ["New session - 2026-11-20T10:00:00.000Z", "Child session - 2026-11-20T10:00:00Z", None]
)
def test_a_title_that_the_program_made_up_is_none(title: str | None) -> None:
    assert whole(head(title=title)).infos["ses_1"].title is None


def test_facts_of_a_session_are_told() -> None:
    facts = head(title="Fix it", version="1.18.33", time_created=T0, share_url="https://secret")
    assert whole(facts).infos["ses_1"] == SessionInfo(
        session="ses_1", cwd="/p", title="Fix it", version="1.18.33", started=T0
    )


def test_unknown_types_are_counted_under_the_sessions_version() -> None:
    batch = whole(
        head(version="2.9"),
        old("m1", "wizard", text("x")),
        old("m2", "assistant", {"type": "hologram"}),
        new("m3", "hologram", 0),
        new("m4", "assistant", 1, content=[{"type": "odor"}]),
    )
    assert dict(batch.tally) == {
        "unknown|2.9|message wizard": 1,
        "unknown|2.9|part hologram": 1,
        "unknown|2.9|row hologram": 1,
        "unknown|2.9|content odor": 1,
    }


# ---------------------------------------------------------------- hostile rows

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2 * T0) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = [
    "id",
    "session_id",
    "message_id",
    "time_created",
    "type",
    "data_json",
    "role",
    "time",
    "created",
    "completed",
    "summary",
    "parts",
    "text",
    "synthetic",
    "tool",
    "state",
    "status",
    "input",
    "metadata",
    "exit",
    "output",
    "error",
    "content",
    "name",
    "files",
    "revert",
    "directory",
    "title",
    "prompt",
    "command",
    "path",
    "cwd",
]
KINDS = st.sampled_from(["text", "tool", "reasoning", "file", "subtask", "compaction", "user", "assistant", "shell"])
OBJECTS = st.dictionaries(st.sampled_from(NAMES), JSON | KINDS, max_size=6)


def rows() -> Iterator[st.SearchStrategy[dict[str, Any]]]:
    for kind in ("session", "message", "part", "row", "revert", "other"):
        data = OBJECTS | JSON | st.fixed_dictionaries({"content": st.lists(OBJECTS, max_size=3), "role": KINDS})
        yield st.builds(lambda row, data, kind=kind: {**row, "data_json": data, "kind": kind}, OBJECTS, data)


@given(st.lists(st.one_of(*rows()), max_size=6), st.sampled_from(["v1", "storage/message/s/m.json", "a/part/x.json"]))
def test_no_value_in_any_field_breaks_the_reading(data: list[dict[str, Any]], origin: str) -> None:
    batch = whole(*(Record(row, origin=origin) for row in data))
    assert not [name for name in batch.tally if "parse-" in name]


@given(st.one_of(*rows()))
def test_no_record_breaks_the_parser_even_if_it_was_not_arranged(data: dict[str, Any]) -> None:
    state = ADAPTER.start(Source("opencode", "/d/opencode.db", "/d", Shape.DATABASE))
    list(ADAPTER.parse(Record(data), state))
