"""``/search`` and ``/search_by_metadata``: notes and turns in one list."""

from __future__ import annotations

import time
from itertools import islice
from typing import NotRequired

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.finding import Ask, Hit, metadata_of, note_as_hit
from agent_raw_rag.memory.values import canonical, tags_of
from agent_raw_rag.server.http.rest.cursor import decode, encode
from agent_raw_rag.server.http.rest.operation import Call, Form, Operation
from agent_raw_rag.store.notes import NoteRow, NoteRows

MOST_ON_A_PAGE = 1000
MOST_COLLECTIONS = 100


class SearchForm(Form):
    """What is looked for."""

    query: str
    limit: int = Field(5, description="Brought to 1 … 100.")
    min_score: float = Field(
        0.0, description="The least score that is shown: the one that results are ranked by, 0 to 1."
    )
    collections: list[str] | None = Field(
        None, max_length=MOST_COLLECTIONS,
        description="Labels of notes, `memory` for those without one, `conversation` for turns. Nothing, `*` or `all`: all.",
    )  # fmt: skip


class Result(TypedDict):
    """A note (`n…`) or a turn (`e…`)."""

    id: str
    text: str
    score: NotRequired[float]
    metadata: dict[str, JsonValue]
    timestamp: str | None


class SearchTiming(TypedDict):
    """How long it took, and among how many notes and turns."""

    embedding_ms: float
    """0: this search goes by words and makes no embedding."""
    search_ms: float
    total_ms: float
    corpus_size: int
    filtered_size: int
    """In the collections that were asked for."""


class Found(TypedDict):
    """What was found, best first."""

    results: list[Result]
    timing: SearchTiming


def search(call: Call) -> Found:
    """Find notes and turns by words, in one list, best first.

    The score is the one that ranks: words 0.40, importance 0.20, confidence 0.15, age 0.15, kind 0.10."""
    began, asked = time.perf_counter(), call.asked(SearchForm)
    found = call.runtime.memory.finding(
        Ask(asked.query, asked.limit, asked.min_score, tuple(asked.collections or ()))
    )  # fmt: skip
    results = [_result(one) for one in found.hits]
    return {
        "results": results,
        "timing": {
            "embedding_ms": 0.0, "search_ms": found.search_ms, "total_ms": round(1000 * (time.perf_counter() - began), 3),
            "corpus_size": found.corpus_size, "filtered_size": found.filtered_size,
        },
    }  # fmt: skip


class MetadataForm(Form):
    """What the metadata of a note must be like."""

    metadata: dict[str, JsonValue] = Field(
        description="Each key must have just this value; of `tags`, each must be there."
    )
    after: str | None = Field(None, description="A date or an instant: made then or later.")
    before: str | None = Field(None, description="Made earlier.")
    limit: int = Field(0, description=f"At most {MOST_ON_A_PAGE} on a page; 0: as many as fit on one.")
    cursor: str | None = None


class FoundByMetadata(TypedDict):
    """The notes of one page."""

    results: list[Result]
    count: int
    """On this page."""
    next: str | None


def search_by_metadata(call: Call) -> FoundByMetadata:
    """The notes whose metadata has given values, the newest first, made in [after, before)."""
    asked, memory = call.asked(MetadataForm), call.runtime.memory
    wanted = _wanted(asked.metadata)
    after = memory.instant(asked.after) if asked.after else None
    before = memory.instant(asked.before) if asked.before else None
    past = _past(asked.cursor)
    limit = MOST_ON_A_PAGE if asked.limit == 0 else min(max(asked.limit, 1), MOST_ON_A_PAGE)
    if not memory.store.exists():
        return {"results": [], "count": 0, "next": None}
    rows = NoteRows(memory.store.read().connection).newest(after=after, before=before, past=past)
    found = list(islice((row for row in rows if _fits(row, *wanted)), limit + 1))
    page = found[:limit]
    more = encode((page[-1].created, page[-1].id)) if len(found) > limit else None
    return {"results": [_result(note_as_hit(row)) for row in page], "count": len(page), "next": more}


def _wanted(metadata: dict[str, JsonValue]) -> tuple[dict[str, str], frozenset[str]]:
    """(key -> its value as one text, the tags)."""
    wanted = {}
    for key, value in metadata.items():
        told = canonical(value)
        if told is None:
            raise BadArgumentError(f"metadata.{key[:40]} holds what cannot be compared.")
        if key != "tags":
            wanted[key] = told
    return wanted, frozenset(one.strip() for one in tags_of(metadata.get("tags") or []))


def _fits(row: NoteRow, wanted: dict[str, str], tags: frozenset[str]) -> bool:
    if not tags.issubset(row.tags):
        return False
    told = metadata_of(row)
    return all(key in told and canonical(told[key]) == value for key, value in wanted.items())


def _past(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    made, note = decode(cursor, (int, str))
    return int(made), str(note)


def _result(hit: Hit) -> Result:
    told: Result = {"id": hit.id, "text": hit.text, "metadata": dict(hit.metadata), "timestamp": hit.timestamp}
    return told if hit.score is None else {**told, "score": hit.score}


OPERATIONS = (
    Operation("POST", "/search", "search", search, Found, body=SearchForm),
    Operation("POST", "/search_by_metadata", "search", search_by_metadata, FoundByMetadata, body=MetadataForm),
)
