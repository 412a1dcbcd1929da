"""Derived files against their store: what lags is no fault, what differs is one, and making anew mends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_raw_rag.derived import cache_file, lexical_folder
from agent_raw_rag.errors import StoreError
from agent_raw_rag.ingest.verify import compare_cache, compare_lexical
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.reader import Reader
from agent_raw_rag.store.spaces import SpaceRow
from tests.samples import sample_runtime

HASHING = '[encoder]\nname = "hashing"\n'
CLAUDE = ".claude/projects/-home-dev-uploader/7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001.jsonl"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A store with vectors and, though it is small, a lexical index."""
    made = sample_runtime(tmp_path, config=HASHING)
    made.upkeep.rebuild_words()
    return made


def space(runtime: Runtime) -> SpaceRow:
    return runtime.upkeep.spaces()[0]


def grow(runtime: Runtime, text: str) -> None:
    """Something is said and stored, and nothing derived follows: it is too little for the index, and vectors wait."""
    log = Path(runtime.environment["HOME"]) / CLAUDE
    last = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    said = {**last, "type": "user", "uuid": text, "message": {"role": "user", "content": text}}
    with log.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(said) + "\n")
    runtime.ingest(embed=False, only={str(log)})


def test_what_was_just_made_agrees(runtime: Runtime) -> None:
    words, vectors = runtime.upkeep.compare_words(), runtime.upkeep.compare_vectors(space(runtime))
    assert (words.fault, words.behind, vectors.fault, vectors.behind) == ("", 0, "", 0)
    assert words.rows == vectors.rows == runtime.status().chunks > 0


def test_what_came_later_lags_and_what_was_recut_since_is_no_fault(runtime: Runtime) -> None:
    rows = runtime.upkeep.compare_vectors(space(runtime)).rows
    grow(runtime, "one more")  # cuts the session's last chunk anew: its old row is dropped from the store
    words, vectors = runtime.upkeep.compare_words(), runtime.upkeep.compare_vectors(space(runtime))
    assert (words.fault, vectors.fault) == ("", "")
    assert words.behind > 0 and words.rows == vectors.rows == rows


def test_an_index_killed_between_its_commit_and_its_state_is_no_fault(runtime: Runtime) -> None:
    state = Path(lexical_folder(runtime.home)) / "meta.json"
    before = json.loads(state.read_text(encoding="utf-8"))
    state.write_text(json.dumps({**before, "high_water": before["high_water"] - 3}), encoding="utf-8")
    assert runtime.upkeep.compare_words().fault == ""


def test_chunks_that_lack_or_are_too_many_are_a_fault_and_making_anew_mends_it(runtime: Runtime) -> None:
    with connect(runtime.settings.store_path(), write=True) as connection:
        connection.execute("DELETE FROM chunks WHERE id = (SELECT min(id) FROM chunks)")  # as no code of ours does it
    upkeep = runtime.upkeep
    assert "holds 1 chunks that are not in the store" in upkeep.compare_words().fault
    assert "holds 1 chunks that are not in the store" in upkeep.compare_vectors(space(runtime)).fault
    assert upkeep.rebuild_words() == upkeep.rebuild_vectors(space(runtime)) == runtime.status().chunks
    assert upkeep.compare_words().fault == upkeep.compare_vectors(space(runtime)).fault == ""


def test_the_derived_files_of_another_store_are_a_fault(runtime: Runtime) -> None:
    with connect(runtime.settings.store_path(), write=True) as connection:
        connection.execute("UPDATE meta SET value = 'another' WHERE key = 'generation'")
    connection = connect(runtime.settings.store_path(), write=False)
    assert "cannot be read" in compare_lexical(Reader(connection), runtime.home).fault
    assert "cannot be read" in compare_cache(connection, runtime.home, space(runtime)).fault


def test_a_vector_of_another_length_in_the_store_is_an_error(runtime: Runtime) -> None:
    with connect(runtime.settings.store_path(), write=True) as connection:
        connection.execute("UPDATE vectors SET vector = x'0000'")
    with pytest.raises(StoreError, match="has not"):
        runtime.upkeep.compare_vectors(space(runtime))


def test_making_anew_takes_the_place_of_whatever_lies_there(runtime: Runtime) -> None:
    runtime.upkeep.rebuild_vectors(space(runtime))
    cache = Path(cache_file(runtime.home, space(runtime).name))
    cache.unlink()
    cache.parent.rmdir()
    cache.parent.write_text("a file", encoding="utf-8")
    assert runtime.upkeep.rebuild_vectors(space(runtime)) == runtime.status().chunks
