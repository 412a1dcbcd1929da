"""Bytes of an event stream -> frames."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.gateway.frames import Frame, Frames, frames_of

LINES = st.lists(
    st.sampled_from([b"data: one", b"data:two", b"data: \xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80", b"event: kind", b": said aside",
                     b"", b"", b"id: 7", b"data", b"retry: 9", b"\xff\xfe", b"data: " + b"x" * 90]),
    max_size=30,
)  # fmt: skip
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """A stream whose lines end in every way; or any bytes."""
    told = b"".join(line + draw(ENDS) for line in draw(LINES))
    return draw(st.sampled_from([told, told + b"data: cut", draw(st.binary(max_size=200))]))


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The bytes in pieces."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@given(streams(), st.lists(st.integers(0, 10_000), max_size=12), st.sampled_from([60, 1 << 20]))
def test_however_a_stream_is_cut_its_frames_are_the_same(data: bytes, places: list[int], longest: int) -> None:
    whole, pieces = Frames(longest), Frames(longest)
    at_once = [*whole.feed(data), *whole.end()]
    bit_by_bit = [frame for piece in cut(data, places) for frame in pieces.feed(piece)] + list(pieces.end())
    assert (bit_by_bit, pieces.lost) == (at_once, whole.lost)


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    list(frames_of([data]))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_line_may_end_in_each_of_three_ways(end: bytes) -> None:
    data = end.join([b": hello", b"event: kind", b"data: one", b"data: two", b"", b"data:three", b"", b""])
    assert list(frames_of([data])) == [Frame("one\ntwo", "kind"), Frame("three")]


def test_a_character_cut_in_two_is_one_character() -> None:
    data = "data: 你好\n\n".encode()
    assert [frame.data for at in range(len(data)) for frame in frames_of([data[:at], data[at:]])] == ["你好"] * len(
        data
    )


def test_the_last_frame_counts_though_its_blank_line_is_missing() -> None:
    assert list(frames_of([b"data: one\n\ndata: two"])) == [Frame("one"), Frame("two")]


def test_a_frame_without_data_is_none() -> None:
    assert list(frames_of([b"event: ping\n\n: nothing\n\nid: 3\n\n"])) == []


def test_an_endless_line_takes_no_memory_and_is_counted_while_the_next_frame_is_read() -> None:
    frames = Frames(longest=100)
    for _ in range(1000):
        assert list(frames.feed(b"data: " + b"x" * 50)) == []
        assert len(frames._line) <= 100
    assert [*frames.feed(b"\n\ndata: after\n\n")] == [Frame("after")]
    assert frames.lost == 1


def test_a_mark_of_the_encoding_at_the_start_is_no_text() -> None:
    assert list(frames_of([b"\xef\xbb", b"\xbfdata: one\n\n"])) == [Frame("one")]


@given(
    st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"data: a", b"event: b", b" ", b"\n\n\n\n"]), max_size=30),
    st.data(),
)
def test_blank_lines_end_a_frame_once_however_many_and_however_they_are_cut(
    parts: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(parts)
    single = [stream[at : at + 1] for at in range(len(stream))]
    places = data.draw(st.lists(st.integers(0, 10_000), max_size=6))
    assert list(frames_of([stream])) == list(frames_of(single)) == list(frames_of(cut(stream, places)))
