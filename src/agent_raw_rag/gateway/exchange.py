"""An exchange that went by -> what is captured of it: the user's last words and the answer, each once. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_raw_rag.gateway.fitted import fitted
from agent_raw_rag.gateway.forms import Form
from agent_raw_rag.gateway.frames import Frames
from agent_raw_rag.gateway.questions import answer_id, digest, question_id
from agent_raw_rag.gateway.shapes import Asked, Hearing, Said
from agent_raw_rag.gateway.unpacking import unpacked
from agent_raw_rag.models import Capture, Millis, Role

SOURCE = "proxy"
LONGEST_NAME = 200
FEW = 16
BEGINNING = 200
BOM = b"\xef\xbb\xbf"
_DIGIT = re.compile(r"\d")
AT_ONCE = 64 * 1024
"""Bytes that are read before others have their turn."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, and what was heard of its answer."""

    asked: Asked
    said: Said
    session: str
    partial: bool
    """The answer's end is missing."""
    asked_at: Millis
    said_at: Millis
    question: str = ""
    """The id of the user's turn; empty: the one that follows from the request."""


def session_of(asked: Asked, named: str | None, who: str) -> str:
    """The id of the conversation: the caller's, else one that follows from who asks and from how it began: the first words of the
    user, and of the system's its beginning until the first digit, since further on stand clocks and the state of things, which
    would make each request a conversation of its own."""
    if named:
        return named if len(named) <= LONGEST_NAME else f"proxy-{digest(named)}"
    return f"proxy-{digest(who, _DIGIT.split(asked.first('system')[:BEGINNING])[0], asked.first('user'))}"


def heard(
    form: Form, pieces: Sequence[bytes], encoding: str = "", *, breathe: Callable[[], None] = lambda: None
) -> Said:
    """What an answer says, at once or in frames, whatever its headers say of it. ``missing`` says why it is not all.

    Never raises.

    Args:
        form: What is spoken.
        pieces: The answer's bytes, in order.
        encoding: How they are packed.
        breathe: Called every few frames.
    """
    plain, missing = unpacked(pieces, encoding)
    hearing = form.hearing()
    if b"".join(plain[:FEW]).removeprefix(BOM).lstrip()[:1] == b"{":
        hearing.whole(b"".join(plain).removeprefix(BOM))
        return replace(hearing.said, missing=missing, ended=True)
    missing = _listen(hearing, plain, breathe) or missing
    return replace(hearing.said, missing=missing)


def captures(exchange: Exchange) -> list[Capture]:
    """What is stored. Of a history that is sent again only what is new, since each turn is the same turn when it comes again; two
    that say the same at different places of a conversation are two. What is longer than a capture may be is cut."""
    asked, said = exchange.asked, exchange.said
    question = exchange.question or question_id(asked)
    found = []
    if asked.last_user.strip():
        found.append(Capture(
            asked.last_user, SOURCE, door=SOURCE, session=exchange.session, role=Role.USER, host_turn_id=question,
            time=exchange.asked_at,
        ))  # fmt: skip
    if said.words.strip():
        found.append(Capture(
            said.words, SOURCE, door=SOURCE, session=exchange.session, role=Role.ASSISTANT,
            host_turn_id=answer_id(asked, question, said.words), time=exchange.said_at,
            author=_name(said.model or asked.model), partial=exchange.partial or said.is_cut,
        ))  # fmt: skip
    return [fitted(one) for one in found]


def _listen(hearing: Hearing, pieces: Sequence[bytes], breathe: Callable[[], None]) -> str:
    """Hear a stream; why it was not heard in full."""
    frames, n = Frames(), 0
    for piece in (whole[at : at + AT_ONCE] for whole in pieces for at in range(0, len(whole), AT_ONCE)):
        for frame in frames.feed(piece):
            hearing.frame(frame)
            n += 1
            if not n % FEW:
                breathe()
        breathe()
    for frame in frames.end():
        hearing.frame(frame)
    return f"{frames.lost} frames of an answer were too long" if frames.lost else ""


def _name(model: str) -> str | None:
    return " ".join(model.split())[:LONGEST_NAME] or None
