"""A cache against the rows that belong into it: all of it agrees, or the rows that do not are counted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent_raw_rag.errors import StoreError
from agent_raw_rag.vectors.agreement import Agreement, Expected
from agent_raw_rag.vectors.cache import VectorCache
from agent_raw_rag.vectors.layout import BLOCK_ROWS, DATA_START, VectorRow, block_type, file_bytes
from tests.vectors.rows import DIM, filled, reader, rows_of, vectors_of, writer


def expected(rows: list[VectorRow], vectors: NDArray[np.float32], step: int = 100) -> Expected:
    """In slices, in the order of chunk ids."""
    order = sorted(range(len(rows)), key=lambda place: rows[place].chunk_id)
    for low in range(0, len(order), step):
        part = order[low : low + step]
        yield [rows[place] for place in part], vectors[part]


@given(st.data())
def test_whatever_was_appended_dropped_replaced_and_compacted_agrees(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = writer(Path(folder) / "v")
        known: dict[int, tuple[VectorRow, NDArray[np.float32]]] = {}
        for seed in range(data.draw(st.integers(1, 4))):
            first, count = data.draw(st.integers(1, 60)), data.draw(st.integers(0, 40))
            rows, vectors = rows_of(count, first), vectors_of(count, seed)
            cache.append(rows, vectors)
            known |= {row.chunk_id: (row, vector) for row, vector in zip(rows, vectors, strict=True)}
            cache.commit(max(known, default=0))
            gone = data.draw(st.sets(st.integers(1, 100), max_size=10))
            cache.drop(gone)
            cache.commit(max(known, default=0))
            known = {number: one for number, one in known.items() if number not in gone}
            if data.draw(st.booleans()):
                cache.compact()
        rows = [row for row, _ in known.values()]
        vectors = np.array([vector for _, vector in known.values()], np.float32).reshape(-1, DIM)
        assert cache.compare(expected(rows, vectors, 7)) == Agreement(len(rows), 0, 0, ())
        cache.close()


def _spoilt(path: Path, column: str, row: int) -> None:
    """Turn the bits of one row's column over, without a word in the header."""
    kind: Any = block_type(DIM)
    cell = kind[column].subdtype[0].itemsize * (DIM if column in ("code", "vector") else 1)
    place = DATA_START + row // BLOCK_ROWS * kind.itemsize + kind.fields[column][1] + row % BLOCK_ROWS * cell
    content = bytearray(path.read_bytes())
    content[place : place + cell] = bytes(byte ^ 0x55 for byte in content[place : place + cell])
    path.write_bytes(content)


@pytest.mark.parametrize("column", [name for name in block_type(DIM).names or () if name != "chunk"])
@pytest.mark.parametrize("row", [0, BLOCK_ROWS - 1, BLOCK_ROWS, 1499])
def test_a_garbled_row_under_a_sound_header_is_counted(tmp_path: Path, column: str, row: int) -> None:
    filled(tmp_path / "v", 1500).close()
    _spoilt(tmp_path / "v", column, row)
    cache = reader(tmp_path / "v")
    assert len(cache) == 1500
    assert cache.compare(expected(rows_of(1500), vectors_of(1500))) == Agreement(1500, 0, 1, ())


def test_a_garbled_id_is_a_row_that_lacks_and_one_too_many(tmp_path: Path) -> None:
    filled(tmp_path / "v", 30).close()
    _spoilt(tmp_path / "v", "chunk", 11)
    found = reader(tmp_path / "v").compare(expected(rows_of(30), vectors_of(30)))
    assert (found.missing, found.garbled, len(found.others)) == (1, 0, 1)


def test_rows_that_lack_and_rows_that_nobody_expects_are_told(tmp_path: Path) -> None:
    cache = filled(tmp_path / "v", 10)
    cache.drop([3, 4])
    cache.commit(10)
    found = cache.compare(expected(rows_of(9), vectors_of(10)[:9]))
    assert found == Agreement(9, missing=2, garbled=0, others=(10,))
    cache.close()


def test_another_machines_last_bit_is_no_disagreement(tmp_path: Path) -> None:
    filled(tmp_path / "v", 200).close()
    near = np.nextafter(vectors_of(200).astype(np.float16), np.float16(1)).astype(np.float32)
    assert reader(tmp_path / "v").compare(expected(rows_of(200), near)).garbled == 0


@pytest.mark.parametrize("rows", [0, 5])
def test_an_empty_cache_lacks_everything(tmp_path: Path, rows: int) -> None:
    found = reader(tmp_path / "v").compare(expected(rows_of(rows), vectors_of(rows)))
    assert found == Agreement(rows, missing=rows, garbled=0, others=())


def test_a_file_that_is_cut_short_while_it_is_open_is_an_error(tmp_path: Path) -> None:
    filled(tmp_path / "v", 10).close()
    cache: VectorCache = reader(tmp_path / "v")
    with (tmp_path / "v").open("r+b") as stream:
        stream.truncate(file_bytes(10, DIM) - 5)

    def nothing() -> Iterator[tuple[list[VectorRow], NDArray[np.float32]]]:
        yield from ()

    with pytest.raises(StoreError, match="cut short"):
        cache.compare(nothing())
