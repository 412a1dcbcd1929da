"""What a file is that a person wants imported, told by how it begins."""

from __future__ import annotations

import os
import zipfile
from enum import Enum, auto
from itertools import islice

from agent_raw_rag.errors import SourceError
from agent_raw_rag.models import Record
from agent_raw_rag.sources.lines import read_lines

FORMAT = "raw-rag-export"
_CHATS = ("conversations", "chat_messages", "mapping")
"""A JSON object with one of these is a chat service's."""
_HEAD = 1 << 12
LOOKED_AT = 20
"""Lines among which one is a record, if the file is of lines: the first may be torn."""


class Kind(Enum):
    """What reads it."""

    EXPORT = auto()
    """An export of ours."""
    CHATS = auto()
    """Conversations that a chat service exported."""
    LOG = auto()
    """JSON lines of an agent."""


def kind_of(path: str) -> Kind:
    """The kind of a file or folder.

    Raises:
        SourceError: it cannot be read, or is empty.
    """
    try:
        if os.path.isdir(path) or zipfile.is_zipfile(path):
            return Kind.CHATS
        with open(path, "rb") as file:
            head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not head:
            raise SourceError(f"{path} is empty.")
        return Kind.CHATS if head[:1] == b"[" else _of_lines(path)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error


def _of_lines(path: str) -> Kind:
    first = next((one for one in islice(read_lines(path), LOOKED_AT) if isinstance(one, Record)), None)
    if first is None:
        return Kind.CHATS  # an object over several lines
    if first.data.get("format") == FORMAT:
        return Kind.EXPORT
    return Kind.CHATS if any(name in first.data for name in _CHATS) else Kind.LOG
