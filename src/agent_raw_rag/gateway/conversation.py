"""One question: what was said before and what is remembered -> prompt -> model -> words; both sides stored, the question first.

A store that cannot be read or written is told, and the answer comes all the same; one that is locked is waited for as long as
the question's time allows, and what is late is stored, or counted, after the answer. Whoever asks may leave at any time: what
came until then is stored, marked as partial.
"""

from __future__ import annotations

import math
import secrets
import uuid
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import anyio
import anyio.to_thread

from agent_raw_rag.errors import BadArgumentError, StoreBusyError, UpstreamError
from agent_raw_rag.gateway.aside import READERS, Aside, holding, in_time
from agent_raw_rag.gateway.asking import Asking
from agent_raw_rag.gateway.fitted import fitted
from agent_raw_rag.gateway.history import DOOR, History
from agent_raw_rag.gateway.prompt import Prompt, Prompting
from agent_raw_rag.gateway.sessions import new_session
from agent_raw_rag.gateway.shapes import Hearing, Message
from agent_raw_rag.memory.raw import LONGEST_LABEL, MOST_CONTENT
from agent_raw_rag.memory.results import Captured, Memory
from agent_raw_rag.models import Actor, Capture, Role

LONGEST_MODEL = 200
PATIENCE_SECONDS = 5.0
"""A store is waited for so long before the model is asked, and as long after; for half of the time that is left at most."""
GRACE_SECONDS = 0.5
"""A store is waited for so long at least, even when the time is up."""
TOO_MUCH = "Too much waits for being stored."
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}


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
class Answered:
    """What came of it."""

    text: str
    session_id: str
    model: str
    memories_used: list[str] = field(default_factory=list)
    """Ids of the notes and events that stood in the prompt."""
    captured: bool = False
    """Both sides are stored. False: they cannot be, are not to be, or are not yet, since the store is locked."""
    partial: bool = False
    """The end is missing."""

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return asdict(self)


