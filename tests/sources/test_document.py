"""Documents of several files: what belongs to one, in which order it is read, and what is no news."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_raw_rag.models import BadRecord, Record, Shape, Source
from agent_raw_rag.sources.document import COMPANION_TAIL_BYTES, LOG_HEAD_BYTES, document_stamp, read_document


def write(root: Path, name: str, content: str | bytes = "{}") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def document(root: Path, main: str, members: tuple[str, ...] = (), companions: tuple[str, ...] = ()) -> Source:
    return Source("agent", str(root / main), str(root), Shape.DOCUMENT, members=members, companions=companions)


def origins(entries: list[Record | BadRecord]) -> list[str]:
    return [entry.origin if isinstance(entry, Record) else entry.reason for entry in entries]


def test_main_file_then_members_then_companions(tmp_path: Path) -> None:
    for name in ("side/a.json", "part/b.json", "part/a.json", "main.json"):
        write(tmp_path, name)
    source = document(tmp_path, "main.json", ("part/*.json",), ("side/*.json",))
    assert origins(read_document(source)) == ["main.json", "part/a.json", "part/b.json", "side/a.json"]


def test_a_stem_runs_over_the_files_of_the_glob_before(tmp_path: Path) -> None:
    for name in ("s/one.json", "m/one/m1.json", "m/one/m2.json", "m/two/m3.json"):
        write(tmp_path, name)
    for name in ("p/m1/a.json", "p/m2/b.json", "p/m3/c.json"):
        write(tmp_path, name)
    source = document(tmp_path, "s/one.json", ("m/{stem}/*.json", "p/{stem}/*.json"))
    assert origins(read_document(source)) == [
        "s/one.json",
        "m/one/m1.json",
        "m/one/m2.json",
        "p/m1/a.json",
        "p/m2/b.json",
    ]


def test_a_stem_with_glob_characters_is_taken_literally(tmp_path: Path) -> None:
    write(tmp_path, "s/a[1].json")
    write(tmp_path, "m/a[1]/x.json")
    write(tmp_path, "m/a1/y.json")
    assert origins(read_document(document(tmp_path, "s/a[1].json", ("m/{stem}/*.json",)))) == [
        "s/a[1].json",
        "m/a[1]/x.json",
    ]


def test_a_file_that_two_globs_match_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, "main.json")
    write(tmp_path, "a.json")
    assert origins(read_document(document(tmp_path, "main.json", ("a.json", "*.json")))) == ["main.json", "a.json"]


def test_each_file_is_read_by_its_extension(tmp_path: Path) -> None:
    write(tmp_path, "main.jsonl", '{"n": 1}\n{"n": 2}\n')
    write(tmp_path, "plan.md", "# Plan\n")
    write(tmp_path, "picture.png", b"\x89PNG")
    entries = read_document(document(tmp_path, "main.jsonl", ("*.md", "*.png")))
    assert entries == [
        Record({"n": 1}, 0, 9, "main.jsonl"),
        Record({"n": 2}, 9, 18, "main.jsonl"),
        Record({"text": "# Plan\n"}, 0, 7, "plan.md"),
        Record({}, 0, 4, "picture.png"),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [('{"id": "prt_torn", "type": "te', "json"), ("", "json"), ("[1]", "not-object"), (b"\xff\xfe", "json")],
)
def test_a_half_written_file_is_one_bad_record(tmp_path: Path, content: str | bytes, reason: str) -> None:
    write(tmp_path, "main.json")
    path = write(tmp_path, "part.json", content)
    entries = read_document(document(tmp_path, "main.json", ("part.json",)))
    assert entries[1] == BadRecord(reason, 0, path.stat().st_size)


def test_a_json_file_spans_all_its_bytes(tmp_path: Path) -> None:
    write(tmp_path, "main.json", '\ufeff{\n  "id": "語"\n}\n')
    assert read_document(document(tmp_path, "main.json")) == [
        Record({"id": "語"}, 0, (tmp_path / "main.json").stat().st_size, "main.json")
    ]


def test_a_line_without_an_end_is_left_for_the_next_read(tmp_path: Path) -> None:
    write(tmp_path, "main.jsonl", '{"n": 1}\n{"n": ')
    assert origins(read_document(document(tmp_path, "main.jsonl"))) == ["main.jsonl"]


def test_text_survives_bytes_that_are_no_text(tmp_path: Path) -> None:
    write(tmp_path, "main.md", b"a\xffb")
    assert read_document(document(tmp_path, "main.md")) == [Record({"text": "a\ufffdb"}, 0, 3, "main.md")]


def test_of_a_log_only_the_head_is_read(tmp_path: Path) -> None:
    write(tmp_path, "main.json")
    write(tmp_path, "long.log", "x" * (LOG_HEAD_BYTES + 5))
    (_, log) = read_document(document(tmp_path, "main.json", (), ("*.log",)))
    assert isinstance(log, Record)
    assert len(log.data["text"]) == LOG_HEAD_BYTES


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "main.json")
    write(tmp_path, "secret/auth.json", '{"token": 1}')
    (root / "linked.json").symlink_to(tmp_path / "secret" / "auth.json")
    (root / "folder").symlink_to(tmp_path / "secret")
    assert origins(read_document(document(root, "main.json", ("linked.json", "folder/*.json"), ("f*/*.json",)))) == [
        "main.json"
    ]


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "main.json")
    write(tmp_path, "real.json", '{"n": 1}')
    (tmp_path / "linked.json").symlink_to("real.json")
    assert origins(read_document(document(tmp_path, "main.json", ("linked.json",)))) == ["main.json", "linked.json"]


def test_a_main_file_that_is_gone_is_an_error_and_a_missing_member_is_not(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_document(document(tmp_path, "main.json"))
    with pytest.raises(FileNotFoundError):
        document_stamp(document(tmp_path, "main.json"))
    write(tmp_path, "main.json")
    assert origins(read_document(document(tmp_path, "main.json", ("gone.json",), ("side.json",)))) == ["main.json"]


def test_the_stamp_tells_members_that_were_added_removed_or_rewritten(tmp_path: Path) -> None:
    write(tmp_path, "main.json")
    source = document(tmp_path, "main.json", ("*.json",))
    stamps = [document_stamp(source)]
    member = write(tmp_path, "a.json")
    stamps.append(document_stamp(source))
    os.utime(member, ns=(0, (tmp_path / "main.json").stat().st_mtime_ns + 10**9))
    stamps.append(document_stamp(source))
    member.unlink()
    stamps.append(document_stamp(source))
    assert stamps[0] == stamps[3]
    assert len(set(stamps)) == 3


def test_the_stamp_does_not_know_companions(tmp_path: Path) -> None:
    write(tmp_path, "main.json")
    source = document(tmp_path, "main.json", (), ("side.json",))
    before = document_stamp(source)
    write(tmp_path, "side.json", '{"more": 1}')
    assert document_stamp(source) == before


def test_a_companion_that_changed_is_read_anew(tmp_path: Path) -> None:
    write(tmp_path, "main.json")
    source = document(tmp_path, "main.json", (), ("side.json",))
    seen = []
    for content in ('{"n": 1}', '{"n": 22}'):
        write(tmp_path, "side.json", content)
        seen += [entry.data for entry in read_document(source)[1:] if isinstance(entry, Record)]
    assert seen == [{"n": 1}, {"n": 22}]


def test_of_a_long_companion_of_lines_the_tail_is_read(tmp_path: Path) -> None:
    write(tmp_path, "main.json")
    line = '{"n": "' + "x" * 1000 + '"}\n'
    write(tmp_path, "history.jsonl", line * (COMPANION_TAIL_BYTES // len(line) + 10) + '{"n": "last"}\n')
    entries = read_document(document(tmp_path, "main.json", (), ("history.jsonl",)))[1:]
    assert all(isinstance(entry, Record) for entry in entries)
    assert COMPANION_TAIL_BYTES // len(line) - 2 < len(entries) <= COMPANION_TAIL_BYTES // len(line) + 1
    last = entries[-1]
    assert isinstance(last, Record) and last.data == {"n": "last"} and last.origin == "history.jsonl"
