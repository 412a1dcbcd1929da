"""``raw-rag chat``: a model that has the memory, in a terminal. Words come as they are said; both sides are stored."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.cli.memory_notes import show_memory
from agent_raw_rag.cli.told_to_end import Told
from agent_raw_rag.cli.wording import as_commands
from agent_raw_rag.errors import NotFoundError, RawRagError, UpstreamTimeoutError, UsageError
from agent_raw_rag.models import Ask
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.gateway.conversation import Answered
    from agent_raw_rag.runtime import Runtime

DOOR = "chat"
FROM_STDIN = "-"
PROMPT = "› "
STOPPED = 130
SLOW = ("/models", "/recall")
"""Commands that may be stopped, as an answer may."""
HELP = """\
/help            this
/models          the models that the server offers
/model [NAME]    the model that is asked, or another from now on
/recall QUERY    what the memory knows of something
/forget          forget this chat for good, and begin a new one
/quit, /exit     leave; so does the end of the input
Ctrl+C stops an answer; at the prompt it leaves. A message that begins with / is sent with a space before it."""


def chat(
    once: Annotated[
        str | None,
        typer.Option("--once", metavar="TEXT", help="Ask this, print the answer, and leave; - reads standard input."),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="ID", help="Go on with this chat. Default: a new one.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="Default: llm.model.")] = None,
    no_memory: Annotated[bool, typer.Option("--no-memory", help="Put nothing remembered into the prompt.")] = False,
    dump_payloads: Annotated[
        str | None,
        typer.Option("--dump-payloads", metavar="DIR", help="Write each request and answer there, keys masked."),
    ] = None,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Chat with the configured model, which has your memory. Both sides are stored.

    Exit status: 0; 1 if the model's server fails; 2 if [llm] does not name one; 130 if --once was stopped, 129 or 143 if a
    signal ended it: as with Ctrl+C, what came of an answer is stored.
    """
    from agent_raw_rag.runtime.chat import not_set_up
    from agent_raw_rag.runtime.ending import end_idle_of

    if json and once is None:
        raise UsageError("--json is for one question.", hint="Give --once as well.")
    room = options.room(config, space)
    if not room.chat.is_set_up:
        raise not_set_up(room.settings)
    if dump_payloads is not None:
        from agent_raw_rag.gateway.payloads import Payloads

        room.chat.watching = Payloads(dump_payloads)
    told = Told()
    with told.to_end():
        talk = _Talk(room, session, model, told, recall=not no_memory, shown=not json)
        end_idle_of(room)  # after the talk began: its own session is held, and is not ended
        try:
            failed = talk.once(sys.stdin.read() if once == FROM_STDIN else once) if once is not None else talk.hold()
        finally:
            talk.end()
    if failed:
        raise typer.Exit(failed)


