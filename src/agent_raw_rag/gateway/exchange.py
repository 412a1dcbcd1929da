"""An exchange that went by -> what is captured of it: the user's last words and the answer, each once. Pure."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from agent_raw_rag.gateway.forms import Form
from agent_raw_rag.gateway.frames import frames_of
from agent_raw_rag.gateway.shapes import Asked, Said
from agent_raw_rag.ingest.captured import normal
from agent_raw_rag.models import Capture, Millis, Role

SOURCE = "proxy"
LONGEST_NAME = 200
_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""Encoding -> what zlib calls it."""
FEW = 16
MOST = 64 * 1024 * 1024
"""Bytes of an answer that is unpacked."""


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


def session_of(asked: Asked, named: str | None, who: str) -> str:
    """The id of the conversation: the caller's, else one that follows from who asks and from how it began."""
    if named:
        return named if len(named) <= LONGEST_NAME else f"proxy-{_digest(named)}"
    return f"proxy-{_digest(who, asked.first('system'), asked.first('user'))}"


def heard(form: Form, body: bytes, encoding: str = "", *, breathe: Callable[[], None] = lambda: None) -> Said:
    """What an answer says, at once or in frames, whatever its headers say of it. ``breathe`` is called every few frames.

    Raises:
        ValueError: it is packed in a way that cannot be unpacked.
    """
    plain, hearing = _unpacked(body, encoding.strip().lower()), form.hearing()
    if plain.lstrip()[:1] == b"{":
        hearing.whole(plain)
    else:
        for n, frame in enumerate(frames_of([plain])):
            hearing.frame(frame)
            if not n % FEW:
                breathe()
    return hearing.said


def captures(exchange: Exchange, *, kept: bool = False, passing: bool = False) -> list[Capture]:
    """What is stored. Of a history that is sent again only what is new, since each turn is the same turn when it comes again; two
    that say the same at different places of a conversation are two."""
    asked, said = exchange.asked, exchange.said
    found = []
    place = _count(asked, "user", asked.last_user)
    if asked.last_user.strip():
        found.append(Capture(
            asked.last_user, SOURCE, door=SOURCE, session=exchange.session, role=Role.USER, repeat=place,
            time=exchange.asked_at, kept=kept, passing=passing,
        ))  # fmt: skip
    if said.words.strip():
        found.append(Capture(
            said.words, SOURCE, door=SOURCE, session=exchange.session, role=Role.ASSISTANT,
            host_turn_id=_answer_id(asked, said, place), time=exchange.said_at,
            author=_name(said.model or asked.model), partial=exchange.partial or said.error is not None,
            kept=kept, passing=passing,
        ))  # fmt: skip
    return found


def _answer_id(asked: Asked, said: Said, place: int) -> str:
    """What makes an answer the same answer: its words, what they answer, and how often they were said before. Two questions that
    get the same answer get two, whether a history came with them or not."""
    before = _count(asked, "assistant", said.words)
    return f"said-{_digest(normal(asked.last_user), str(place), normal(said.words), str(before))}"


def _count(asked: Asked, role: str, text: str) -> int:
    """How often a role says the very same in a request."""
    wanted = normal(text)
    return sum(1 for one in asked.messages if one.role == role and normal(one.text) == wanted)


def _name(model: str) -> str | None:
    return " ".join(model.split())[:LONGEST_NAME] or None


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _unpacked(body: bytes, encoding: str) -> bytes:
    if encoding in ("", "identity"):
        return body
    if encoding not in _WINDOW:
        raise ValueError(f"an answer is packed as {encoding[:40]!r}")
    try:
        return zlib.decompressobj(_WINDOW[encoding]).decompress(body, MOST)
    except zlib.error:
        raise ValueError(f"an answer is no {encoding}") from None
