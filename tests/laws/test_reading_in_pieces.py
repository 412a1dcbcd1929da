"""The law of the cursor: reading a log in any pieces, from any cursor, gives the turns that reading it whole gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.adapters.base import Adapter, State
from agent_raw_rag.ingest import reading
from agent_raw_rag.ingest.reading import Cursor, read_batches
from agent_raw_rag.models import (
    Event,
    Message,
    Outcome,
    Record,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Trail,
    Turn,
    Unknown,
)
from tests.support import plain


def parse(record: Record, state: State) -> Iterable[Event]:
    """A log format of the test's own: one letter says what a record is."""
    state["n"] = state["n"] + 1
    kind, number, key = record.data["kind"], record.data["number"], str(record.data["id"])
    if kind == "?":
        yield Unknown("odd")
    elif kind == "u":
        yield Message(Role.USER, key, (Text(f"question {state['n']}"),), record_id=key)
    elif kind in "tT":
        yield Message(Role.ASSISTANT, key, (Thinking("hm"), Text(f"answer {key}")), group="g" if kind == "T" else key)
    elif kind == "c":
        yield Message(Role.ASSISTANT, key, (ToolCall("Bash", {"command": key}, f"call{number}"),), record_id=key)
    elif kind == "r":
        yield Message(Role.ASSISTANT, key, (ToolResult(f"call{number}", Outcome.FAILED, key, 1),), record_id=key)
    elif kind == "m":
        parts = (Text("a"), ToolCall("X", {}, f"call{number}"), Text("b"), ToolCall("Y", {}, f"call{number}"))
        yield Message(Role.ASSISTANT, key, parts, record_id=key)
    elif kind == "x":
        yield Trail(f"x{key}")
    elif kind == "s":
        yield Message(Role.USER if number else Role.ASSISTANT, key, (Text(key),), session=f"side{number % 2}")


ADAPTER = Adapter(
    "test", "Test", lambda env, home: (), lambda root, path: None, parse, lambda source: {"session": "s", "n": 0}
)  # type: ignore[arg-type,call-arg]
START = Cursor(state={"session": "s", "n": 0})
records = st.lists(st.tuples(st.sampled_from("?uutTTcccrrrmsx"), st.integers(0, 5)), max_size=60).map(
    lambda kinds: [
        Record({"kind": kind, "number": number, "id": place}, place * 10, place * 10 + 10)
        for place, (kind, number) in enumerate(kinds)
    ]
)


def in_pieces(log: list[Record], cuts: list[int]) -> tuple[dict[tuple[str, str], Turn], dict[str, int]]:
    """What a store would hold after reading the log up to each cut, each time from the cursor that the last read left."""
    held: dict[tuple[str, str], Turn] = {}
    cursor = START
    tally: dict[str, int] = {}
    for cut in [*cuts, len(log)]:
        for batch in read_batches(ADAPTER, [r for r in log[:cut] if r.start >= cursor.offset], cursor):
            for turn in batch.turns:
                held[turn.session, turn.key] = turn
            tally = dict(batch.tally)
        cursor = batch.cursor
    return held, tally


def as_values(held: dict[tuple[str, str], Turn]) -> list[dict[str, Any]]:
    return [
        {**plain(turn), "span": (turn.start, turn.end), "records": turn.record_ids, "trail": turn.trail}
        for turn in held.values()
    ]


@given(records, st.lists(st.integers(0, 60), max_size=6).map(sorted))
def test_any_split_gives_the_same_turns_in_the_same_order(log: list[Record], cuts: list[int]) -> None:
    whole, tally = in_pieces(log, [])
    pieces, counted = in_pieces(log, [min(cut, len(log)) for cut in cuts])
    assert as_values(pieces) == as_values(whole)
    assert counted == tally


@given(records)
def test_record_by_record_gives_the_same_turns(log: list[Record]) -> None:
    assert as_values(in_pieces(log, list(range(len(log))))[0]) == as_values(in_pieces(log, [])[0])


@given(records, st.integers(1, 7))
def test_the_size_of_batches_does_not_matter(log: list[Record], size: int) -> None:
    whole, _ = in_pieces(log, [])
    held: dict[tuple[str, str], Turn] = {}
    reader = reading._Reader(ADAPTER, START)
    for place, record in enumerate(log):
        reader.take(record)
        if place % size == 0:
            held.update({(turn.session, turn.key): turn for turn in reader.cut().turns})
    held.update({(turn.session, turn.key): turn for turn in reader.cut().turns})
    assert as_values(held) == as_values(whole)


def test_a_call_that_is_never_answered_holds_the_cursor_back_by_a_bounded_number_of_turns() -> None:
    log = [Record({"kind": "c", "number": 1, "id": 0}, 0, 10)]
    log += [Record({"kind": "u", "number": 0, "id": place}, place * 10, place * 10 + 10) for place in range(1, 60)]
    *_, batch = read_batches(ADAPTER, log, START)
    assert batch.cursor.offset >= 400


def test_a_record_that_breaks_the_adapter_costs_that_record_alone() -> None:
    log = [Record({"kind": "u", "number": 0, "id": n}, n * 10, n * 10 + 10) for n in range(3)]
    log[1] = replace(log[1], data={})
    *_, batch = read_batches(ADAPTER, log, START)
    assert [turn.key for turn in batch.turns] == ["0", "2"]
    assert batch.tally == {"skipped||parse-KeyError": 1}
