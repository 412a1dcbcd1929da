"""The files of an index against their checksums, and an index that breaks tantivy down."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_raw_rag.lexical.checksums import PARTS
from agent_raw_rag.lexical.index import LexicalIndex
from tests.lexical.corpus import numbered

Spoil = Callable[[bytes], bytes]
SPOILT: dict[str, Spoil] = {
    "a bit": lambda content: content[:3] + bytes([content[3] ^ 4]) + content[4:],
    "the tail": lambda content: content[:-40] + b"\xa5" * 40,
    "cut": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "another length of the footer": lambda content: content[:-8] + b"\xff\xff\x00\x00" + content[-4:],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with several commits and removals."""
    folder = tmp_path_factory.mktemp("index")
    index = LexicalIndex.open(folder, "g", writable=True)
    index.add(numbered(*(f"retry the upload number {number}, path_{number}" for number in range(1, 400))))
    index.commit(399)
    index.remove([5, 6])
    index.commit(399, 2)
    index.close()
    return folder


def _build(folder: Path) -> Path:
    return next(path for path in folder.iterdir() if path.is_dir())


def test_a_sound_index_is_sound_and_so_is_none(made: Path, tmp_path: Path) -> None:
    assert LexicalIndex.open(made, "g").damage() is None
    assert LexicalIndex.open(tmp_path, "g").damage() is None
    assert LexicalIndex.in_memory().damage() is None


@pytest.mark.parametrize("spoil", SPOILT)
@pytest.mark.parametrize("part", (*PARTS, "del"))
def test_a_file_that_is_not_as_it_was_written_is_named(made: Path, tmp_path: Path, part: str, spoil: str) -> None:
    index = LexicalIndex.open(made, "g")  # opened while all is well: opening finds some damages by itself
    folder = tmp_path / "index"
    shutil.copytree(made, folder)
    index._folder = folder
    path = next(_build(folder).glob(f"*.{part}"))
    path.write_bytes(SPOILT[spoil](path.read_bytes()))
    assert index.damage() == path.name
    path.unlink()
    assert index.damage() == path.name


@pytest.mark.parametrize("content", ["", "{", "[]", '{"segments": 1}', '{"segments": [{}]}'])
def test_an_index_without_its_list_of_segments_is_damaged(made: Path, tmp_path: Path, content: str) -> None:
    index = LexicalIndex.open(made, "g")
    folder = tmp_path / "index"
    shutil.copytree(made, folder)
    index._folder = folder
    (_build(folder) / "meta.json").write_text(content, encoding="utf-8")
    assert index.damage() == "meta.json"


def test_an_index_over_which_tantivy_breaks_down_is_empty_to_a_reader_and_made_anew_by_a_writer(
    made: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(made, folder)
    path = next(_build(folder).glob("*.fast"))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 20] = b"\xa5" * 20
    path.write_bytes(content)
    reader = LexicalIndex.open(folder, "g")
    assert (len(reader), reader.high_water, reader.search("retry")) == (0, 0, [])
    writer = LexicalIndex.open(folder, "g", writable=True)
    writer.add(numbered("retry"))
    writer.commit(1)
    writer.close()
    assert [number for number, _ in LexicalIndex.open(folder, "g").search("retry")] == [1]
