"""LoCoMo's form, in a miniature of our own: what is kept, mended and left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.errors import UsageError
from agent_raw_rag.evals.locomo import evidence_ids, load

SAMPLE: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted a pear tree."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Show me!", "blip_caption": "a small tree"},
        ],
        "session_2_date_time": "9:00 am on 1 June, 2023",
        "session_3_date_time": "9:30 am on 2 June, 2023",
        "session_3": [{"speaker": "Ada", "dia_id": "D3:5", "text": "It died of drought."}],
    },
    "qa": [
        {"question": "What was planted?", "answer": "a pear", "evidence": ["D1:1"], "category": 4},
        {"question": "What became of it?", "answer": "died", "evidence": ["D1:1; D3:5", "D:1:02"], "category": 1},
        {"question": "When did it die?", "answer": "June", "evidence": ["D3:05", "D9:9", "D"], "category": 2},
        {"question": "Who sold it?", "answer": "?", "evidence": ["D7:7"], "category": 3},
        {"question": "Which apple?", "adversarial_answer": "?", "evidence": ["D1:1"], "category": 5},
    ],
}


def written(folder: Path, data: object) -> Path:
    file = folder / "locomo.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def test_turns_have_captions_times_and_ids_of_their_conversation(tmp_path: Path) -> None:
    turns = load(written(tmp_path, [SAMPLE])).turns
    assert [turn.id for turn in turns] == ["conv-1/D1:1", "conv-1/D1:2", "conv-1/D3:5"]
    assert turns[1].text == "Show me! [shares a photo: a small tree]"
    assert turns[0].time == turns[1].time == 1_683_554_160_000


def test_evidence_is_mended_and_what_cannot_be_asked_is_counted(tmp_path: Path) -> None:
    dataset = load(written(tmp_path, [SAMPLE]))
    gold = {question.id: sorted(name for group in question.gold for name in group) for question in dataset.questions}
    assert gold == {
        "locomo_0_qa0": ["conv-1/D1:1"],
        "locomo_0_qa1": ["conv-1/D1:1", "conv-1/D1:2", "conv-1/D3:5"],
        "locomo_0_qa2": ["conv-1/D3:5"],
    }
    assert [question.kinds for question in dataset.questions] == [("single-hop",), ("multi-hop",), ("temporal",)]
    assert dataset.left_out == {"no evidence": 1, "category 5": 1}
    assert dataset.remarks == {"malformed evidence ids": 4, "unknown evidence ids": 2}


@pytest.mark.parametrize(
    ("raw", "ids"),
    [
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D:11:26"], ["D11:26"]),
        (["D30:05", "D30:5"], ["D30:5"]),
        (["D", ""], []),
        (["D1:1 D2:2 D3:3"], ["D1:1", "D2:2", "D3:3"]),
    ],
)
def test_ids_are_read_out_of_what_stands_there(raw: list[str], ids: list[str]) -> None:
    assert evidence_ids(raw) == ids


@pytest.mark.parametrize("data", [{}, [], [1], "text", [{"qa": []}], [{**SAMPLE, "qa": [{"category": 1}]}]])
def test_a_file_of_another_form_is_refused(tmp_path: Path, data: object) -> None:
    with pytest.raises(UsageError, match="is not LoCoMo"):
        load(written(tmp_path, data))


def test_a_missing_and_a_torn_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load(tmp_path / "none.json")
    torn = tmp_path / "torn.json"
    torn.write_text('[{"qa": ', encoding="utf-8")
    with pytest.raises(UsageError, match="not valid JSON"):
        load(torn)
