"""Which turns of a question set a store's rows are: (session row, turn number) -> turn id, and how long each is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.rows import ChunkRow


class Names(Protocol):
    """The turn ids of one store."""

    def turn(self, session_id: int, ordinal: int) -> str:
        """The id of a turn."""
        ...

    def window(self, chunk: ChunkRow) -> list[str]:
        """The ids of the turns that a window covers, in order."""
        ...

    def chars(self, name: str) -> int:
        """Characters of a turn's text."""
        ...


class CorpusNames:
    """Turns of a corpus, by the record ids they were stored with."""

    def __init__(self, reader: Reader, chars: Mapping[str, int]) -> None:
        rows = reader.connection.execute("SELECT id FROM sessions").fetchall()
        self._ids = {
            (turn.session_id, turn.ordinal): turn.record_ids[0] for row in rows for turn in reader.turns(row["id"])
        }
        self._chars = chars

    def turn(self, session_id: int, ordinal: int) -> str:
        """See ``Names``."""
        return self._ids[session_id, ordinal]

    def window(self, chunk: ChunkRow) -> list[str]:
        """See ``Names``."""
        return [self._ids[chunk.session_id, ordinal] for ordinal in range(chunk.first_turn, chunk.last_turn + 1)]

    def chars(self, name: str) -> int:
        """See ``Names``."""
        return self._chars[name]


class TextNames:
    """Turns of the user's own store, by a hash of their text: a text that was said twice is one, wherever it is found."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ids: dict[tuple[int, int], str] = {}
        self._chars: dict[str, int] = {}

    def turn(self, session_id: int, ordinal: int) -> str:
        """See ``Names``."""
        if (session_id, ordinal) not in self._ids:
            self._read(session_id, ordinal, ordinal)
        return self._ids.get((session_id, ordinal), "")

    def window(self, chunk: ChunkRow) -> list[str]:
        """See ``Names``."""
        ordinals = range(chunk.first_turn, chunk.last_turn + 1)
        if any((chunk.session_id, ordinal) not in self._ids for ordinal in ordinals):
            self._read(chunk.session_id, chunk.first_turn, chunk.last_turn)
        found = (self._ids.get((chunk.session_id, ordinal), "") for ordinal in ordinals)
        return [name for name in found if name]

    def chars(self, name: str) -> int:
        """See ``Names``."""
        return self._chars[name]

    def _read(self, session_id: int, first: int, last: int) -> None:
        for turn in self._reader.turns(session_id, first, last):
            name = text_name(turn.text)
            self._ids[session_id, turn.ordinal] = name
            self._chars[name] = len(turn.text)


def text_name(text: str) -> str:
    """The id of every turn that says exactly this."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
