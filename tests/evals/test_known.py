"""Known-item questions out of a store of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.errors import StoreError
from agent_raw_rag.evals.configurations import stages
from agent_raw_rag.evals.known import known_items
from agent_raw_rag.evals.names import TextNames, text_name
from agent_raw_rag.evals.run import Plan, run_own
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.reader import Scope
from tests.samples import empty_runtime, sample_runtime


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    return sample_runtime(tmp_path_factory.mktemp("known"), config='[encoder]\nname = "hashing"\n')


def test_the_same_seed_gives_the_same_questions_and_another_one_others(stored: Runtime) -> None:
    idf = stored.funnel.words.index(stored.reader).idf
    one, again, other = (known_items(stored.reader, idf, 9, seed) for seed in (1, 1, 2))
    assert one == again
    assert one.questions != other.questions


def test_every_kind_is_asked_and_every_question_is_of_its_turn(stored: Runtime) -> None:
    idf = stored.funnel.words.index(stored.reader).idf
    questions = known_items(stored.reader, idf, 30, 1).questions
    assert {kind for question in questions for kind in question.kinds} == {"rare", "identifier", "sentence"}
    sessions = stored.reader.sessions(Scope())
    texts = {text_name(turn.text): turn.text for one in sessions for turn in stored.reader.turns(one.row.id)}
    for question in questions:
        ((name,),) = question.gold
        assert all(word in texts[name] for word in question.text.split())
    assert len({question.gold for question in questions}) == len(questions)


def test_the_store_is_asked_and_stays_as_it_was(stored: Runtime) -> None:
    idf = stored.funnel.words.index(stored.reader).idf
    before = _bytes(Path(stored.home))
    questions = known_items(stored.reader, idf, 12, 1).questions
    answers = run_own(stored, questions, Plan(stages(stored.settings, ["lexical", "full"])))
    found = [asked for asked in answers["lexical"] if asked.windows.ranks[0]]
    assert len(found) >= 0.8 * len(questions)
    assert _bytes(Path(stored.home)) == before


def test_a_text_that_was_said_twice_is_one(stored: Runtime) -> None:
    names = TextNames(stored.reader)
    sessions = stored.reader.sessions(Scope())
    turn = stored.reader.turns(sessions[0].row.id)[0]
    assert names.turn(turn.session_id, turn.ordinal) == text_name(turn.text)
    assert names.chars(text_name(turn.text)) == len(turn.text)
    assert names.turn(turn.session_id, 10_000) == ""


def test_an_empty_store_is_told(tmp_path: Path) -> None:
    runtime = empty_runtime(tmp_path, logs=False)
    runtime.ingest()
    with pytest.raises(StoreError, match="no turn that could be asked for"):
        known_items(runtime.reader, lambda terms: {}, 5, 1)


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".db-shm"}
