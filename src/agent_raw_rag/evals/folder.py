"""A folder with ``corpus.jsonl`` and ``queries.jsonl`` -> a dataset.

A corpus line is ``{"id", "conv", "session", "date", "speaker", "text"}``, of which ``id`` and ``text`` must be there. A query
line is ``{"qid", "conv", "query", "type" or "types", "gold": [ids]}``; ``gold_groups``, lists of ids of which any one will do,
refine ``gold``, and ``date`` says when it is asked. ``unanswerable.jsonl``, if there is one, has queries that the corpus does not
answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_raw_rag.errors import UsageError
from agent_raw_rag.evals.dataset import CorpusTurn, Dataset, Question, millis, texts_of

CORPUS, QUERIES, UNANSWERABLE = "corpus.jsonl", "queries.jsonl", "unanswerable.jsonl"


def load(folder: Path) -> Dataset:
    """The dataset of a folder.

    Raises:
        UsageError: a file is missing or no JSON lines, a line lacks what it must have, or nothing is left to ask.
    """
    turns = [_turn(folder / CORPUS, number, row) for number, row in _rows(folder / CORPUS)]
    known = {turn.id: turn.conversation for turn in turns}
    conversations = set(known.values())
    if len(known) < len(turns):
        twice = next(name for name, count in Counter(turn.id for turn in turns).items() if count > 1)
        raise UsageError(f"{folder / CORPUS}: the id {twice!r} stands there more than once.")
    left_out: Counter[str] = Counter()
    questions = [
        question
        for number, row in _rows(folder / QUERIES)
        if (question := _question(folder / QUERIES, number, row, known, conversations, left_out)) is not None
    ]
    if not questions:
        raise UsageError(
            f"{folder / QUERIES} holds no question whose gold turns are in the corpus.", hint=_counted(left_out)
        )
    return Dataset(
        folder.resolve().name, turns, [*questions, *_unanswerable(folder / UNANSWERABLE, conversations)], dict(left_out)
    )


def _unanswerable(file: Path, conversations: set[str]) -> list[Question]:
    rows = list(_rows(file)) if file.exists() else []
    for number, row in rows:
        _need(file, number, row, "query")
        if str(row.get("conv") or "") not in conversations:
            raise UsageError(f"{file}:{number} is about a conversation that the corpus lacks.")
    return [
        Question(
            str(row.get("qid") or f"line {number}"),
            str(row.get("conv") or ""),
            str(row["query"]),
            (),
            (),
            millis(row.get("date")),
        )
        for number, row in rows
    ]


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        hint = f"The folder must hold {CORPUS} and {QUERIES}."
        raise UsageError(f"{file} cannot be read: {error.strerror}.", hint=hint) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8: {error}.") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _row(file, number, line)


def _row(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}:{number} is not valid JSON: {error}.") from error
    if not isinstance(row, dict):
        raise UsageError(f"{file}:{number} is no JSON object.")
    return row


def _turn(file: Path, number: int, row: dict[str, Any]) -> CorpusTurn:
    _need(file, number, row, "id", "text")
    return CorpusTurn(
        str(row["id"]),
        str(row.get("conv") or ""),
        str(row.get("speaker") or ""),
        str(row["text"]),
        millis(row.get("date")),
        str(row.get("session") or ""),
    )


def _question(
    file: Path, number: int, row: dict[str, Any], known: dict[str, str], conversations: set[str], left_out: Counter[str]
) -> Question | None:
    _need(file, number, row, "query")
    gold = texts_of(row, "gold")
    groups = _groups(row) or [[one] for one in gold]
    asked = [*gold, *(one for group in groups for one in group)]
    if not asked or not all(groups):
        left_out["no gold"] += 1
        return None
    if any(one not in known for one in asked):
        left_out["gold that the corpus lacks"] += 1
        return None
    kinds = texts_of(row, "types") or texts_of(row, "type") or ["all"]
    conversation = str(row.get("conv") or known[asked[0]])
    if conversation not in conversations:
        left_out["conversation that the corpus lacks"] += 1
        return None
    name, moment = str(row.get("qid") or f"line {number}"), millis(row.get("date"))
    return Question(name, conversation, str(row["query"]), tuple(kinds), tuple(map(frozenset, groups)), moment)


def _groups(row: dict[str, Any]) -> list[list[str]]:
    groups = row.get("gold_groups") or []
    return [texts_of({"ids": group}, "ids") for group in groups] if isinstance(groups, list) else []


def _need(file: Path, number: int, row: dict[str, Any], *keys: str) -> None:
    for key in keys:
        if not isinstance(row.get(key), str | int):
            raise UsageError(f"{file}:{number} has no {key!r}.")


def _counted(left_out: Counter[str]) -> str:
    return "Left out: " + ", ".join(f"{count} with {why}" for why, count in left_out.items()) + "." if left_out else ""
