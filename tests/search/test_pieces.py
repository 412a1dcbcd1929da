"""Which stretch of a window is whose turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.chunker import Piece as StreamPiece
from agent_raw_rag.chunker import Windows, cut, rendered
from agent_raw_rag.models import CleanText, Role
from agent_raw_rag.search.pieces import HEAD_CHARS, WHOLE_CHARS, pieces, stretches


class Bytes:
    """A tokenizer with a token a byte."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: list[int]) -> bytes:
        return bytes(tokens)


WORDS = st.text(st.sampled_from("ab ?é\n漢:"), min_size=1, max_size=40)


@given(st.lists(st.tuples(st.sampled_from(Role), WORDS), min_size=1, max_size=8))
def test_the_stretches_of_every_window_are_its_text_and_begin_where_their_turns_begin(
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
        mine = [lines[n - 1] for n in range(chunk.first_turn, chunk.last_turn + 1)]
        found = stretches(chunk.text, mine)
        assert "".join(chunk.text[start:end] for start, end, _ in found) == chunk.text
        for line, (start, end, begins) in zip(mine, found, strict=True):
            assert chunk.text[start:end] in line
            assert end == start or begins == line.startswith(chunk.text[start:end][:HEAD_CHARS])


def test_a_short_turn_is_whole_even_where_the_window_cuts_it_and_a_long_one_is_not() -> None:
    long = f"Assistant: {'word ' * WHOLE_CHARS}\n"
    found = pieces(f"it ends here\n{long[:400]}", [(1, "User: where it ends here\n"), (2, long)])
    assert [piece.whole for piece in found] == ["where it ends here", long[11:400].rstrip("\n")]
    assert found[0].said == "it ends here"


def test_what_was_said_is_without_the_speaker_that_the_chunker_puts_before_it() -> None:
    text = "ends here\nAssistant: Ann: yes\n"
    found = pieces(text, [(3, f"User: {' ' * WHOLE_CHARS} it ends here\n"), (4, "Assistant: Ann: yes\n")])
    assert [(piece.turn, piece.said, piece.begins) for piece in found] == [
        (3, "ends here", False), (4, "Ann: yes", True),
    ]  # fmt: skip


def test_a_turn_of_which_the_window_holds_too_little_to_see_has_no_piece() -> None:
    assert [piece.turn for piece in pieces("User: a\n", [(1, "User: a\n"), (2, "Assistant: b\n")])] == [1]
    assert pieces("", []) == []
