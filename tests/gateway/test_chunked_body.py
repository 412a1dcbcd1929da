"""A chunked body -> its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.gateway.chunked_body import ChunkedBody
from tests.gateway.test_frames import cut

PLACES = st.lists(st.integers(0, 10_000), max_size=12)


def chunked(parts: list[bytes]) -> bytes:
    """Each part as a chunk, and the end."""
    return b"".join(b"%x;ext=1\r\n%b\r\n" % (len(part), part) for part in parts if part) + b"0\r\n"


def read(pieces: list[bytes]) -> tuple[bytes, bool, bytes]:
    chunks = ChunkedBody()
    found = b"".join([chunks.feed(piece) for piece in pieces])
    return found, chunks.ended, chunks.over


@given(
    st.lists(st.binary(max_size=40), max_size=10),
    PLACES,
    st.sampled_from([b"", b"Trailer: x\r\n"]),
    st.binary(max_size=9),
)
def test_however_a_body_is_cut_its_bytes_are_the_same(
    parts: list[bytes], places: list[int], trailer: bytes, after: bytes
) -> None:
    data = chunked(parts) + trailer + b"\r\n" + after
    assert read(cut(data, places)) == (b"".join(parts), True, after)


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=10), st.integers(0, 10_000))
def test_a_body_that_breaks_off_has_not_ended(parts: list[bytes], place: int) -> None:
    data = chunked(parts)
    found, ended, over = read([data[: place % len(data)]])
    assert (b"".join(parts).startswith(found), ended, over) == (True, False, b"")


@given(st.binary(max_size=80), PLACES)
def test_what_is_no_chunked_body_is_no_error_but_one(data: bytes, places: list[int]) -> None:
    try:
        read(cut(data, places))
    except ValueError:
        pass


@pytest.mark.parametrize("data", [b"zz\r\n", b"-1\r\n", b"+1\r\nx\r\n", b"1_0\r\n", b"\r\n", b"3\r\nabcd\r\n",
                                  b"f" * 16 + b"\r\n", b"x" * 5000, b"0\r\n" + b"t: t\r\n" * 20_000])  # fmt: skip
def test_lines_that_lie_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="chunk"):
        read([data])
