"""Hits -> passages: what hours part is not one passage, and each turn is shown once."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from agent_raw_rag.models import Role
from agent_raw_rag.search.expand import Expansion, Hit, expand
from agent_raw_rag.search.result import Passage, Scores
from agent_raw_rag.store.reader import Reader
from tests.stored import Stored

HOUR = 3_600_000
NINE = 1_795_000_000_000


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    store = Stored(tmp_path)
    store.add_session("x", [
        (Role.USER, "which cache do we take", NINE), (Role.ASSISTANT, "redis for now", NINE + 60_000),
        (Role.USER, "back again: the final decision is memcached", NINE + 9 * HOUR), (Role.ASSISTANT, "noted", None),
    ])  # fmt: skip
    store.add_session("y", [(Role.USER, "which cache do others take", NINE + 3 * HOUR)])
    return store.reader


def passages(reader: Reader, query: str, **how: bool) -> list[Passage]:
    chunks = [facts.chunk for facts in reader.chunks_after(0)]
    hits = [Hit(chunk, rank, "lexical", Scores(1.0)) for rank, chunk in enumerate(chunks, 1)]
    return expand(hits, query, Expansion(6000, **how), reader, UTC, lambda _: None)[0]


def test_a_passage_keeps_to_the_stretch_of_time_that_was_hit(reader: Reader) -> None:
    shown = passages(reader, "final decision memcached")
    assert [(one.session, one.first_turn, one.last_turn, one.turn) for one in shown] == [
        ("bench:y", 1, 1, 1),
        ("bench:x", 3, 4, 3),
    ]
    assert "redis" not in shown[1].text


def test_a_turn_without_a_time_stays_with_the_one_before(reader: Reader) -> None:
    assert "noted" in passages(reader, "memcached")[1].text


def test_what_was_left_out_for_the_time_can_be_shown_by_another_hit(reader: Reader) -> None:
    chunk = next(reader.chunks_after(0)).chunk
    hits = [Hit(chunk, 1, "lexical", Scores(1.0)), Hit(chunk, 2, "lexical", Scores(0.9))]
    shown, _ = expand(hits, "memcached", Expansion(6000), reader, UTC, lambda _: None)
    assert [(one.first_turn, one.last_turn) for one in shown] == [(1, 2), (3, 4)]


def test_the_windows_own_text_is_shown_as_it_is(reader: Reader) -> None:
    assert any("redis" in one.text and "memcached" in one.text for one in passages(reader, "x", whole_turns=False))
