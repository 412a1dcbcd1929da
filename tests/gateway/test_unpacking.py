"""The bytes of an answer as they were packed -> as they were said."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.gateway.unpacking import unpacked
from tests.gateway.test_frames import cut

PLACES = st.lists(st.integers(0, 10_000), max_size=12)


def joined(pieces: list[bytes], encoding: str, most: int = 1 << 20) -> tuple[bytes, str]:
    plain, missing = unpacked(pieces, encoding, most)
    return b"".join(plain), missing


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4), PLACES)
def test_all_members_of_a_gzip_are_read_however_it_is_cut(members: list[bytes], places: list[int]) -> None:
    packed = b"".join(map(gzip.compress, members)) + b"\0" * 5
    assert joined(cut(packed, places), "gzip") == (b"".join(members), "")


@given(st.binary(min_size=1, max_size=200), PLACES)
def test_a_body_that_is_not_packed_and_a_deflated_one_are_the_body(body: bytes, places: list[int]) -> None:
    assert joined(cut(body, places), " Identity ") == joined(cut(body, places), "") == (body, "")
    assert joined(cut(zlib.compress(body), places), "deflate") == (body, "")


@given(st.binary(min_size=50, max_size=300), st.integers(0, 10_000), PLACES)
def test_of_a_packed_body_that_breaks_off_what_came_is_read(body: bytes, place: int, places: list[int]) -> None:
    packed = gzip.compress(body)
    plain, missing = joined(cut(packed[: place % len(packed)], places), "gzip")
    assert body.startswith(plain) and not missing


@given(st.binary(max_size=100), st.sampled_from(["gzip", "deflate", "br", "x\0y"]), PLACES)
def test_what_is_not_packed_so_raises_nothing(body: bytes, encoding: str, places: list[int]) -> None:
    joined(cut(body, places), encoding)


@pytest.mark.parametrize("size", [999, 1000, 1001, 100_000])
def test_what_is_longer_than_may_be_is_cut_and_said(size: int) -> None:
    plain, missing = joined([gzip.compress(b"x" * size)], "gzip", 1000)
    assert plain == b"x" * min(size, 1000)
    assert missing == ("" if size < 1000 else "an answer is longer than 1,000 bytes unpacked")


def test_a_broken_body_is_read_until_it_breaks() -> None:
    packed = gzip.compress(b"first") + b"no gzip"
    assert joined([packed], "gzip") == (b"first", "an answer is no gzip")
