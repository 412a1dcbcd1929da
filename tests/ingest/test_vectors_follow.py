"""Vectors follow the chunks: the last window of a session changes with each turn, and leaves no vector behind."""

from __future__ import annotations

import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from agent_raw_rag.encode.choice import Choice
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.ingest.spaces import Embedding
from agent_raw_rag.models import Role
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.writer import Writer
from tests.process.pens import pens
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


def test_a_text_that_another_session_still_says_keeps_its_vector(tmp_path: Path) -> None:
    store = Stored(tmp_path)
    for session in ("one", "other"):
        store.add_session(session, [(Role.USER, "The heron codec drops the last frame.", None)])
    Embedding(store.connection, store.home, lambda choice: HashingEncoder(), nullcontext).run(Choice("hashing", {}))
    numbers = [row[0] for row in store.connection.execute("SELECT id FROM sessions ORDER BY id")]
    writer, left = Writer(store.connection), []
    for number in numbers:
        writer.replace_chunks(number, 0, [], [])
        left.append(store.connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
    assert left == [1, 0]
