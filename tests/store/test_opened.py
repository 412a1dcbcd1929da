"""A store that is replaced while it is open is seen, and read in the place of the old one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_raw_rag.errors import StoreError
from tests.samples import sample_runtime


@pytest.mark.skipif(os.name == "nt", reason="there an open file cannot be removed")
def test_a_reader_goes_on_with_the_store_that_stands_there_now(tmp_path: Path) -> None:
    runtime = sample_runtime(tmp_path)
    before, first = runtime.project_names(), runtime.reader
    assert runtime.reader is first and before
    for file in Path(runtime.home).glob("raw_rag.db*"):
        file.unlink()
    with pytest.raises(StoreError, match="no store"):
        runtime.project_names()
    runtime.ingest()
    assert runtime.reader is not first and runtime.project_names() == before
