"""The forms that servers of models speak, by name. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from agent_raw_rag.gateway import anthropic, openai
from agent_raw_rag.gateway.shapes import Asked, Hearing, Message, Request


class MakeRequest(Protocol):
    """(model, messages, max_tokens, stream) -> the request for the next message of a conversation."""

    def __call__(self, model: str, messages: Iterable[Message], *, max_tokens: int, stream: bool) -> Request:
        """The request."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """One form."""

    name: str
    path: str
    """Where it is asked for a conversation's next message."""
    asked: Callable[[bytes], Asked]
    """A request's body -> what it asks for."""
    hearing: Callable[[], Hearing]
    """Who listens to one answer."""
    request: MakeRequest
    error_frame: Callable[[str], bytes]
    """The frame of an event stream that says that the rest will not come."""


OPENAI = Form("openai", openai.PATH, openai.asked, openai.Heard, openai.request, openai.error_frame)
ANTHROPIC = Form(
    "anthropic", anthropic.PATH, anthropic.asked, anthropic.Heard, anthropic.request, anthropic.error_frame
)
FORMS = {form.name: form for form in (OPENAI, ANTHROPIC)}


def form_of_path(path: str) -> Form:
    """The form that a path under ``/v1`` belongs to; what belongs to none is taken for the first."""
    return ANTHROPIC if path == ANTHROPIC.path or path.startswith(f"{ANTHROPIC.path}/") else OPENAI
