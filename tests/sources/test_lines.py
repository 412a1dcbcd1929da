"""Reading lines: whole ones only, of any size and content, from any offset, in any blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.models import BadRecord, Record
from agent_raw_rag.sources.lines import parse_line, read_lines, split_records

hostile = st.one_of(
    st.dictionaries(st.text(max_size=5), st.text(max_size=20)).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
    st.sampled_from(
        [
            b"",
            b"null",
            b"[]",
            b'"x"',
            b"42",
            b"{",
            b'{"a":"\\ud83d"}',
            b"\0\0" + b'{"a":1}',
            b'{"a":1}\r',
            "\ufeff{}".encode(),
        ]
    ),
)
logs = st.lists(hostile, max_size=12).map(lambda rows: b"".join(row + b"\n" for row in rows))


def blocks(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return (data[start:end] for start, end in pairwise(places))


@given(logs, st.lists(st.integers(0, 400), max_size=8))
def test_the_size_of_blocks_does_not_matter(data: bytes, cuts: list[int]) -> None:
    assert list(split_records(blocks(data, cuts))) == list(split_records(iter([data])))


@given(logs)
def test_every_complete_line_is_a_record_or_counted_and_none_touches_its_neighbours(data: bytes) -> None:
    found = list(split_records(iter([data])))
    spans = [(one.start, one.end) for one in found]
    lines = [line for line in data.split(b"\n") if line.strip(b"\0\xef\xbb\xbf \t\r\x0b\x0c")]
    assert len(found) == len(lines)
    assert all(data[end - 1 : end] == b"\n" for _, end in spans)
    assert spans == sorted(spans)


@given(logs, st.integers(0, 11))
def test_reading_goes_on_from_the_end_of_any_record(data: bytes, place: int) -> None:
    found = list(split_records(iter([data])))
    if place < len(found):
        offset = found[place].end
        assert list(split_records(iter([data[offset:]]), offset)) == found[place + 1 :]


@pytest.mark.parametrize(
    ("line", "data"),
    [
        (b'{"a":1}', {"a": 1}),
        (b'\0\0\0{"a":1}', {"a": 1}),
        (b'{"a":"caf\xe9"}', {"a": "caf\ufffd"}),
        (b'{"a":"\\ud83d"}', {"a": "\ufffd"}),
        (b'{"a":"x\ty"}', {"a": "x\ty"}),
        ('{"a":"\u2028\u2029"}'.encode(), {"a": "\u2028\u2029"}),
        (b'{"a":NaN}', None),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_what_agents_write_is_read(line: bytes, data: dict[str, object] | None) -> None:
    found = parse_line(line, 0, len(line) + 1)
    assert isinstance(found, Record)
    assert data is None or found.data == data


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"null", "not-object"),
        (b"[1]", "not-object"),
        (b'{"a":', "json"),
        (b'{"a":' * 20000 + b"1" + b"}" * 20000, "too-deep"),
    ],
)
def test_what_is_no_record_is_counted_by_reason(line: bytes, reason: str) -> None:
    assert parse_line(line, 3, 9) == BadRecord(reason, 3, 9)


def test_a_line_of_many_megabytes_is_read_and_a_longer_one_than_the_limit_passed_over(tmp_path: Path) -> None:
    big = b'{"a":"' + b"x" * (8 << 20) + b'"}'
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n":1}\n' + big + b'\n{"n":2}\n')
    assert [type(one) for one in read_lines(str(path))] == [Record, Record, Record]
    found = list(read_lines(str(path), limit=1 << 20))
    assert [type(one) for one in found] == [Record, BadRecord, Record]
    assert (found[1].start, found[1].end) == (8, 8 + len(big) + 1)
    assert found[1] == BadRecord("too-long", found[1].start, found[1].end)


def test_a_last_line_without_a_line_break_waits_unless_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":')
    assert [one.end for one in read_lines(str(path))] == [8]
    path.write_bytes(b'{"n":1}\n{"n":2}')
    assert [one.end for one in read_lines(str(path))] == [8, 16]
    path.write_bytes(b'{"n":1}\n{"n":2}\n')
    assert [one.end for one in read_lines(str(path))] == [8, 16]


def test_a_compressed_log_reads_like_a_plain_one(tmp_path: Path) -> None:
    data = b"".join(b'{"n":%d}\n' % n for n in range(1000))
    (tmp_path / "a.jsonl").write_bytes(data)
    (tmp_path / "a.jsonl.zst").write_bytes(zstandard.compress(data))
    plain = list(read_lines(str(tmp_path / "a.jsonl"), 8))
    assert list(read_lines(str(tmp_path / "a.jsonl.zst"), 8)) == plain
    assert len(plain) == 999


def test_a_damaged_compressed_log_is_an_error_of_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(b"no zstd data" * 100)
    with pytest.raises(OSError, match="cannot be unpacked"):
        list(read_lines(str(path)))
