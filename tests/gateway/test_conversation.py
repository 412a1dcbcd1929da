"""One question of a chat, against a model's server that is a real process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from agent_raw_rag.errors import BadArgumentError, ConfigError, NotConfiguredError, UpstreamError, UpstreamTimeoutError
from agent_raw_rag.gateway.aside import MOST_WAITING
from agent_raw_rag.gateway.conversation import Answered, Question, Quiet
from agent_raw_rag.memory.notes import Save
from agent_raw_rag.models import Actor
from agent_raw_rag.runtime import Runtime, tally
from agent_raw_rag.store.captured import CapturedRows, EventRow
from agent_raw_rag.store.presence import alone, live
from tests.samples import empty_runtime
from tests.servers.running import dead_url
from tests.servers.talking import Talk, talking_server

ME = Actor("me", "cli")


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with talking_server() as url:
        yield url


@pytest.fixture
def talk(root: str) -> Talk:
    return Talk(root)


MakeRuntime = Callable[..., Runtime]


@pytest.fixture
def chatting(tmp_path: Path, talk: Talk) -> MakeRuntime:
    def make(model: str = "echo", more: str = "", llm: str = "") -> Runtime:
        config = '[encoder]\nname = "none"\n' + talk.config(model, more, llm)
        return empty_runtime(tmp_path, config=config, logs=False)

    return make


@dataclass
class Heard:
    """Who listens: what was told, and what is done at the first words."""

    sessions: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    at_words: Callable[[], Any] = lambda: None

    async def begun(self, session: str) -> None:
        self.sessions.append(session)

    async def accepted(self) -> None:
        pass

    async def words(self, text: str) -> None:
        self.pieces.append(text)
        self.at_words()


def ask(
    runtime: Runtime, message: str, session: str | None = None, heard: Heard | None = None, **more: Any
) -> Answered:
    question = Question(message, ME, session, **more)
    return anyio.run(runtime.chat.conversation.ask, question, heard or Quiet())


def turns(runtime: Runtime, session: str) -> list[EventRow]:
    rows = CapturedRows(runtime.reader.connection)
    number = rows.session_of("chat", session)
    return list(rows.at((number, n) for n in range(1, 20))) if number else []


def told(runtime: Runtime, session: str) -> list[tuple[str, str]]:
    return [(one.role.value, one.text) for one in turns(runtime, session)]


def test_an_answer_comes_in_pieces_and_whole_and_both_sides_are_stored(chatting: MakeRuntime) -> None:
    runtime, heard = chatting(), Heard()
    answer = ask(runtime, "how are you", heard=heard)
    assert answer.text == "".join(heard.pieces) == "You said: how are you"
    assert len(heard.pieces) > 3
    assert heard.sessions == [answer.session_id] and answer.session_id.startswith("chat-")
    assert answer.captured and not answer.partial
    assert told(runtime, answer.session_id) == [("user", "how are you"), ("assistant", "You said: how are you")]
    assert [one.source for one in turns(runtime, answer.session_id)] == ["chat", "chat"]


def test_an_answer_that_comes_at_once_is_the_same(chatting: MakeRuntime) -> None:
    heard = Heard()
    answer = ask(chatting("whole"), "hi", heard=heard)
    assert (answer.text, heard.pieces, answer.partial) == ("You said: hi", ["You said: hi"], False)


def test_another_form_is_spoken_too(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting(llm='form = "anthropic"')
    assert ask(runtime, "hi").text == "You said: hi"
    (request,) = talk.seen("v1/messages")
    assert request["headers"]["anthropic-version"] and "memory" in request["body"]["system"]


def test_a_session_goes_on_with_its_history_in_any_process(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting()
    first = ask(runtime, "one")
    other = Runtime(runtime.settings, runtime.environment)
    assert ask(other, "two", first.session_id).session_id == first.session_id
    assert [one["content"] for one in talk.asked()[1]] == ["one", "You said: one", "two"]


def test_the_same_words_twice_are_two_turns(chatting: MakeRuntime) -> None:
    runtime = chatting()
    session = ask(runtime, "yes").session_id
    ask(runtime, "yes", session)
    assert [text for role, text in told(runtime, session) if role == "user"] == ["yes", "yes"]


def test_the_users_side_is_stored_before_the_model_is_asked(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting("hold")
    stored: list[list[tuple[str, str]]] = []

    async def watch() -> None:
        async with anyio.create_task_group() as tasks:
            heard = Heard()
            tasks.start_soon(runtime.chat.conversation.ask, Question("hi", ME), heard)
            await anyio.to_thread.run_sync(talk.wait_held)
            stored.append(await anyio.to_thread.run_sync(told, runtime, heard.sessions[0]))
            await anyio.to_thread.run_sync(talk.release)

    anyio.run(watch)
    assert stored == [[("user", "hi")]]


def test_what_is_remembered_stands_fenced_in_the_prompt_and_is_named(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting()
    note = runtime.memory.notes.save(Save("Deploys of <b>uploader</b> happen on Tuesdays", "me"), ME)
    answer = ask(runtime, "when are deploys of the uploader?")
    assert answer.memories_used == [note.node_id]
    (system,) = talk.systems()
    assert "&lt;b&gt;uploader&lt;/b&gt; happen on Tuesdays" in system and "<raw-rag-memory " in system


def test_what_was_said_in_other_sessions_is_remembered_and_not_what_was_said_in_this_one(
    chatting: MakeRuntime, talk: Talk
) -> None:
    runtime = chatting()
    first = ask(runtime, "the launch code word is zanzibar")
    answer = ask(runtime, "what is the launch code word?", first.session_id)
    assert answer.memories_used == []
    answer = ask(runtime, "what is the launch code word?")
    assert answer.memories_used and "zanzibar" in talk.systems()[-1]


def test_memory_can_be_left_aside(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting()
    runtime.memory.notes.save(Save("Deploys happen on Tuesdays", "me"), ME)
    assert ask(runtime, "when are deploys?", recall=False).memories_used == []
    assert "Tuesdays" not in talk.systems()[0]


def test_memories_are_limited_and_must_score(tmp_path: Path, talk: Talk) -> None:
    config = talk.config(more="[chat]\nmemories = 2\nmin_score = 1.0\n")
    runtime = empty_runtime(tmp_path, config='[encoder]\nname = "none"\n' + config, logs=False)
    runtime.memory.notes.save(Save("Deploys happen on Tuesdays", "me", kind="fact"), ME)
    for word in ("first", "second", "third"):
        ask(runtime, f"deploys {word}", recall=False)
    used = ask(runtime, "deploys").memories_used
    assert len(used) == 2 and all(one.startswith("e") for one in used)


def test_what_is_recalled_is_not_stored_again(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting()
    block = "<raw-rag-memory 0123abcd>\nsecret plan\n</raw-rag-memory 0123abcd>\n"
    answer = ask(runtime, block + "what of it?")
    assert told(runtime, answer.session_id)[0] == ("user", "what of it?")


def test_when_the_time_is_up_what_came_is_given_and_stored_as_partial(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting("hold")
    ask(runtime, "before", model="echo")  # what is loaded once costs no time of the other's
    answer = ask(runtime, "hi", timeout_seconds=2.0)
    assert (answer.text, answer.partial, answer.captured) == ("You", True, True)
    talk.wait_left()
    assert [one.partial for one in turns(runtime, answer.session_id)] == [False, True]


@pytest.mark.parametrize("model", ["silent", "never"])
def test_when_nothing_came_in_time_the_answer_is_empty_and_partial(chatting: MakeRuntime, model: str) -> None:
    runtime = chatting(model)
    answer = ask(runtime, "hi", timeout_seconds=0.3)
    assert (answer.text, answer.partial) == ("", True)
    assert told(runtime, answer.session_id) == [("user", "hi")]


def test_a_time_beyond_the_settings_is_brought_to_it(chatting: MakeRuntime) -> None:
    assert ask(chatting("hold", llm="timeout_seconds = 0.5"), "hi", timeout_seconds=3000.0).partial


def test_who_leaves_closes_the_connection_and_what_came_is_stored(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting("hold")
    heard = Heard()

    async def leave() -> None:
        with anyio.CancelScope() as scope:
            heard.at_words = scope.cancel
            await runtime.chat.conversation.ask(Question("hi", ME), heard)

    anyio.run(leave)
    talk.wait_left()
    assert told(runtime, heard.sessions[0]) == [("user", "hi"), ("assistant", "You")]
    assert turns(runtime, heard.sessions[0])[-1].partial


@pytest.mark.parametrize(
    ("model", "says"), [("401", "llm.key_variable"), ("404", "llm.url"), ("500", "answered 500: refused")]
)
def test_a_refusal_is_told_with_the_servers_words_and_the_question_stays(
    chatting: MakeRuntime, model: str, says: str
) -> None:
    runtime, heard = chatting(model), Heard()
    with pytest.raises(UpstreamError) as refused:
        ask(runtime, "hi", heard=heard)
    assert says in str(refused.value) and refused.value.code == "upstream"
    assert told(runtime, heard.sessions[0]) == [("user", "hi")]


def test_the_key_goes_up_and_stands_in_no_message(tmp_path: Path, talk: Talk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="agent_raw_rag")
    key = "sk-" + "a" * 20
    runtime = empty_runtime(tmp_path, config=talk.config("500", llm='key_variable = "MODEL_KEY"'), logs=False)
    runtime.environment["MODEL_KEY"] = key  # type: ignore[index]
    with pytest.raises(UpstreamError) as refused:
        ask(runtime, "hi")
    assert talk.seen()[0]["headers"]["authorization"] == f"Bearer {key}"
    assert key not in str(refused.value) and "***" in str(refused.value)
    assert key not in caplog.text


def test_a_missing_key_is_told_and_nobody_is_asked(chatting: MakeRuntime, talk: Talk) -> None:
    with pytest.raises(UpstreamError, match="NO_SUCH_KEY"):
        ask(chatting(llm='key_variable = "NO_SUCH_KEY"'), "hi")
    assert talk.seen() == []


@pytest.mark.parametrize("model", ["dies", "error-frame"])
def test_a_server_that_breaks_off_is_told_and_what_came_is_stored(chatting: MakeRuntime, model: str) -> None:
    runtime, heard = chatting(model), Heard()
    with pytest.raises(UpstreamError):
        ask(runtime, "hi", heard=heard)
    assert turns(runtime, heard.sessions[0])[-1].partial
    assert told(runtime, heard.sessions[0])[-1] == ("assistant", "".join(heard.pieces).strip())


def test_an_answer_without_its_end_is_partial_and_one_of_nothing_is_an_error(chatting: MakeRuntime) -> None:
    runtime = chatting("short")
    assert ask(runtime, "hi").partial
    with pytest.raises(UpstreamError, match="gave no answer"):
        ask(runtime, "hi", model="empty")


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    runtime = empty_runtime(tmp_path, config=f'[llm]\nurl = "{dead_url()}"\nmodel = "m"\n', logs=False)
    with pytest.raises(UpstreamError, match="cannot be reached") as refused:
        ask(runtime, "hi")
    assert not isinstance(refused.value, UpstreamTimeoutError)


@pytest.mark.parametrize("url", ["http://h:99999", "http:///x", "http://h/?q", "http://é"])
def test_an_address_that_is_none_is_told(tmp_path: Path, url: str) -> None:
    runtime = empty_runtime(tmp_path, config=f'[llm]\nurl = "{url}"\nmodel = "m"\n', logs=False)
    with pytest.raises(ConfigError):
        ask(runtime, "hi")


@pytest.mark.parametrize("url", ["{}", "{}/", "{}/v1", "{}/v1/", "{}/v1/chat/completions"])
def test_v1_is_asked_once_however_the_address_is_written(tmp_path: Path, talk: Talk, url: str) -> None:
    runtime = empty_runtime(tmp_path, config=f'[llm]\nurl = "{url.format(talk.url)}"\nmodel = "echo"\n', logs=False)
    ask(runtime, "hi")
    assert [one["path"] for one in talk.seen()] == ["v1/chat/completions"]


def test_without_a_model_there_is_no_chat(tmp_path: Path) -> None:
    runtime = empty_runtime(tmp_path, logs=False)
    assert not runtime.chat.is_set_up
    with pytest.raises(NotConfiguredError, match=r"\[llm\]"):
        ask(runtime, "hi")


@pytest.mark.parametrize(
    "question",
    [
        Question(" \n", ME), Question("hi", ME, session="a\nb"), Question("hi", ME, session="x" * 300),
        Question("hi", ME, model=" "), Question("hi", ME, timeout_seconds=0), Question("hi", ME, timeout_seconds=float("nan")),
        Question("word " * 40_000, ME),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_and_nothing_is_stored(
    chatting: MakeRuntime, talk: Talk, question: Question
) -> None:
    runtime = chatting()
    with pytest.raises(BadArgumentError):
        anyio.run(runtime.chat.conversation.ask, question, Quiet())
    assert talk.seen() == [] and not runtime.memory.store.exists()


def test_what_is_not_to_be_stored_lives_in_the_process_alone(chatting: MakeRuntime, talk: Talk) -> None:
    runtime = chatting(more='[capture]\nstore_turns = "false"\n')
    answer = ask(runtime, "one")
    assert answer.text and not answer.captured
    ask(runtime, "two", answer.session_id)
    assert [one["content"] for one in talk.asked()[1]] == ["one", "You said: one", "two"]
    assert not runtime.memory.store.exists()


def test_a_store_that_cannot_be_written_keeps_nobody_from_an_answer(chatting: MakeRuntime) -> None:
    runtime = chatting()
    Path(runtime.settings.store_path()).mkdir()
    answer = ask(runtime, "hi")
    assert (answer.text, answer.captured, answer.partial) == ("You said: hi", False, False)
    counted = tally.read(runtime.home)
    assert (counted.llm_calls["chat"], counted.capture_errors) == (1, 1) and counted.last_error


SESSION = '[capture]\nstore_turns = "session"\n'


def test_the_event_loop_goes_on_while_another_session_is_being_ended(chatting: MakeRuntime) -> None:
    runtime, order = chatting(more=SESSION), list[str]()
    ask(runtime, "before")
    is_alone, go_on = threading.Event(), threading.Event()

    def end() -> None:
        with alone(runtime.home, live("chat", "ending")):
            is_alone.set()
            assert go_on.wait(60)

    async def talk_to(session: str) -> None:
        await runtime.chat.conversation.ask(Question("hi", ME, session), Quiet())
        order.append(session)

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, end)
            await anyio.to_thread.run_sync(is_alone.wait)
            tasks.start_soon(talk_to, "ending")
            await talk_to("other")
            go_on.set()

    anyio.run(both)
    assert order == ["other", "ending"]
    runtime.chat.settle()
    assert [one.text for one in runtime.show("chat:ending").turns] == ["hi", "You said: hi"]


def test_a_locked_store_holds_up_no_answer_and_has_both_sides_once_it_is_free(chatting: MakeRuntime) -> None:
    runtime = chatting(llm="timeout_seconds = 1.0")
    session = ask(runtime, "before").session_id
    runtime.chat.settle()
    with runtime.memory.store.write():
        answer = ask(runtime, "hi", session)
        assert not answer.captured
    runtime.chat.settle()
    assert ("user", "hi") in told(runtime, session)
    assert tally.read(runtime.home).capture_errors == 0


def test_what_is_more_than_may_wait_is_counted(chatting: MakeRuntime) -> None:
    runtime = chatting()
    ask(runtime, "before")
    go_on = threading.Event()
    for _ in range(MOST_WAITING):
        runtime.chat.conversation.writing.put(lambda: go_on.wait(60))
    answer = ask(runtime, "hi")
    assert answer.text == "You said: hi" and not answer.captured
    go_on.set()
    runtime.chat.settle()
    assert told(runtime, answer.session_id) == []
    assert tally.read(runtime.home).capture_errors > 0


def test_the_models_of_the_server_are_listed(chatting: MakeRuntime) -> None:
    runtime = chatting()
    assert anyio.run(runtime.chat.asking.models) == ["echo", "other"]


def test_a_question_may_name_another_model(chatting: MakeRuntime, talk: Talk) -> None:
    answer = ask(chatting(), "hi", model="other")
    assert answer.model == "other" and talk.bodies()[0]["model"] == "other"