class Listener(Protocol):
    """Who waits for an answer. Called in the event loop."""

    async def begun(self, session: str) -> None:
        """The question is stored, if it is to be and the store is not locked, and the model is about to be asked."""
        ...

    async def accepted(self) -> None:
        """The model's server took the question; its words are to follow. Not called where it refuses."""
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
    counted: Callable[[int, str | None], None]
    """Called in a worker thread after each question: (calls of the model, why its turns could not be stored or None)."""
    named: Callable[[str], str]
    """A session's id as the store keeps it."""
    held: Callable[[str], AbstractContextManager[object] | None] = lambda session: None
    """Keeps a session from being ended while a question of it is on its way; used in threads. None: nobody ends it."""
    mark: Callable[[], str] = lambda: secrets.token_hex(5)
    new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    """Of a turn."""
    reading: Aside = field(default_factory=lambda: Aside(READERS), repr=False)
    writing: Aside = field(default_factory=lambda: Aside(1), repr=False)
    """One thread: the question is stored before its answer, and a store has one writer anyway."""

    async def ask(self, question: Question, listener: Listener) -> Answered:
        """Ask, and tell the listener what comes. Returns when the answer is stored, or when no more than a moment is left to wait
        for that; partial if the time was up.

        Raises:
            BadArgumentError: a blank or too long message, a session or model that is no name. Nothing was stored.
            UpstreamError: the server is not there, refuses or fails. The question is stored, and what came of an answer.
            ConfigError: the server's address is none.
        """
        _check(question)
        allowed = min(question.timeout_seconds or self.timeout_seconds, self.timeout_seconds)
        deadline = anyio.current_time() + allowed
        session = await anyio.to_thread.run_sync(self._checked, question)
        now = anyio.current_time()
        patience = now + max(GRACE_SECONDS, min(PATIENCE_SECONDS, (deadline - now) / 2))
        begun = _Begun(session, question.model or self.asking.server.model)
        held = self.held(session)
        async with holding(held, self.reading, patience, lambda error: self.failed("holding a session", error)):
            await self._begin(question, begun, patience)
            return await self._go_on(question, begun, listener, deadline)

    def settle(self) -> None:
        """Return when all that was said until now is stored, or counted as what could not be."""
        self.writing.settle()

    def _checked(self, question: Question) -> str:
        """The session. Raises BadArgumentError: the model cannot read so long a message."""
        self.prompting().check(question.message)
        return self.named(question.session) if question.session else new_session()

    async def _begin(self, question: Question, begun: _Begun, patience: float) -> None:
        """Read what was said before, and store the question; it is stored too if whoever asks leaves meanwhile."""
        history = "the history of a chat"
        before = self.reading.put(lambda: self._guarded(history, lambda: self.history.messages(begun.session), []))
        try:
            if not await in_time(before, patience):
                self.failed(history, TimeoutError())
            begun.before = before.result() if before.done() else ()
            await in_time(self._put_question(question, begun), patience)
        except BaseException:
            self._put_ending(question, begun, "", cut=True)
            raise

    def _put_question(self, question: Question, begun: _Begun) -> Future[bool]:
        if begun.asked is None:
            begun.asked = self._put(begun, lambda: self._keep(question, begun, "user", question.message))
        return begun.asked

    def _put_ending(self, question: Question, begun: _Begun, words: str, *, cut: bool) -> Future[bool]:
        self._put_question(question, begun)
        return self._put(begun, lambda: self._finish(question, begun, words, cut=cut))

    def _put(self, begun: _Begun, act: Callable[[], bool]) -> Future[bool]:
        """Have something stored. Where too much waits for that, it is only counted that it is not."""
        if not self.writing.is_full:
            return self.writing.put(act)
        self.failed("storing a turn", StoreBusyError(TOO_MUCH))
        return self.reading.put(lambda: self._lost(begun))

    def _lost(self, begun: _Begun) -> bool:
        self.counted(begun.calls, TOO_MUCH)
        return False

    async def _go_on(self, question: Question, begun: _Begun, listener: Listener, deadline: float) -> Answered:
        hearing = self.asking.hearing()
        late = True  # whatever ends it before its end
        try:
            await listener.begun(begun.session)
            with anyio.move_on_after(max(0.0, deadline - anyio.current_time())) as scope:
                making = self.reading.put(lambda: self._prompt(question, begun))
                await in_time(making, math.inf)
                begun.prompt = making.result()
                begun.calls = 1
                await self.asking.ask(begun.model, begun.prompt.messages, hearing, listener.words, listener.accepted)
            late = scope.cancelled_caught
        finally:
            with anyio.CancelScope(shield=True):
                answer = await self._end(question, begun, hearing, deadline, late=late)
        if not late and not hearing.said.ended and not answer.text:
            raise UpstreamError(f"{self.asking.server.root} gave no answer.")
        return answer

    def _prompt(self, question: Question, begun: _Begun) -> Prompt:
        known: Sequence[Memory] = []
        if question.recall:
            known = self._guarded("memory", lambda: self.remember(question.message, begun.session), [])
        return self.prompting()(question.message, known, begun.before, self.mark())

    async def _end(
        self, question: Question, begun: _Begun, hearing: Hearing, deadline: float, *, late: bool
    ) -> Answered:
        said = hearing.said
        cut = late or said.is_cut
        ending = self._put_ending(question, begun, said.words, cut=cut)
        now = anyio.current_time()
        stored = await in_time(ending, max(now + GRACE_SECONDS, min(now + PATIENCE_SECONDS, deadline)))
        used = [one.source_id for one in begun.prompt.memories]
        return Answered(said.words, begun.session, begun.model, used, stored and ending.result(), cut)

    def _finish(self, question: Question, begun: _Begun, words: str, *, cut: bool) -> bool:
        """Store the answer after its question, and count. Whether both are stored."""
        stored = begun.asked is not None and begun.asked.done() and begun.asked.result()
        if words.strip():
            stored &= self._keep(question, begun, "assistant", words, partial=cut)
        why = next(iter(begun.problems), None)
        if begun.calls or why is not None:
            self.counted(begun.calls, why)
        return stored

    def _keep(self, question: Question, begun: _Begun, role: str, text: str, *, partial: bool = False) -> bool:
        """Whether a side is stored."""
        self.history.add(begun.session, Message(role, text))
        store = self.store
        if store is None:
            return False
        author = question.author if role == "user" else begun.model
        told = Capture(
            text, DOOR, door=DOOR, session=begun.session, role=_ROLES[role], host_turn_id=self.new_id(), time=self.now(),
            author=author, partial=partial,
        )  # fmt: skip
        capture = self.label(fitted(told))
        stored = self._guarded("storing a turn", lambda: store([capture], question.actor), [], begun.problems)
        return any(one.recorded for one in stored)

    def _guarded(self, what: str, act: Callable[[], Any], otherwise: Any, problems: list[str] | None = None) -> Any:
        try:
            return act()
        except Exception as error:
            why = self.failed(what, error)
            if problems is not None:
                problems.append(why)
            return otherwise


@dataclass(slots=True)
class _Begun:
    """A question on its way."""

    session: str
    model: str
    before: Sequence[Message] = ()
    asked: Future[bool] | None = None
    """Whether the question is stored."""
    prompt: Prompt = field(default_factory=lambda: Prompt(()))
    calls: int = 0
    """Of the model."""
    problems: list[str] = field(default_factory=list)
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

    async def accepted(self) -> None:
        """See ``Listener``."""

    async def words(self, text: str) -> None:
        """See ``Listener``."""
        await self.on_words(text)
