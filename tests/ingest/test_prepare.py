"""Reading ahead in a process of its own."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from agent_raw_rag.adapters.registry import adapter
from agent_raw_rag.encode.tokens import tokenizer
from agent_raw_rag.ingest.prepare import prepare_ahead, prepare_lines
from agent_raw_rag.ingest.reading import BATCH_TURNS, start_cursor
from agent_raw_rag.models import Source
from agent_raw_rag.sanitize import Options
from agent_raw_rag.sources.discover import find_sources
from tests.ingest.claude_log import folder, line


@pytest.fixture
def source(tmp_path: Path) -> Source:
    lines = [line(n, timestamp="2026-10-05T10:00:00Z") for n in range(int(2.5 * BATCH_TURNS))]
    (folder(tmp_path) / "s1.jsonl").write_text("".join(lines), encoding="utf-8")
    row = adapter("claude")
    (found,) = find_sources(row, row.roots({}, str(tmp_path)))
    return found


def test_a_writer_that_is_slower_than_the_reader_gets_every_batch(source: Source) -> None:
    row = adapter(source.agent)
    cursor = start_cursor(row, source)
    ahead = prepare_ahead(source, cursor, Options())
    found = [next(ahead)]
    for reader in multiprocessing.active_children():
        reader.join()  # it has read all that there is, and is gone
    found += ahead
    assert found == list(prepare_lines(row, source, cursor, tokenizer(), Options()))
    assert len(found) == 3


def test_a_reader_that_dies_is_told(source: Source) -> None:
    ahead = prepare_ahead(source, start_cursor(adapter(source.agent), source), Options())
    next(ahead)
    for reader in multiprocessing.active_children():
        reader.kill()
        reader.join()
    with pytest.raises(OSError, match=r"died|reset"):
        for _ in ahead:
            pass
