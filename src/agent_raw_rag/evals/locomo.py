"""LoCoMo (snap-research, ACL 2024): its file -> a dataset. The file is the user's; it is never shipped.

Category 5 (adversarial) is left out. Malformed evidence ids are mended (``D8:6; D9:17`` is two, ``D:11:26`` is ``D11:26``,
``D30:05`` is ``D30:5``); ids that no turn has are dropped, and questions without any evidence left are passed over.
A photo's caption belongs to its turn's text. A conversation is stored as one session, as the figures that others report are
measured.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_raw_rag.errors import UsageError
from agent_raw_rag.evals.dataset import CorpusTurn, Dataset, Question, millis, texts_of

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
ADVERSARIAL = 5
_ID = re.compile(r"D:?(\d+):(\d+)")
_HINT = "Expected is locomo10.json: a list of conversations, each with `sample_id`, `conversation` and `qa`."


def load(file: Path) -> Dataset:
    """The dataset of a file.

    Raises:
        UsageError: it is missing, is no JSON, or is not LoCoMo.
    """
    turns: list[CorpusTurn] = []
    questions: list[Question] = []
    left_out: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    for number, sample in enumerate(_samples(file)):
        try:
            said = list(_turns(sample))
            turns += said
            questions += _questions(sample, number, {turn.id for turn in said}, left_out, remarks)
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{file} is not LoCoMo: conversation {number + 1} lacks {error}.", hint=_HINT) from error
    return Dataset("locomo", turns, questions, dict(left_out), dict(remarks))


def evidence_ids(raw: list[str]) -> list[str]:
    """The turn ids that an evidence field means, each once."""
    found = [match for text in raw for match in _ID.findall(text)]
    return list(dict.fromkeys(f"D{int(session)}:{int(turn)}" for session, turn in found))


def _samples(file: Path) -> list[dict[str, Any]]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", hint="Give the path of locomo10.json.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not valid JSON: {error}.", hint=_HINT) from error
    if not isinstance(data, list) or not data or not all(isinstance(one, dict) for one in data):
        raise UsageError(f"{file} is not LoCoMo.", hint=_HINT)
    return data


def _turns(sample: dict[str, Any]) -> Iterator[CorpusTurn]:
    name, conversation, number = sample["sample_id"], sample["conversation"], 1
    while f"session_{number}" in conversation or f"session_{number}_date_time" in conversation:
        time = millis(conversation.get(f"session_{number}_date_time"))
        for turn in conversation.get(f"session_{number}") or []:
            yield CorpusTurn(f"{name}/{turn['dia_id']}", name, turn["speaker"], _text(turn), time)
        number += 1


def _text(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares a photo: {caption}]" if caption else str(turn["text"])


def _questions(
    sample: dict[str, Any], number: int, known: set[str], left_out: Counter[str], remarks: Counter[str]
) -> Iterator[Question]:
    name = sample["sample_id"]
    for place, asked in enumerate(sample["qa"]):
        if asked["category"] == ADVERSARIAL:
            left_out["category 5"] += 1
            continue
        text, raw = str(asked["question"]), texts_of(asked, "evidence")
        ids = [f"{name}/{one}" for one in evidence_ids(raw)]
        gold = tuple(frozenset([one]) for one in ids if one in known)
        remarks["malformed evidence ids"] += sum([one] != evidence_ids([one]) for one in raw)
        remarks["unknown evidence ids"] += len(ids) - len(gold)
        if not gold:
            left_out["no evidence"] += 1
            continue
        kind = KINDS.get(asked["category"], f"category {asked['category']}")
        yield Question(f"locomo_{number}_qa{place}", name, text, (kind,), gold)
