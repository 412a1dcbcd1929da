"""Which turn of the user a request is about: its id, the same whenever the same turn comes again. Pure.

Clients send what was said before with each request, all of it or the last of it, so a turn comes with many requests, and the
same words may come at several places. A turn is told by all that stands before it in its request: two at different places have
different pasts, unless a client sends so little of it that both requests say the very same, which is what a retry does.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_raw_rag.gateway.shapes import Asked, Message
from agent_raw_rag.ingest.captured import normal

MOST = 4096
"""Conversations that are remembered, and answers to one question."""


def digest(*parts: str) -> str:
    """A name for texts, in 24 characters."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def question_id(asked: Asked) -> str:
    """The id of the user's last turn, by what it says and all that stands before it. The system's words do not count: they may
    hold a clock."""
    before, _ = parted(asked)
    return f"asked-{digest(*said(before))}"


def answer_id(asked: Asked, question: str, words: str) -> str:
    """The id of an answer, by its words and all that stands before it."""
    _, after = parted(asked)
    return f"said-{digest(question, *said(after), normal(words))}"


def parted(asked: Asked) -> tuple[Sequence[Message], Sequence[Message]]:
    """What was said until the user's last turn, with it, and after it: there an agent goes on by itself."""
    spoken = [one for one in asked.messages if one.role != "system"]
    end = next((n for n in range(len(spoken), 0, -1) if spoken[n - 1].role == "user"), 0)
    return spoken[:end], spoken[end:]


def said(messages: Sequence[Message]) -> list[str]:
    """Who says what, to be compared."""
    return [part for one in messages for part in (one.role, normal(one.text))]


@dataclass(slots=True)
class _Question:
    id: str
    words: str
    answers: set[str] = field(default_factory=set)


class Questions:
    """Remembers what each conversation is at: an agent that goes on by itself asks again and again about one turn of the user,
    and may leave out more and more of what stood before it. Not for several threads."""

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[str, str], _Question] = OrderedDict()

    def id_of(self, conversation: tuple[str, str], asked: Asked, words: str) -> str:
        """The id of the user's last turn in a request.

        Args:
            conversation: Its space and session.
            asked: The request.
            words: What is answered.
        """
        last = self._last.pop(conversation, None)
        if last is None or not _goes_on(last, asked):
            last = _Question(question_id(asked), normal(asked.last_user))
        if len(last.answers) < MOST:
            last.answers.add(digest(normal(words)))
        self._last[conversation] = last
        if len(self._last) > MOST:
            self._last.popitem(last=False)
        return last.id


def _goes_on(last: _Question, asked: Asked) -> bool:
    """Whether a request goes on from an answer to the question that the conversation is at."""
    _, after = parted(asked)
    return bool(after) and normal(asked.last_user) == last.words and digest(normal(after[-1].text)) in last.answers
