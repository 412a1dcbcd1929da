"""Which stretch of a window is whose turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.chunker import Piece as StreamPiece
from agent_raw_rag.chunker import Windows, cut, rendered
from agent_raw_rag.models import CleanText, Role
from agent_raw_rag.search.pieces import HEAD_CHARS, pieces


class Bytes:
    """A tokenizer with a token a byte."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: list[int]) -> bytes:
        return bytes(tokens)


WORDS = st.text(st.sampled_from("ab ?é\n漢:"), min_size=1, max_size=40)


@given(st.lists(st.tuples(st.sampled_from(Role), WORDS), min_size=1, max_size=8))
def test_the_pieces_of_every_window_are_its_text_and_begin_where_their_turns_begin(
    said: list[tuple[Role, str]],
) -> None:
    tokenizer = Bytes()
    lines = [rendered(role, CleanText(f"{number}·{text}")) for number, (role, text) in enumerate(said)]
    stream, place = [], 0
    for number, line in enumerate(lines, 1):
        tokens = tokenizer.encode(line)
        stream.append(StreamPiece(number, place, tokens, True))
        place += len(tokens)
    for chunk in cut(stream, 0, tokenizer, Windows(48, 8)):
        found = pieces(chunk.text, [(n, lines[n - 1]) for n in range(chunk.first_turn, chunk.last_turn + 1)])
        assert "".join(piece.text for piece in found) == chunk.text
        for piece in found:
            line = lines[piece.turn - 1]
            assert piece.text in line
            assert piece.begins == line.startswith(piece.text[:HEAD_CHARS])


def test_what_was_said_is_without_the_speaker_that_the_chunker_puts_before_it() -> None:
    text = "ends here\nAssistant: Ann: yes\nUser: ok\n"
    found = pieces(text, [(3, "User: it ends here"), (4, "Assistant: Ann: yes\n"), (5, "User: ok\n")])
    assert [(piece.turn, piece.said, piece.begins) for piece in found] == [
        (3, "ends here", False), (4, "Ann: yes", True), (5, "ok", True),
    ]  # fmt: skip


def test_a_turn_of_which_the_window_holds_too_little_to_see_has_no_piece() -> None:
    assert [piece.turn for piece in pieces("User: a\n", [(1, "User: a\n"), (2, "Assistant: b\n")])] == [1]
    assert pieces("", []) == []
