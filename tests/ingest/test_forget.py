"""Forgetting leaves no word behind: not in the files that are derived either, and not if it was killed half way."""

from __future__ import annotations

from pathlib import Path

from agent_raw_rag.derived import cache_file
from agent_raw_rag.ingest.forget import forget
from agent_raw_rag.ingest.run import IngestRun
from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.connection import connect
from agent_raw_rag.store.reader import Scope
from tests.samples import sample_runtime


def builds(runtime: Runtime) -> set[str]:
    """The folders that the lexical index is in: a new one each time it is made anew."""
    return {path.name for path in (Path(runtime.home) / "lexical").glob("*") if path.is_dir()}


def indexed_runtime(folder: Path) -> Runtime:
    """The sample logs, read and indexed to the last chunk."""
    runtime = sample_runtime(folder)
    runtime.ingest(again=True)
    assert builds(runtime)
    return runtime


def test_the_lexical_index_is_made_anew_since_it_keeps_the_words_of_what_was_taken_out(tmp_path: Path) -> None:
    runtime = indexed_runtime(tmp_path)
    before = builds(runtime)
    forgotten, *others = [item.session for item in runtime.sessions(Ask())]
    runtime.forget(runtime.forget_scope(Ask(session=forgotten)))
    assert before.isdisjoint(builds(runtime))
    assert [item.session for item in runtime.sessions(Ask())] == others
    assert runtime.search("why did we drop the retry in the uploader?", Ask()).passages


def test_a_forgetting_that_was_killed_is_ended_by_the_next_writer(tmp_path: Path) -> None:
    runtime = indexed_runtime(tmp_path)
    before = builds(runtime)
    connection = connect(runtime.settings.store_path(), write=True)
    run = IngestRun(connection, runtime.home, runtime.tokenizer, runtime.ingest_options, lambda: None)
    forget(run.committer, Scope())  # and nothing after it
    connection.close()
    assert builds(runtime) == before
    runtime.ingest()
    assert before.isdisjoint(builds(runtime))
    files = [path for path in Path(runtime.home).rglob("*") if path.is_file()]
    assert [path.name for path in files if b"uploader retry" in path.read_bytes().lower()] == []
    again = builds(runtime)
    runtime.ingest()
    assert builds(runtime) == again


def test_the_draft_of_a_cache_that_a_killed_writer_left_goes_too(tmp_path: Path) -> None:
    runtime = indexed_runtime(tmp_path)
    draft = Path(cache_file(runtime.home, "any") + ".new")
    draft.parent.mkdir(exist_ok=True)
    draft.write_bytes(b"vectors of what is to be forgotten")
    runtime.forget(Scope())
    assert not draft.exists()
