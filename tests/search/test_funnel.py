"""The stages together: what an answer says of them, and that each can be switched off."""

from __future__ import annotations

import pytest

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.models import Role
from agent_raw_rag.search.funnel import Funnel
from agent_raw_rag.search.result import SearchResult
from agent_raw_rag.search.settings import SWITCHES
from agent_raw_rag.search.zone import SYSTEM_ZONE
from agent_raw_rag.server import wire
from agent_raw_rag.store.reader import Scope

PROMPT = "You are reviewing the uploader. Look at the retry budget, the queue and its limits, and say what is wrong."


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    made = Stored(tmp_path_factory.mktemp("funnel"))
    for number in range(3):
        made.add_session(f"copy{number}", [(Role.USER, PROMPT, 1000 * number)])
    made.add_session("other", [
        (Role.USER, "where is the budget for a retry set?", 5000),
        (Role.ASSISTANT, "in src/upload/retry_budget.py, `retry budget` is 3", 6000),
    ])  # fmt: skip
    made.index(HashingEncoder)
    return made


def funnel(store: Stored, **switches: object) -> Funnel:
    settings = Settings().search.model_copy(update={"time_order": False, **switches})
    return Funnel(store.home, lambda: store.reader, HashingEncoder, settings)


def search(store: Stored, query: str, **switches: object) -> SearchResult:
    ask = funnel(store, **switches)
    return ask.search(query, Scope(), top_k=15, max_tokens=6000, zone=SYSTEM_ZONE, resume=lambda _: None)


def test_a_copied_prompt_is_shown_once_and_says_where_else_it_is(store: Stored) -> None:
    passages = search(store, "reviewing the uploader queue limits").passages
    copies = [one for one in passages if "copy" in one.session]
    assert len(copies) == 1
    assert {copies[0].session, *(other.session for other in copies[0].also)} == {f"bench:copy{n}" for n in range(3)}
    plain = search(store, "reviewing the uploader queue limits", near_duplicates=False).passages
    assert sum("copy" in one.session for one in plain) == 3


def test_the_newest_of_copies_that_rank_alike_stands_for_them(store: Stored) -> None:
    passages = search(store, "reviewing the uploader queue limits").passages
    assert [one.session for one in passages if "copy" in one.session] == ["bench:copy2"]


def test_without_recency_equals_stand_in_the_order_they_were_read(store: Stored) -> None:
    switches = {"near_duplicates": False, "recency": False}
    passages = search(store, "reviewing the uploader queue limits", **switches).passages
    assert [one.session for one in passages if "copy" in one.session] == [f"bench:copy{n}" for n in range(3)]


def test_a_quoted_phrase_decides_between_the_same_words(store: Stored) -> None:
    for query in ('"budget for a retry"', "`src/upload/retry_budget.py`"):
        assert search(store, f"uploader {query}").passages[0].session == "bench:other"


def test_a_passage_tells_its_way_through_the_stages(store: Stored) -> None:
    first = search(store, '"retry budget"').passages[0]
    assert [mark.stage for mark in first.explain][:3] == ["words", "vectors", "fuse"]
    assert first.explain[-1].rank == 1
    assert all(mark.rank >= 1 for mark in first.explain)


def test_the_trace_and_the_copies_do_not_travel_to_a_model(store: Stored) -> None:
    for passage in wire.found(search(store, "reviewing the uploader"), "*")["passages"]:
        assert "explain" not in passage and "also" not in passage


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_stage_that_is_switched_off_leaves_no_trace_and_the_answer_says_so(store: Stored, switch: str) -> None:
    stage = {
        "lexical": "words", "dense": "vectors", "exact": "phrase", "time_words": "time", "recency": "recency",
        "near_duplicates": "near-duplicates", "learned": "learned",
    }[switch]  # fmt: skip
    ranking, _ = funnel(store, **{switch: False}).rank('"retry budget" in January 1970', Scope(), store.reader)
    assert ranking.trace and f"switched off: {switch}" in ranking.stages
    assert stage not in [name for name, _ in ranking.trace]


def test_without_any_ranking_nothing_is_found(store: Stored) -> None:
    assert search(store, "retry", lexical=False, dense=False).passages == []


def test_ranked_windows_give_ranked_turns(store: Stored) -> None:
    turns = funnel(store).rank_turns("src/upload/retry_budget.py", Scope(), store.reader, 3)
    sessions = store.reader.session_rows(session for session, _, _ in turns)
    assert next((sessions[session].native, turn) for session, turn, _ in turns) == ("other", 2)
    assert len(turns) == 3 and len({turn[:2] for turn in turns}) == 3
    assert [score for _, _, score in turns] == sorted((score for _, _, score in turns), reverse=True)
