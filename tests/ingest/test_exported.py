"""Exports of chat services in the store: nothing invented, nothing lost, nothing twice, whatever the file is like."""

from __future__ import annotations

import json
import shutil
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.errors import SourceError
from agent_raw_rag.ingest.forget import forget
from agent_raw_rag.sources.exported import Entry, read_entries
from agent_raw_rag.store.reader import Scope
from tests.memory.moving import CHATGPT, CLAUDE_AI, chats, count, empty, texts
from tests.store_support import Ingest

KILN, HUB = "00000100-0000-4000-8000-000000000000", "6a0c0000-1111-4222-8333-444455556666"


@pytest.fixture
def store(tmp_path: Path) -> Ingest:
    return empty(tmp_path, "store")


def written(folder: Path, content: Any) -> Path:
    path = folder / "conversations.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def chat(name: str, *messages: tuple[str, str], changed: str = "2026-08-01T00:00:00Z") -> dict[str, Any]:
    said = [{"uuid": f"{name}-{place}", "sender": sender, "text": text, "created_at": f"2026-08-01T00:00:{place:02}Z"}
            for place, (sender, text) in enumerate(messages)]  # fmt: skip
    return {
        "uuid": name,
        "name": name,
        "created_at": "2026-08-01T00:00:00Z",
        "updated_at": changed,
        "chat_messages": said,
    }


def test_words_are_kept_secrets_masked_calls_one_line_and_files_named(store: Ingest) -> None:
    chats(store, CLAUDE_AI)
    human, work, answer = texts(store, KILN)
    assert "[redacted:github-pat]" in human and "ghp_" not in human
    assert "[file firing-log.csv]" in human and "SENTINEL-PASTE" in human and "SENTINEL-ATTACHED" not in human
    assert "[web_search] SENTINEL-QUERY stoneware cooling" in work and "SENTINEL-FOUND" not in work
    assert "SENTINEL-THOUGHT" in work and "(failed)" in work and "SENTINEL-ERROR" in work
    assert answer == "Cool at most 80 degrees an hour: SENTINEL-QUARTZ."


def test_a_paste_is_kept_whatever_its_name_and_files_that_are_left_out_are_counted(
    store: Ingest, tmp_path: Path
) -> None:
    attached = [
        {"file_name": "paste.txt", "extracted_content": "the pasted words"},
        {"file_name": "Pasted text (1).txt", "extracted_content": "more pasted words"},
        {"file_name": "", "extracted_content": "nameless words"},
        {"file_name": "pastelcolours.txt", "extracted_content": "SENTINEL-ATTACHED"},
        {"file_name": "empty.txt", "extracted_content": ""},
    ]
    one = chat("a", ("human", "look"))
    one["chat_messages"][0]["attachments"] = attached
    found = chats(store, written(tmp_path / "x", [one]))
    (said,) = texts(store)
    assert "paste.txt:\nthe pasted words" in said and "more pasted words" in said and "nameless words" in said
    assert "[file pastelcolours.txt]" in said and "SENTINEL-ATTACHED" not in said
    assert found.files_left_out == 1


def test_times_and_titles_are_the_exports(store: Ingest) -> None:
    chats(store, CHATGPT)
    row = store.connection.execute(
        "SELECT agent, title, started, last FROM sessions WHERE native = ?", (HUB,)
    ).fetchone()
    assert tuple(row) == ("import", "Bearing for a hub", 1_781_000_000_000, 1_781_000_105_000)
    assert store.connection.execute("SELECT min(time) FROM turns").fetchone()[0] == 1_781_000_000_125


def test_what_was_edited_or_regenerated_away_is_kept_and_marked(store: Ingest) -> None:
    for path in (CLAUDE_AI, CHATGPT):
        chats(store, path)
    rows = store.connection.execute("SELECT text FROM turns WHERE abandoned > 0 ORDER BY id").fetchall()
    assert [row[0].split(":")[0] for row in rows] == ["Without iron, please", "SENTINEL-REGENERATED-AWAY"]


def test_importing_again_adds_nothing(store: Ingest) -> None:
    for path in (CLAUDE_AI, CHATGPT):
        first, again = chats(store, path), chats(store, path)
        assert first.added.turns > 0 and again.added.as_json() == {"sessions": 0, "turns": 0}
        assert again.unchanged == again.sessions == first.sessions
        assert again.malformed == first.malformed


