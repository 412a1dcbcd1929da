"""One question: what was said before and what is remembered -> prompt -> model -> words; both sides stored, the question first.

A store that cannot be read or written is told, and the answer comes all the same. Whoever asks may leave at any time: what came
until then is stored, marked as partial.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import anyio
import anyio.to_thread

from agent_raw_rag.errors import BadArgumentError, UpstreamError
from agent_raw_rag.gateway.asking import Asking
from agent_raw_rag.gateway.fitted import fitted
from agent_raw_rag.gateway.history import DOOR, History
from agent_raw_rag.gateway.prompt import Prompt, Prompting
from agent_raw_rag.gateway.shapes import Hearing, Message
from agent_raw_rag.memory.raw import LONGEST_LABEL, MOST_CONTENT
from agent_raw_rag.memory.results import Captured, Memory
from agent_raw_rag.models import Actor, Capture, Role

LONGEST_MODEL = 200


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    message: str
    actor: Actor
    session: str | None = None
    """None: a new one."""
    model: str | None = None
    """None: the one of the settings."""
    timeout_seconds: float | None = None
    """None, or more than the settings allow: what these allow."""
    recall: bool = True
    author: str | None = None
    """Who asks, where it is known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it."""

    text: str
    session_id: str
    model: str
    memories_used: list[str] = field(default_factory=list)
    """Ids of the notes and events that stood in the prompt."""
    captured: bool = False
    """Both sides were stored."""
    partial: bool = False
    """The end is missing."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


class Listener(Protocol):
    """Who waits for an answer. Called in the event loop."""

    async def begun(self, session: str) -> None:
        """The question is stored, if it is to be, and the model is about to be asked."""
        ...

    async def words(self, text: str) -> None:
        """The next words of the answer."""
        ...


Store = Callable[[Sequence[Capture], Actor], Sequence[Captured]]
Remember = Callable[[str, str | None], Sequence[Memory]]
"""(question, session to leave out) -> what is known of it, best first. Raises RawRagError."""


