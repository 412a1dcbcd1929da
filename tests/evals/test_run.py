"""A corpus through the product's own store and funnel, to figures."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent_raw_rag.config import Settings
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.errors import ModelError, UsageError
from agent_raw_rag.evals.asking import RememberingEncoder
from agent_raw_rag.evals.configurations import comparison, stages
from agent_raw_rag.evals.corpus import Stored
from agent_raw_rag.evals.dataset import CorpusTurn, Dataset, Question, millis
from agent_raw_rag.evals.summary import curves, ranks, summary
from agent_raw_rag.models import Role
from tests.evals.bakery_run import BAKERY, asked, load

GOLDEN = BAKERY / "golden.json"
"""Ranks at which the lexical and the fused ranking find each piece of evidence. A change here is a change of ranking: look
at it, then write the file anew with what the test shows."""


def test_the_sample_corpus_is_ranked_as_before(tmp_path: Path) -> None:
    answers, _ = asked(tmp_path, ("lexical", "fused"))
    shown = {name: {one["id"]: [one["windows"], one["turns"]] for one in ranks(rows)} for name, rows in answers.items()}
    assert shown == json.loads(GOLDEN.read_text(encoding="utf-8")), json.dumps(shown)


def test_processes_side_by_side_give_what_one_gives(tmp_path: Path) -> None:
    one, chosen = asked(tmp_path / "one")
    two, _ = asked(tmp_path / "two", jobs=2)
    assert {name: ranks(rows) for name, rows in two.items()} == {name: ranks(rows) for name, rows in one.items()}
    assert summary(one, chosen)["windows"] == summary(two, chosen)["windows"]


def test_the_order_of_the_corpus_files_conversations_changes_nothing_but_the_order(tmp_path: Path) -> None:
    dataset = load(BAKERY)
    turned = replace(dataset, turns=[*dataset.turns[10:], *dataset.turns[:10]])
    one, _ = asked(tmp_path / "one")
    other, _ = asked(tmp_path / "other", dataset=turned)
    assert sorted(map(str, ranks(other["full"]))) == sorted(map(str, ranks(one["full"])))


def test_all_conversations_in_one_store_are_told_apart_by_their_turns(tmp_path: Path) -> None:
    answers, _ = asked(tmp_path, in_one_store=True)
    found = {one.id: one.turns.ranks for one in answers["full"]}
    assert found["a1"][0] > 0 and found["b1"][0] > 0


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    asked(tmp_path / "home")
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_summary_has_every_part(tmp_path: Path) -> None:
    answers, chosen = asked(tmp_path)
    found = summary(answers, chosen)
    assert found["unit"] == "fraction" and found["configuration"] == "full"
    assert found["windows"]["n"] == found["turns"]["n"] == 6
    assert found["windows"] == found["configurations"]["full"]["windows"]
    assert set(found["types"]) == {"identifier", "decision", "code"}
    assert found["types"]["code"]["turns"]["n"] == 2
    assert found["configurations"]["lexical"]["changed"]["dense"] is False
    assert "difference" in found["configurations"]["lexical"]
    assert "difference" not in found["configurations"]["full"]
    assert found["configurations"]["lexical"]["unanswerable"] == {"n": 1, "nothing_found": 1}
    low, high = found["configurations"]["full"]["intervals"]["windows"]["recall@1"]
    assert low <= found["windows"]["recall@1"] <= high
    assert set(found["configurations"]["full"]["latency_ms"]) == {"encode", "windows", "turns"}
    assert json.loads(json.dumps(found)) == found


def test_answers_are_shown_with_and_without_repetition(tmp_path: Path) -> None:
    answers, chosen = asked(tmp_path)
    shown = summary(answers, chosen)["shown"]
    assert shown["top 15"]["repeated turns"] == 0
    assert shown["top 15, turns repeated"]["repeated turns"] > 0
    assert shown["top 15, turns repeated"]["recall"] == shown["top 15"]["recall"]
    assert shown["top 5"]["recall"] <= shown["top 15"]["recall"]
    assert "difference" in shown["top 5"]


def test_a_curve_meets_the_table_and_never_falls(tmp_path: Path) -> None:
    answers, chosen = asked(tmp_path)
    points = curves(answers)["full"]["windows"]
    found = summary(answers, chosen)["windows"]
    assert [points[k - 1][0] for k in (1, 5, 10)] == [found[f"recall@{k}"] for k in (1, 5, 10)]
    assert [point[0] for point in points] == sorted(point[0] for point in points)


def test_a_turn_without_words_does_not_shift_the_others(tmp_path: Path) -> None:
    turns = [CorpusTurn(name, "c", "user", text) for name, text in (("1", ""), ("2", "a pelican"), ("3", "a heron"))]
    question = Question("q", "c", "pelican", ("all",), (frozenset("2"),))
    answers, _ = asked(tmp_path, dataset=Dataset("birds", turns, [question]))
    assert answers["lexical"][0].turns.ranks == (1,)


def test_times_in_a_question_are_meant_from_the_day_it_is_asked_on(tmp_path: Path) -> None:
    days = {
        "2026-05-01": "2026-05-02T12:00:00Z",
        "2026-05-12": "2026-05-13T12:00:00Z",
        "2026-05-20": "2026-05-21T12:00:00Z",
    }
    turns = [CorpusTurn(day, day, "user", "We fed the pelican.", millis(f"{day}T12:00:00Z")) for day in days]
    asks = [
        Question(
            day,
            turns[0].conversation,
            "who fed the pelican yesterday?",
            ("all",),
            (frozenset([day]),),
            millis(asked_on),
        )
        for day, asked_on in days.items()
    ]
    answers, _ = asked(tmp_path, ["full"], dataset=Dataset("birds", turns, asks), in_one_store=True)
    assert [one.turns.ranks for one in answers["full"]] == [(1,)] * 3


def test_the_stages_and_switches_of_a_comparison_differ_in_what_they_say() -> None:
    settings = Settings(search=Settings().search.model_copy(update={"neighbours": True, "exact": False}))
    found = {one.name: dict(one.changed) for one in comparison(settings)}
    assert found["full"] == {}
    assert found["without neighbours"] == {"neighbours": False}
    assert found["with exact"] == {"exact": True}
    assert found["without rerank"] == {"rerank_budget_ms": 0}
    assert found["windows of 512"] == {"chunks.size": 512, "chunks.overlap": 64}
    assert "windows of 256" not in found
    assert not any(name.startswith("windows of") for name in (one.name for one in comparison(settings, recut=False)))


def test_reranking_that_is_off_already_is_not_compared() -> None:
    search = Settings().search.model_copy(update={"rerank_budget_ms": 0})
    assert "without rerank" not in {one.name for one in comparison(Settings(search=search))}


def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(UsageError, match="Known: lexical, dense, fused, full"):
        stages(Settings(), ["lexical", "magic"])


def test_a_query_is_encoded_once_and_its_time_is_counted_each_time() -> None:
    model = CountingEncoder()
    remembering = RememberingEncoder(model)
    first, again = remembering.encode_query("pelican"), remembering.encode_query("pelican")
    assert np.array_equal(first, again)
    assert model.asked == ["pelican"]
    assert remembering.seconds == pytest.approx(2 * remembering.saved)


def test_an_encoder_that_fails_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    store = Stored(tmp_path)
    store.add_session("c", [(Role.USER, "a pelican", None)])
    with pytest.raises(ModelError, match="out of order"):
        store.index(FailingEncoder)
    store.close()


class CountingEncoder(HashingEncoder):
    """Knows what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def encode_query(self, text: str) -> np.ndarray:
        self.asked.append(text)
        return super().encode_query(text)


class FailingEncoder(HashingEncoder):
    """Has no vectors to give."""

    def encode_passages(self, texts: Sequence[str]) -> np.ndarray:
        raise ModelError("The model is out of order.")