def test_what_is_no_conversation_is_counted_and_named(store: Ingest) -> None:
    found = chats(store, CLAUDE_AI)
    assert found.malformed == {
        "not-object": 1, "no-conversation": 1, "message-not-object": 1, "message-without-sender": 1, "no-identity": 1,
    }  # fmt: skip
    assert "conversations.json, entry 3: not-object" in found.named
    assert chats(store, CHATGPT).unknown == {"content/hologram": 1}


def test_a_zip_as_the_service_sends_it_and_split_files_are_read(store: Ingest, tmp_path: Path) -> None:
    archive = tmp_path / "data.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.write(CLAUDE_AI / "conversations.json", "export/conversations.json")
        made.write(CHATGPT / "conversations-000.json", "export/conversations-000.json")
        made.writestr("export/users.json", "[]")
    assert chats(store, archive).kinds == ["chatgpt", "claude.ai"]
    assert count(store, "sessions") == 5


@pytest.mark.parametrize("content", [
    chat("a", ("human", "alone")), {"conversations": [chat("a", ("human", "alone"))]}, [chat("a", ("human", "alone"))],
], ids=["one conversation", "in an object", "in an array"])  # fmt: skip
def test_each_outer_form_is_read(store: Ingest, tmp_path: Path, content: Any) -> None:
    chats(store, written(tmp_path / "x", content))
    assert texts(store) == ["alone"]


def test_a_file_that_was_cut_gives_what_stands_before_the_cut(store: Ingest, tmp_path: Path) -> None:
    path = written(tmp_path / "x", [chat("a", ("human", "whole")), chat("b", ("human", "cut"))])
    path.write_bytes(path.read_bytes()[:-40])
    found = chats(store, path)
    assert texts(store) == ["whole"] and found.malformed == {"json": 1} and "after entry 1" in found.named[0]


def test_a_file_that_is_no_export_is_refused(store: Ingest, tmp_path: Path) -> None:
    for content, words in (([{"a": 1}], "no conversation of a service"), ([], "no conversations"), ("words", "known")):
        path = written(tmp_path / "x", content)
        with pytest.raises(SourceError, match=words):
            chats(store, path)
    (tmp_path / "plain.txt").write_text("Dear diary,\ntoday\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"not JSON\. Import takes") as plain:
        chats(store, tmp_path / "plain.txt")
    assert "Expecting" not in str(plain.value) and "entry" not in str(plain.value)
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match="no conversations"):
        chats(store, tmp_path / "folder")


def test_a_conversation_that_has_grown_goes_on(store: Ingest, tmp_path: Path) -> None:
    path = written(tmp_path / "x", [chat("a", ("human", "one"), ("assistant", "two"))])
    chats(store, path)
    written(tmp_path / "x", [chat("a", ("human", "one"), ("assistant", "two, at length"), ("human", "three"),
                                  changed="2026-08-02T00:00:00Z")])  # fmt: skip
    assert chats(store, path).added.turns == 1
    assert texts(store) == ["one", "two, at length", "three"]


def test_an_older_export_undoes_nothing(store: Ingest, tmp_path: Path) -> None:
    grown = [chat("a", ("human", "one"), ("assistant", "two, at length"), changed="2026-08-02T00:00:00Z")]
    chats(store, written(tmp_path / "new", grown))
    found = chats(store, written(tmp_path / "old", [chat("a", ("human", "one"), ("assistant", "two"))]))
    assert found.unchanged == 1 and texts(store) == ["one", "two, at length"]


def test_what_was_forgotten_does_not_come_back(store: Ingest, tmp_path: Path) -> None:
    path = written(tmp_path / "x", [chat("a", ("human", "SENTINEL-GONE"))])
    chats(store, path)
    forget(store.committer(), Scope())
    written(tmp_path / "x", [chat("a", ("human", "SENTINEL-GONE"), ("human", "later"), changed="2026-09-01T00:00:00Z")])
    chats(store, path)
    assert texts(store) == []


def test_memory_is_bounded_by_one_conversation(tmp_path: Path) -> None:
    """Sixty conversations of a third of a megabyte are read in the memory of a few."""
    path = written(tmp_path / "x", [chat(f"c{number}", ("human", "word " * 66_000)) for number in range(60)])
    assert path.stat().st_size > 18 << 20
    list(read_entries(str(CLAUDE_AI)))  # what is loaded once does not count
    tracemalloc.start()
    try:
        found = sum(isinstance(entry, Entry) for entry in read_entries(str(path)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == 60 and peak < 4 << 20


def test_the_samples_are_never_written_to(store: Ingest, tmp_path: Path) -> None:
    copy = shutil.copytree(CLAUDE_AI, tmp_path / "copy")
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in copy.iterdir()}
    chats(store, copy)
    assert before == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in copy.iterdir()}