@dataclass(frozen=True)
class Conversation:
    """The chats of one space. Safe to use from several threads and event loops."""

    asking: Asking
    prompting: Callable[[], Prompting]
    """Called in a worker thread: it loads the tokenizer."""
    history: History
    remember: Remember
    store: Store | None
    """None: nothing is stored."""
    label: Callable[[Capture], Capture]
    """Says of a capture how long it is to be kept."""
    now: Callable[[], int]
    timeout_seconds: float
    failed: Callable[[str, Exception], str]
    """Told of what went wrong without keeping anybody from an answer: (what, why). Gives the why in words."""
    counted: Callable[[str | None], None]
    """Called in a worker thread after each question that reached the model: why its turns could not be stored, or None."""
    named: Callable[[str], str]
    """A session's id as the store keeps it."""
    held: Callable[[str], AbstractContextManager[object]] = lambda session: nullcontext()
    """Keeps a session from being ended while a question of it is on its way."""
    mark: Callable[[], str] = lambda: secrets.token_hex(5)
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())

    async def ask(self, question: Question, listener: Listener) -> Answer:
        """Ask, and tell the listener what comes. Returns when the answer is stored; partial if the time was up.

        Raises:
            BadArgumentError: a blank or too long message, a session or model that is no name. Nothing was stored.
            UpstreamError: the server is not there, refuses or fails. The question is stored, and what came of an answer.
            ConfigError: the server's address is none.
        """
        _check(question)
        allowed = min(question.timeout_seconds or self.timeout_seconds, self.timeout_seconds)
        deadline = anyio.current_time() + allowed
        begun = await anyio.to_thread.run_sync(self._begin, question)
        with self.held(begun.session):
            return await self._go_on(question, begun, listener, deadline)

    async def _go_on(self, question: Question, begun: _Begun, listener: Listener, deadline: float) -> Answer:
        await listener.begun(begun.session)
        hearing = self.asking.hearing()
        late = True  # whatever ends it before its end
        try:
            with anyio.move_on_after(max(0.0, deadline - anyio.current_time())) as scope:
                await self.asking.ask(begun.model, begun.prompt.messages, hearing, listener.words)
            late = scope.cancelled_caught
        finally:
            with anyio.CancelScope(shield=True):
                answer = await anyio.to_thread.run_sync(self._end, question, begun, hearing, late)
        if not late and not hearing.said.ended and not answer.text:
            raise UpstreamError(f"{self.asking.server.root} gave no answer.")
        return answer

    def _begin(self, question: Question) -> _Begun:
        prompting = self.prompting()
        prompting.check(question.message)
        session = self.named(question.session) if question.session else f"chat-{self.new_id()}"
        problems: list[str] = []
        before = self._guarded("the history of a chat", lambda: self.history.messages(session), [])
        asked = self._stored(question, Role.USER, question.message, session, problems, author=question.author)
        self.history.add(session, Message("user", question.message))
        known = self._guarded("memory", lambda: self.remember(question.message, session), []) if question.recall else []
        prompt = prompting(question.message, known, before, self.mark())
        return _Begun(session, question.model or self.asking.server.model, prompt, asked, problems)

    def _end(self, question: Question, begun: _Begun, hearing: Hearing, late: bool) -> Answer:
        said = hearing.said
        partial = late or said.is_cut
        used = [one.source_id for one in begun.prompt.memories]
        answer, stored = Answer(said.words, begun.session, begun.model, used, begun.stored, partial), begun.stored
        if said.words.strip():
            role, session, problems = Role.ASSISTANT, begun.session, begun.problems
            stored &= self._stored(question, role, said.words, session, problems, author=begun.model, partial=partial)
            self.history.add(session, Message("assistant", said.words))
        self.counted(begun.problems[0] if begun.problems else None)
        return replace(answer, captured=stored)

    def _stored(
        self, question: Question, role: Role, text: str, session: str, problems: list[str], *, author: str | None,
        partial: bool = False,
    ) -> bool:  # fmt: skip
        store = self.store
        if store is None:
            return False
        told = Capture(
            text, DOOR, door=DOOR, session=session, role=role, host_turn_id=self.new_id(), time=self.now(),
            author=author, partial=partial,
        )  # fmt: skip
        capture = self.label(fitted(told))
        stored = self._guarded("storing a turn", lambda: store([capture], question.actor), [], problems)
        return any(one.recorded for one in stored)

    def _guarded(self, what: str, act: Callable[[], Any], otherwise: Any, problems: list[str] | None = None) -> Any:
        try:
            return act()
        except Exception as error:
            why = self.failed(what, error)
            if problems is not None:
                problems.append(why)
            return otherwise


@dataclass(frozen=True, slots=True)
class _Begun:
    session: str
    model: str
    prompt: Prompt
    stored: bool
    problems: list[str]
    """Why turns could not be stored."""


def _check(question: Question) -> None:
    if not question.message.strip():
        raise BadArgumentError("The message is blank.", hint="Say what you want to know.")
    if len(question.message) > MOST_CONTENT:
        raise BadArgumentError(
            f"The message has {len(question.message):,} characters.", hint=f"At most {MOST_CONTENT:,}."
        )
    if question.timeout_seconds is not None and not question.timeout_seconds > 0:
        raise BadArgumentError("timeout_s must be more than 0.")
    for what, name, most in (("session", question.session, LONGEST_LABEL), ("model", question.model, LONGEST_MODEL)):
        if name is not None and not (name.strip() and len(name) <= most and name.isprintable()):
            raise BadArgumentError(
                f"The {what} is no name: blank, too long, or with characters that none has.",
                hint=f"At most {most} characters.",
            )


async def silence(text: str) -> None:
    """Of who waits for the whole answer only."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """A listener that waits for the whole answer."""

    on_begun: Callable[[str], Awaitable[None]] = silence
    on_words: Callable[[str], Awaitable[None]] = silence

    async def begun(self, session: str) -> None:
        """See ``Listener``."""
        await self.on_begun(session)

    async def words(self, text: str) -> None:
        """See ``Listener``."""
        await self.on_words(text)
