"""Cutting a session's chunks again from the first window that a change touches. Everything before stays as it is."""

from __future__ import annotations

from agent_raw_rag.chunker import Piece, Windows, cut, rendered
from agent_raw_rag.models import CleanText, Tokenizer
from agent_raw_rag.store.rows import SessionRow, TurnRow
from agent_raw_rag.store.writer import Writer


def recut(writer: Writer, session: SessionRow, from_ordinal: int, tokenizer: Tokenizer, windows: Windows) -> int:
    """Bring the token ranges and chunks of a session in line with its live turns from ``from_ordinal`` on.

    A passing session has no chunks: what is not cut is in no index and gets no vector. Returns the number of chunks written.
    """
    token = writer.token_before(session.id, from_ordinal)
    first = windows.first_touching(token)
    stream = writer.stream_from(session.id, first * windows.step, from_ordinal)
    pieces = _pieces(writer, stream, from_ordinal, token, tokenizer)
    session.tokens = _end(pieces, token)
    chunks = [] if session.passing else cut(pieces, first, tokenizer, windows)
    return writer.replace_chunks(session.id, first, chunks, [turn for turn, _ in stream])


def _pieces(
    writer: Writer, stream: list[tuple[TurnRow, str]], from_ordinal: int, token: int, tokenizer: Tokenizer
) -> list[Piece]:
    pieces: list[Piece] = []
    moved: list[tuple[int, int, int]] = []
    for turn, text in stream:
        tokens = tokenizer.encode(rendered(turn.role, CleanText(text)))
        start = turn.start_token if turn.ordinal < from_ordinal else token
        if turn.ordinal >= from_ordinal:
            token += len(tokens)
            if (turn.start_token, turn.tokens) != (start, len(tokens)):
                moved.append((start, len(tokens), turn.id))
        pieces.append(Piece(turn.ordinal, start, tokens, not turn.open))
    writer.set_tokens(moved)
    return pieces


def _end(pieces: list[Piece], token: int) -> int:
    return pieces[-1].start_token + len(pieces[-1].tokens) if pieces else token
