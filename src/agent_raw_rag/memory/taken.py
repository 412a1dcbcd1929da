"""What memory tools are given -> what may be stored: not blank, not too long, secrets masked, our own recall cut out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.errors import BadArgumentError
from agent_raw_rag.memory.echo import without_echoes
from agent_raw_rag.memory.values import MOST_TAGS, checked_metadata
from agent_raw_rag.models import CleanText
from agent_raw_rag.sanitize import clean_label, cleaned
from agent_raw_rag.sanitize.scrub import scrub

LONGEST_STATEMENT = 4000
"""Characters: what is longer is no statement, and would fill a prompt by itself."""
LONGEST_LABEL = 200
LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class Taker:
    """Text from outside -> text that may be stored."""

    redacting: bool = True
    """Mask secrets."""

    def statement(self, content: str) -> CleanText:
        """A statement.

        Raises:
            BadArgumentError: it is blank, too long, or nothing but what was recalled.
        """
        if not content.strip():
            raise BadArgumentError("The content is blank.", hint="Give the statement to keep, in a sentence or two.")
        told = without_echoes(content).strip()
        if not told:
            raise BadArgumentError("The content is nothing but what was recalled.", hint="It is kept already.")
        _within("content", told, LONGEST_STATEMENT, "memory_capture takes long texts; keep what follows from them.")
        return self._clean(told)

    def source(self, source: str) -> CleanText:
        """Who or what something comes from. Raises BadArgumentError: it is blank or too long."""
        label = self._label("source", source)
        if not label:
            raise BadArgumentError("The source is blank.", hint="Say where it comes from: an agent, a person, a file.")
        return label

    def topic(self, topic: str | None) -> CleanText | None:
        """A free label; blank is none. Raises BadArgumentError: it is too long."""
        return self._label("topic", topic or "") or None

    def tags(self, tags: Iterable[str]) -> tuple[CleanText, ...]:
        """Labels, each once; blank ones are none. Raises BadArgumentError: one is too long, or there are too many."""
        taken = tuple(dict.fromkeys(label for tag in tags if (label := self._label("tag", tag))))
        if len(taken) > MOST_TAGS:
            raise BadArgumentError(f"There are {len(taken)} tags; at most {MOST_TAGS} are taken.")
        return taken

    def metadata(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """What else is said of a statement. Raises BadArgumentError; see ``checked_metadata``."""
        return checked_metadata(metadata, self._clean)

    def reason(self, reason: str | None) -> CleanText | None:
        """Why something was done; blank is none. Raises BadArgumentError: it is too long."""
        told = (reason or "").strip()
        _within("reason", told, LONGEST_REASON, "A few words will do.")
        return self._clean(told) if told else None

    def _label(self, name: str, text: str) -> CleanText:
        _within(name, text, LONGEST_LABEL, "It is a label, and not a text.")
        flat = " ".join(scrub(text).split())
        return clean_label(flat) if self.redacting else CleanText(flat)

    def _clean(self, text: str) -> CleanText:
        return cleaned(text, redacting=self.redacting)[0]


def one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    """A value that must be one of a few. Raises BadArgumentError: it is none of them."""
    if value not in known:
        raise BadArgumentError(f"There is no {name} {value[:80]!r}.", hint=f"Known: {', '.join(known)}.")
    return value


def _within(name: str, text: str, most: int, hint: str) -> None:
    if len(text) > most:
        raise BadArgumentError(f"The {name} has {len(text):,} characters; at most {most:,} are taken.", hint=hint)