class _Talk:
    """One chat."""

    def __init__(
        self, room: Runtime, session: str | None, model: str | None, told: Told, *, recall: bool, shown: bool
    ) -> None:
        self._room = room
        self._model = model or room.chat.model
        self._told = told
        self._recall, self._shown = recall, shown
        self._passes = room.settings.capture.store_turns == "session"
        self._goes_on = session is not None
        self._presence = ExitStack()
        self._session = ""
        self._begin(session)

    def once(self, message: str) -> int:
        """Ask one question. Returns the exit status."""
        try:
            answer = self._ask(message)
        except KeyboardInterrupt:
            if not self._told.number:
                render.line()
            return self._told.status or STOPPED
        if answer.partial and not answer.text:
            seconds = self._room.settings.llm.timeout_seconds
            raise UpstreamTimeoutError(f"No answer came within {seconds:g} s.", hint="llm.timeout_seconds allows more.")
        if not self._shown:
            render.as_json(answer.as_json())
        else:
            render.aside(f"(session {answer.session_id})")
        return 0

    def hold(self) -> int:
        """Go on until whoever asks leaves. Returns the exit status."""
        failed = 0
        if sys.stdin.isatty():
            render.line(f"{self._model} · session {self._session} · /help", "dim")
        with self._left():
            for line in _lines():
                try:
                    if not self._take(line):
                        break
                except RawRagError as error:
                    error.message, error.hint = as_commands(error.message), as_commands(error.hint)
                    render.complain(error)
                    failed = failed or int(not sys.stdin.isatty())
                sys.stdout.flush()  # a program may read it, and wait for it
        return self._told.status or failed

    @contextmanager
    def _left(self) -> Iterator[None]:
        """An interrupt while nothing is under way ends the block."""
        try:
            yield
        except KeyboardInterrupt:
            if not self._told.number:
                render.line()

    def _take(self, line: str) -> bool:
        """Whether the chat goes on after this line."""
        command, *words = line.strip().split(maxsplit=1)
        is_message = not line.startswith("/")
        try:
            if is_message:
                self._ask(line.strip())
                return True
            return self._obey(command, *words)
        except KeyboardInterrupt:
            if self._told.number or not (is_message or command in SLOW):
                raise
            render.line()
            render.aside("(stopped)")
            return True

    def end(self) -> None:
        """What is only for this chat's own history goes with it, if nobody was to go on with it."""
        memory = self._room.memory
        self._room.chat.settle()
        if self._passes and not self._goes_on:
            memory.end_session(DOOR, self._session, options.OWNER)
        self._presence.close()
        memory.feeding.wait()

    def _begin(self, session: str | None = None) -> None:
        from agent_raw_rag.gateway.sessions import new_session

        self._presence.close()
        self._session = session = session or new_session()
        if self._passes:
            self._presence.enter_context(self._room.memory.live_session(session, DOOR))

    def _ask(self, message: str) -> Answered:
        import anyio

        from agent_raw_rag.gateway.conversation import Question, Quiet

        question = Question(message, options.OWNER, self._session, self._model, recall=self._recall)
        listener = Quiet(on_words=_show) if self._shown else Quiet()
        answer = anyio.run(self._room.chat.conversation.ask, question, listener)
        self._session = answer.session_id
        if self._shown:
            render.line()
            if answer.partial:
                render.aside("(no more came in time)" if answer.text else "(nothing came in time)")
        return answer

    def _obey(self, command: str, words: str = "") -> bool:
        """Whether the chat goes on."""
        if command in ("/quit", "/exit"):
            return False
        acts = {"/help": self._help, "/models": self._models, "/model": self._name, "/recall": self._show_memory,
                "/forget": self._forget}  # fmt: skip
        act = acts.get(command)
        if act is None:
            render.aside(f"There is no {command[:40]}. /help tells what there is; a space before it sends it.")
        else:
            act(words.strip())
        return True

    def _help(self, words: str) -> None:
        render.line(HELP)

    def _models(self, words: str) -> None:
        import anyio

        for name in anyio.run(self._room.chat.asking.models):
            render.line(f"{'*' if name == self._model else ' '} {name}")

    def _name(self, words: str) -> None:
        self._model = words or self._model
        render.line(f"{self._model} is asked.")

    def _show_memory(self, words: str) -> None:
        from agent_raw_rag.memory.recall import RecallAsk

        found = self._room.memory.notes.recall(RecallAsk(words, include_raw=True, exclude_session=self._session))
        for one in found.memories:
            show_memory(one)
        if not found.memories:
            render.line("Nothing is remembered about this.")

    def _forget(self, words: str) -> None:
        if sys.stdin.isatty() and not typer.confirm("Forget this chat for good?", err=True):
            return
        self._room.chat.settle()
        try:
            scope = self._room.forget_scope(Ask(session=f"{DOOR}:{self._session}"))
            turns = self._room.forget(scope, target=f"{DOOR}:{self._session}").turns
        except NotFoundError:  # nothing of it was stored
            turns = 0
        self._goes_on = False
        self._begin()
        render.line(f"Forgot {count(turns, 'turn')}. This is a new chat.")


async def _show(words: str) -> None:
    render.words(words)


def _lines() -> Iterator[str]:
    """What is typed, line by line, blank ones left out."""
    if sys.stdin.isatty():
        with suppress(ImportError):  # there is none on Windows, whose terminal does it by itself
            import readline  # noqa: F401 - arrow keys, and what was typed before
    while True:
        try:
            line = input(render.encodable(PROMPT)) if sys.stdin.isatty() else sys.stdin.readline()
        except EOFError:
            render.line()
            return
        if not line and not sys.stdin.isatty():
            return
        if line.strip():
            yield line
