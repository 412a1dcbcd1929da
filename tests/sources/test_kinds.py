"""What a file is that a person wants imported."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from agent_raw_rag.errors import SourceError
from agent_raw_rag.sources.kinds import Kind, kind_of

KINDS = {
    "array": ("[]", Kind.CHATS),
    "array with a mark": ("\ufeff \n[{}]", Kind.CHATS),
    "one conversation on a line": ('{"uuid": "u", "chat_messages": []}', Kind.CHATS),
    "one conversation over lines": ('{\n "id": "u",\n "mapping": {}\n}', Kind.CHATS),
    "export": ('{"format":"raw-rag-export","version":1}\n{"type":"end"}\n', Kind.EXPORT),
    "log": ('{"type":"user"}\n{"type":"assistant"}\n', Kind.LOG),
    "log whose first line is torn": ('er"}\n{"type":"assistant"}\n', Kind.LOG),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_told_by_how_it_begins(name: str, tmp_path: Path) -> None:
    text, kind = KINDS[name]
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    assert kind_of(str(path)) is kind


def test_a_zip_and_a_folder_are_a_chat_services(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z", "w") as made:
        made.writestr("a", "b")
    assert [kind_of(str(path)) for path in (tmp_path / "z", tmp_path)] == [Kind.CHATS, Kind.CHATS]


def test_an_empty_file_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "e").touch()
    with pytest.raises(SourceError, match="empty"):
        kind_of(str(tmp_path / "e"))
