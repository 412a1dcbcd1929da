"""Vectors follow the chunks: the last window of a session changes with each turn, and leaves no vector behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_raw_rag.runtime import Runtime
from tests.process.pens import LinePen, pens
from tests.process.watching import LINES
from tests.samples import sample_environment

CONFIG = '[encoder]\nname = "hashing"\n'


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return Runtime.load(None, sample_environment(tmp_path, config=CONFIG))


def held(runtime: Runtime) -> tuple[set[bytes], set[bytes]]:
    """Hashes of the chunks' texts, and of the texts that have a vector."""
    with closing(sqlite3.connect(f"{runtime.home}/raw_rag.db")) as connection:
        chunks, vectors = (
            {row[0] for row in connection.execute(f"SELECT hash FROM {table}")} for table in ("chunks", "vectors")
        )
    return chunks, vectors


def test_whatever_is_said_there_are_as_many_vectors_as_texts(runtime: Runtime) -> None:
    home = Path(runtime.environment["HOME"])
    runtime.ingest()
    for place, pen in enumerate(2 * pens(home)):
        pen.say(f"Remark {place} about the heron codec and its last frame.")
        before = held(runtime)[0]
        runtime.ingest()
        chunks, vectors = held(runtime)
        assert chunks == vectors and chunks != before


def test_a_text_that_another_session_still_says_keeps_its_vector(runtime: Runtime) -> None:
    home = Path(runtime.environment["HOME"])
    log = home / LINES
    session, text = log.stem, log.read_text(encoding="utf-8")
    other = log.with_name(f"{session[:-1]}f.jsonl")
    other.write_text(text.replace(session, other.stem).replace('"uuid":"', '"uuid":"f'), encoding="utf-8")
    runtime.ingest()
    before = held(runtime)[1]
    (pen,) = (one for one in pens(home) if isinstance(one, LinePen) and one.log == log)
    pen.say("Remark about the heron codec.")
    runtime.ingest()
    assert held(runtime)[1] > before
