"""Checks the coding-dialogue benchmark beside this file and prints what it consists of.

    python benchmarks/coding/check.py

Prints one JSON object; exits 1 and names each fault if an identity, a gold turn, a type or a date is wrong.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
TYPES = frozenset(
    ["paraphrase", "identifier", "error", "decision", "value", "temporal", "multi", "quoted", "cjk"]
)  # fmt: skip
TURN = {"id", "conv", "session", "date", "speaker", "text"}
QUERY = {"qid", "conv", "query", "type", "gold"}
UNANSWERABLE = {"qid", "conv", "query"}
HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
"""What counts as a word: a run of letters and digits, or one Han or Kana character."""

Row = dict[str, Any]


def rows(name: str, folder: Path = FOLDER) -> list[Row]:
    """The objects of one of the three files, in their order."""
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()]


def faults(turns: list[Row], queries: list[Row], unanswerable: list[Row]) -> list[str]:
    """Everything that is wrong, one sentence each. Empty for a sound set."""
    return [*_turn_faults(turns), *_query_faults(turns, queries), *_unanswerable_faults(turns, unanswerable)]


def _turn_faults(turns: list[Row]) -> Iterator[str]:
    yield from _repeated("turn", [turn["id"] for turn in turns])
    for turn in turns:
        if turn.keys() != TURN or turn["speaker"] not in {"user", "assistant"} or not turn["text"].strip():
            yield f"{turn['id']}: fields, speaker or text"
        if not re.fullmatch(rf"{turn['conv']}/s{turn['session']}:[1-9]\d*", turn["id"]):
            yield f"{turn['id']}: does not name its conversation and session"
        if not _is_instant(turn["date"]):
            yield f"{turn['id']}: {turn['date']} is no ISO 8601 time with an offset"
    dated = [turn for turn in turns if _is_instant(turn["date"])]
    for before, after in pairwise(dated):
        if before["conv"] == after["conv"] and not _instant(before) < _instant(after):
            yield f"{after['id']}: not later than the turn before it"


def _query_faults(turns: list[Row], queries: list[Row]) -> Iterator[str]:
    conversation = {turn["id"]: turn["conv"] for turn in turns}
    said = {_plain(turn["text"]) for turn in turns}
    yield from _repeated("query", [query["qid"] for query in queries])
    yield from _repeated("question", [(query["conv"], query["query"]) for query in queries])
    for query in queries:
        if query.keys() != QUERY or query["type"] not in TYPES:
            yield f"{query['qid']}: fields or type"
        if not query["gold"] or len(set(query["gold"])) != len(query["gold"]):
            yield f"{query['qid']}: no gold, or one turn twice"
        if any(conversation.get(gold) != query["conv"] for gold in query["gold"]):
            yield f"{query['qid']}: a gold turn that its conversation does not have"
        if _plain(query["query"]) in said:
            yield f"{query['qid']}: is a turn, word for word"


def _unanswerable_faults(turns: list[Row], unanswerable: list[Row]) -> Iterator[str]:
    conversations = {turn["conv"] for turn in turns}
    yield from _repeated("unanswerable", [query["qid"] for query in unanswerable])
    for query in unanswerable:
        if query.keys() != UNANSWERABLE or query["conv"] not in conversations:
            yield f"{query['qid']}: fields or conversation"


def _repeated(what: str, names: list[Any]) -> Iterator[str]:
    yield from (f"{what} {name} stands {count} times" for name, count in Counter(names).items() if count > 1)


def _instant(turn: Row) -> datetime:
    return datetime.fromisoformat(turn["date"])


def _is_instant(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def overlap(query: Row, text_of: dict[str, str]) -> float:
    """The share of a question's words that its gold turns have too."""
    asked = set(WORDS.findall(query["query"].lower()))
    gold = {word for turn in query["gold"] for word in WORDS.findall(text_of[turn].lower())}
    return len(asked & gold) / len(asked) if asked else 0.0


def statistics(turns: list[Row], queries: list[Row], unanswerable: list[Row]) -> dict[str, Any]:
    """Sizes, questions and mean word overlap by type."""
    text_of = {turn["id"]: turn["text"] for turn in turns}
    by_type = {kind: [query for query in queries if query["type"] == kind] for kind in sorted(TYPES)}
    return {
        "conversations": len({turn["conv"] for turn in turns}),
        "sessions": len({(turn["conv"], turn["session"]) for turn in turns}),
        "turns": len(turns),
        "turns_with_han_or_kana": sum(bool(HAN.search(turn["text"])) for turn in turns),
        "words": sum(len(WORDS.findall(turn["text"])) for turn in turns),
        "queries": len(queries),
        "gold_per_query": round(sum(len(query["gold"]) for query in queries) / len(queries), 2),
        "unanswerable": len(unanswerable),
        "types": {
            kind: {"queries": len(asked), "overlap": round(sum(overlap(q, text_of) for q in asked) / len(asked), 2)}
            for kind, asked in by_type.items()
            if asked
        },
    }


def main() -> None:
    turns, queries, unanswerable = rows("corpus"), rows("queries"), rows("unanswerable")
    wrong = faults(turns, queries, unanswerable)
    print(json.dumps(statistics(turns, queries, unanswerable), indent=1))
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
