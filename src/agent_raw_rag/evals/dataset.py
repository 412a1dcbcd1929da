"""What a benchmark is made of: a corpus of turns in conversations, and questions whose evidence turns are known. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from agent_raw_rag.errors import UsageError
from agent_raw_rag.models import Millis, Role

LOCOMO_DATE = "%I:%M %p on %d %B, %Y"
_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "summary": Role.SUMMARY,
    "task": Role.TASK,
}
"""Speakers that are roles, not names."""


@dataclass(frozen=True, slots=True)
class CorpusTurn:
    """A turn of a corpus."""

    id: str
    conversation: str
    speaker: str
    text: str
    time: Millis | None = None
    session: str = ""
    """The stretch of its conversation that is stored as one session: no window reaches over its ends."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the turns that answer it."""

    id: str
    conversation: str
    text: str
    kinds: tuple[str, ...]
    gold: tuple[frozenset[str], ...]
    """Groups of turn ids: any turn of a group stands for it, and all groups together are the evidence. None: the corpus does
    not answer the question, and nothing should be found."""
    asked: Millis | None = None
    """When: what "last week" means hangs on it. None: right after the last turn of its store."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus and its questions, and what was left out of them."""

    name: str
    turns: list[CorpusTurn]
    questions: list[Question]
    left_out: dict[str, int] = field(default_factory=dict)
    """Why questions were left out -> how many."""
    remarks: dict[str, int] = field(default_factory=dict)
    """What else was found wrong with the files -> how often."""
    held: tuple[int, int] | None = None
    """Conversations and turns, where they are not at hand: those of the user's own store."""

    @property
    def size(self) -> tuple[int, int]:
        """How many conversations and turns the questions are asked of."""
        return self.held or (len(self.conversations()), len(self.turns))

    def conversations(self) -> list[str]:
        """Names, in the order of the corpus."""
        return list(dict.fromkeys(turn.conversation for turn in self.turns))

    def half(self, which: str) -> Dataset:
        """Every other conversation: ``a`` has the first, the third and so on, ``b`` the others."""
        return self.only(self.conversations()["ab".index(which) :: 2])

    def conversation(self, which: str) -> Dataset:
        """One conversation, by its number from 1 on or by its name.

        Raises:
            UsageError: there is none.
        """
        names = self.conversations()
        if which.isdecimal() and which not in names and 1 <= int(which) <= len(names):
            which = names[int(which) - 1]
        if which not in names:
            raise UsageError(
                f"There is no conversation {which!r}.",
                hint=f"Give a number from 1 to {len(names)}, or a name: {names[0]}.",
            )
        return self.only([which])

    def only(self, conversations: Iterable[str]) -> Dataset:
        """Some conversations and their questions."""
        kept = set(conversations)
        return replace(
            self,
            turns=[turn for turn in self.turns if turn.conversation in kept],
            questions=[one for one in self.questions if one.conversation in kept],
        )

    def limited(self, most: int) -> Dataset:
        """At most so many questions a conversation, the first ones."""
        asked: dict[str, int] = {}
        kept = []
        for question in self.questions:
            asked[question.conversation] = asked.get(question.conversation, 0) + 1
            if asked[question.conversation] <= most:
                kept.append(question)
        return replace(self, questions=kept)


def role_and_text(turn: CorpusTurn, first_speaker: str) -> tuple[Role, str]:
    """How a turn is stored. A speaker with a name of their own stands in the text; who speaks first is the user."""
    role = _ROLES.get(turn.speaker.lower())
    if role is not None:
        return role, turn.text
    role = Role.USER if turn.speaker == first_speaker else Role.ASSISTANT
    return role, f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def millis(date: object) -> Millis | None:
    """The instant that a corpus's date means: ISO 8601 or LoCoMo's form, UTC unless it says otherwise; else None."""
    if not isinstance(date, str):
        return None
    for read in (datetime.fromisoformat, lambda text: datetime.strptime(text, LOCOMO_DATE)):  # noqa: DTZ007
        try:
            moment = read(date.strip())
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):  # OverflowError: beyond the calendar in UTC
            continue
        return int(moment.timestamp() * 1000)
    return None


def texts_of(row: Mapping[str, object], key: str) -> list[str]:
    """The texts under a key that may hold one or several."""
    value = row.get(key)
    values = value if isinstance(value, list) else [value]
    return [str(one) for one in values if isinstance(one, str | int)]
