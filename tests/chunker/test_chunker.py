"""The chunker's laws: windows cover the stream, and cutting again from any place gives what cutting once gives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.chunker import Piece, Windows, cut, whole_characters


class Bytes:
    """A tokenizer whose tokens are UTF-8 bytes: every window may end inside a character."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> bytes:
        return bytes(tokens)


def pieces_of(lines: list[str], open_from: int = 1 << 30) -> list[Piece]:
    pieces, token = [], 0
    for ordinal, line in enumerate(lines, start=1):
        tokens = Bytes().encode(line)
        pieces.append(Piece(ordinal, token, tokens, ordinal < open_from))
        token += len(tokens)
    return pieces


texts = st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=12)
windows = st.integers(9, 40).flatmap(lambda size: st.builds(Windows, st.just(size), st.integers(4, size - 5)))


@given(texts, windows)
def test_every_character_stands_whole_in_some_window(lines: list[str], windows: Windows) -> None:
    stream = "".join(lines)
    chunks = cut(pieces_of(lines), 0, Bytes(), windows)
    data = stream.encode()
    covered = {place for chunk in chunks for place in range(chunk.start_token, chunk.end_token)}
    assert covered == set(range(len(data)))
    assert not any("\ufffd" in chunk.text for chunk in chunks if "\ufffd" not in stream)
    assert all(chunk.text in stream for chunk in chunks)


@given(texts, texts, windows)
def test_cutting_from_the_first_touched_window_equals_cutting_once(
    old: list[str], new: list[str], windows: Windows
) -> None:
    before = cut(pieces_of(old), 0, Bytes(), windows)
    pieces = pieces_of(old + new)
    token = len("".join(old).encode())
    first = windows.first_touching(token)
    needed = [piece for piece in pieces if piece.start_token + len(piece.tokens) > first * windows.step]
    tail = cut(needed, first, Bytes(), windows)
    assert before[:first] + tail == cut(pieces, 0, Bytes(), windows)


@given(texts, windows, st.data())
def test_stable_chunks_never_change_when_turns_are_added(
    lines: list[str], windows: Windows, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(lines)))
    part = cut(pieces_of(lines[:count], open_from=count), 0, Bytes(), windows)
    whole = cut(pieces_of(lines), 0, Bytes(), windows)
    for chunk in part:
        if chunk.stable:
            assert whole[chunk.index] == chunk


def test_a_window_names_the_turns_it_touches() -> None:
    chunks = cut(pieces_of(["a" * 10, "b" * 10, "c" * 10]), 0, Bytes(), Windows(16, 4))
    assert [(chunk.start_token, chunk.end_token, chunk.first_turn, chunk.last_turn) for chunk in chunks] == [
        (0, 16, 1, 2),
        (12, 28, 2, 3),
        (24, 30, 3, 3),
    ]


def test_a_last_window_that_brings_nothing_new_is_not_cut() -> None:
    assert [chunk.end_token for chunk in cut(pieces_of(["a" * 16]), 0, Bytes(), Windows(16, 4))] == [16]


def test_an_overlap_as_long_as_the_window_is_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Windows(16, 16)


@pytest.mark.parametrize(
    ("data", "text"),
    [("é".encode()[1:] + b"a", "a"), (b"a" + "漢".encode()[:2], "a"), ("漢".encode(), "漢"), (b"", "")],
)
def test_half_characters_at_the_ends_are_left_to_the_neighbours(data: bytes, text: str) -> None:
    assert whole_characters(data) == text
