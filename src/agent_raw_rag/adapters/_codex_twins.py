"""Each thing once: the two copies in which most words stand in a Codex rollout.

One copy is a ``response_item``, the other an event (legacy) or a completed turn item (paginated). The human's words are
taken from the event, which holds nothing else; the model's from the response item, which is complete. The copy that
comes first is *held* in the state until its twin comes. If records that cannot stand between twins come instead, it
had none, and is said then: a rollout without events, or an event without a response item, loses nothing.
A held text of the model that no event announced may be the raw form of a compaction's summary: the ``compacted`` row
drops it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from agent_raw_rag.adapters._codex_human import Prompt
from agent_raw_rag.adapters._codex_voices import human, summary, words
from agent_raw_rag.adapters.base import State, digest
from agent_raw_rag.models import Event, Millis

HUMAN, EVENT, ITEM, PLAN, REVIEW = "human", "event", "item", "plan", "review"
"""Kinds of held words: the human's in a response item; the model's in an event; the model's in a response item that no
event announced; a plan; a review, which is said already and waits only to silence its twin."""

_HELD_MAX = 12
_MARKUP = re.compile(r"<(oai-mem-citation|proposed_plan)>.*?</\1>", re.DOTALL)


def hold(state: State, kind: str, text: str, time: Millis | None, extra: Iterable[str] = ()) -> list[Event]:
    """Keep words back until their twin comes. More than a handful are never kept: the oldest are said."""
    held = [*state["held"], [kind, text, time, list(extra)]]
    state["held"] = held[-_HELD_MAX:]
    return _say(state, held[:-_HELD_MAX])


def release(state: State, *kinds: str) -> list[Event]:
    """Say what is held (of these kinds, or all): no twin will come any more."""
    if not state["held"]:
        return []
    free = [entry for entry in state["held"] if not kinds or entry[0] in kinds]
    state["held"] = [entry for entry in state["held"] if entry not in free]
    return _say(state, free)


def heard_human(state: State, prompt: Prompt, time: Millis | None) -> list[Event]:
    """The event with the human's words: the twin of what is held of theirs with the same text, or with none (pictures)."""
    before = release(state, EVENT, ITEM, PLAN)
    waiting = [entry for entry in state["held"] if entry[0] == HUMAN]
    twin = next((entry for entry in waiting if _alike(entry[1], prompt.text) or not entry[1].strip()), None)
    if twin is None:
        state["heard"] = [*state["heard"], digest(_plain(prompt.text))][-_HELD_MAX:]
    else:
        state["held"] = [entry for entry in state["held"] if entry is not twin]
        prompt = Prompt(prompt.text, prompt.images or tuple(twin[3]))
    return [*before, *human(state, prompt, time)]


def wrote_human(state: State, prompt: Prompt, time: Millis | None) -> list[Event]:
    """The response item with the human's words: held, unless the event came first."""
    if prompt.empty:
        return []
    told = digest(_plain(prompt.text))
    heard = state["heard"]
    if told in heard:
        state["heard"] = [one for one in heard if one != told]
        return []
    return hold(state, HUMAN, prompt.text, time, prompt.images)


def heard_model(state: State, text: str, time: Millis | None) -> list[Event]:
    """The event with the model's words: held until the response item comes, unless that came first."""
    state.update(evented=True, heard=[])
    if state["wrote"] == digest(_plain(text)):
        state["wrote"] = None
        return []
    if any(entry[0] == ITEM and _alike(entry[1], text) for entry in state["held"]):
        return release(state)
    return [*release(state, HUMAN, ITEM), *hold(state, EVENT, text, time)]


def wrote_model(state: State, text: str, time: Millis | None, record_id: str | None) -> list[Event]:
    """The response item with the model's words. An event for each of its parts may stand before it."""
    state["heard"] = []
    said = release(state, HUMAN)
    if "<proposed_plan>" in text:
        plans = [entry for entry in state["held"] if entry[0] == PLAN]
        state["held"] = [entry for entry in state["held"] if entry[0] != PLAN]
        state["planned"] = not plans
    places = [n for n, entry in enumerate(state["held"]) if entry[0] in (EVENT, REVIEW) and _alike(entry[1], text)]
    if places:
        return said + _matched(state, places, text, time, record_id)
    if state.get("evented"):
        return [*said, *release(state), *hold(state, ITEM, text, time)]
    state["wrote"] = digest(_plain(text))
    return [*said, *words(state, text, time, record_id)]


def _matched(state: State, places: list[int], text: str, time: Millis | None, record_id: str | None) -> list[Event]:
    """Its twins are let go. What was held before them had none, and was said before."""
    held, last = state["held"], places[-1]
    state["held"] = held[last + 1 :]
    said = _say(state, [entry for number, entry in enumerate(held[:last]) if number not in places])
    repeated = any(held[number][0] == REVIEW for number in places)
    return said if repeated else [*said, *words(state, text, time, record_id)]


def compacted(state: State, text: str, time: Millis | None) -> list[Event]:
    """A compaction: what is held of the model's and stands in the summary is the summary's raw form."""
    raw = [entry for entry in state["held"] if entry[0] == ITEM and entry[1].strip() in text]
    state["held"] = [entry for entry in state["held"] if entry not in raw]
    return [*release(state), *summary(state, text, time)]


def reviewed(state: State, text: str, time: Millis | None) -> list[Event]:
    """A review's outcome. The response item that repeats it follows."""
    if not text.strip():
        return []
    said = [*release(state), *words(state, text, time)]
    hold(state, REVIEW, text, None)
    return said


def planned(state: State, text: str, time: Millis | None) -> list[Event]:
    """A plan's item. The response item that holds it between tags may come before or after."""
    if state.get("planned"):
        state["planned"] = False
        return []
    return hold(state, PLAN, text, time)


def _say(state: State, entries: list[Any]) -> list[Event]:
    events: list[Event] = []
    for kind, text, time, extra in entries:
        if kind == HUMAN:
            events += human(state, Prompt(text, tuple(extra)), time)
        elif kind != REVIEW:
            events += words(state, text, time)
    return events


def _plain(text: str) -> str:
    return "".join(text.split())


def _alike(one: str, two: str) -> bool:
    """Two copies of one text: the same but for white space, for markup that only one of them has, or for a part that is
    missing at an end."""
    if one == two:
        return True
    first, second = _plain(_MARKUP.sub("", one)), _plain(_MARKUP.sub("", two))
    if not first or not second:
        return first == second
    return first in second or second in first or (len(first) >= 40 and first[:40] == second[:40])
