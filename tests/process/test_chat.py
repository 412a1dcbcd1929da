"""Chats through every door, as real processes: the command, MCP over stdio and over HTTP, ``POST /chat``."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client
from mcp_types import CallToolResult

from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.captured import CapturedRows
from tests.process.memory_client import over_stdio, text
from tests.process.processes import RAW_RAG, environment_of, run
from tests.servers.memory_http import FIVE, Home, Served, home_in, serving
from tests.servers.running import dead_url
from tests.servers.talking import Talk, talking_server

pytestmark = pytest.mark.process
KEY = "sk-" + "a" * 20


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with talking_server() as url:
        yield url


@pytest.fixture
def talk(root: str) -> Talk:
    return Talk(root)


@pytest.fixture
def home(tmp_path: Path, talk: Talk) -> Home:
    made = home_in(tmp_path)
    made.configure(talk.config())
    return made


def stored(home: Home, session: str, space: str = "default") -> list[tuple[str, str, bool]]:
    """(role, text, whether the end is missing) of a chat's turns."""
    rows = CapturedRows(Runtime.load(None, home.environment).in_space(space).reader.connection)
    number = rows.session_of("chat", session)
    found = list(rows.at((number, n) for n in range(1, 30))) if number else []
    assert {one.source for one in found} <= {"chat"}
    return [(one.role.value, one.text, one.partial) for one in found]


# ---------------------------------------------------------------- the command


@pytest.mark.line("G1")
def test_once_prints_the_answer_and_stores_both_sides(home: Home) -> None:
    done = home.command("chat", "--once", "hi", "--session", "s1")
    assert done.stdout == "You said: hi\n" and "s1" in done.stderr
    assert stored(home, "s1") == [("user", "hi", False), ("assistant", "You said: hi", False)]


@pytest.mark.line("G1")
def test_the_question_is_stored_even_when_the_server_fails(home: Home) -> None:
    done = home.command("chat", "--once", "hi", "--session", "s1", "--model", "500", expect=1)
    assert "answered 500" in done.stderr and done.stdout == ""
    assert stored(home, "s1") == [("user", "hi", False)]


def test_once_prints_one_json_value_if_asked(home: Home, talk: Talk) -> None:
    told = home.read("chat", "--once", "hi")
    assert told == {
        "text": "You said: hi", "session_id": told["session_id"], "model": "echo", "memories_used": [], "captured": True,
        "partial": False,
    }  # fmt: skip
    done = home.command("chat", "--once", "hi", "--json", "--model", "503", expect=1)
    assert json.loads(done.stderr)["error"]["code"] == "upstream"


@pytest.mark.line("G4")
def test_without_a_model_the_command_says_what_to_set(home: Home) -> None:
    home.configure("")
    done = home.command("chat", "--once", "hi", expect=2)
    assert "[llm]" in done.stderr and "model" in done.stderr


def test_a_server_that_is_not_there_is_told_in_a_sentence(home: Home) -> None:
    home.configure(f'[llm]\nurl = "{dead_url()}"\nmodel = "m"\n')
    assert "cannot be reached" in home.command("chat", "--once", "hi", expect=1).stderr


@pytest.mark.line("G9")
def test_commands_inside_a_chat_are_obeyed_and_not_sent(home: Home, talk: Talk) -> None:
    home.command("save", "Deploys happen on Tuesdays")
    lines = [
        "/help", "/models", "/model", "/model other", "one", "/nonsense now", " /etc/hosts", "/recall deploys", "", "/quit",
        "never sent",
    ]  # fmt: skip
    done = typed(home, lines)
    assert done.returncode == 0, done.stderr
    assert "/recall QUERY" in done.stdout and "* echo\n  other\n" in done.stdout
    assert "other is asked." in done.stdout and "You said: one" in done.stdout
    assert "There is no /nonsense" in done.stderr and "happen on Tuesdays" in done.stdout
    assert [one[-1]["content"] for one in talk.asked()] == ["one", "/etc/hosts"]
    assert {body["model"] for body in talk.bodies()} == {"other"}


def test_a_chat_keeps_its_history_and_ends_with_the_input(home: Home, talk: Talk) -> None:
    done = typed(home, ["one", "two"])
    assert done.returncode == 0
    assert [one["content"] for one in talk.asked()[1]] == ["one", "You said: one", "two"]


def test_a_chat_that_is_forgotten_is_gone_and_a_new_one_begins(home: Home, talk: Talk) -> None:
    done = typed(home, ["my plan is zanzibar", "/forget", "two"], "--session", "s1")
    assert "Forgot 2 turns" in done.stdout
    assert stored(home, "s1") == []
    assert [one["content"] for one in talk.asked()[1]] == ["two"]
    assert home.read("search-raw", "zanzibar")["count"] == 0


def test_a_failing_server_does_not_end_a_chat(home: Home, talk: Talk) -> None:
    done = typed(home, ["/model 500", "one", "/model echo", "two"])
    assert done.returncode == 1 and "answered 500" in done.stderr
    assert "You said: one\n\ntwo" in done.stdout  # the first was never answered: both are asked together


def test_an_interrupt_stops_the_answer_and_the_next_one_leaves(home: Home, talk: Talk) -> None:
    with chatting(home, "--session", "s1", "--model", "hold") as process:
        say(process, "hi")
        talk.wait_held()
        process.send_signal(signal.SIGINT)
        talk.wait_left()
        say(process, "/model")  # it goes on
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["You\n", "hold is asked.\n"]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    assert stored(home, "s1") == [("user", "hi", False), ("assistant", "You", True)]


@pytest.mark.line("G10")
def test_two_chats_at_once_leave_each_other_alone(home: Home, talk: Talk) -> None:
    home.configure(talk.config("hold", more='[capture]\nstore_turns = "session"\n'))
    with chatting(home) as one, chatting(home) as other:
        for process in (one, other):
            say(process, "first of a chat")
        talk.wait_held()
        talk.release()
        for process in (one, other):
            assert process.stdout is not None and process.stdout.readline() == "You said: first of a chat\n"
        say(one, "/quit")
        assert one.wait(timeout=60) == 0
        say(other, "second of a chat")
        assert other.stdout is not None and other.stdout.readline() == "You said: second of a chat\n"
        say(other, "/quit")
        assert other.wait(timeout=60) == 0
    assert [len(one) for one in talk.asked()] == [1, 1, 3]  # the other's history was still there


@pytest.mark.line("G11")
def test_payloads_are_written_down_with_masked_keys_for_the_user_alone(home: Home, talk: Talk, tmp_path: Path) -> None:
    home.configure(talk.config(llm='key_variable = "MODEL_KEY"'))
    home.environment["MODEL_KEY"] = KEY
    folder = tmp_path / "wire"
    for model in ("echo", "500"):
        run(RAW_RAG, home.environment, "chat", "--once", "hi", "--model", model, "--dump-payloads", str(folder))
    names = [f"{kind}_{n}.json" for kind in ("request", "response") for n in (1, 2)]
    assert sorted(one.name for one in folder.iterdir()) == names
    for name in names:
        content = (folder / name).read_text(encoding="utf-8")
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        assert KEY not in content
    told = json.loads((folder / "request_1.json").read_text(encoding="utf-8"))
    assert told["body"]["messages"][-1]["content"] == "hi" and told["headers"]["authorization"] == "***"
    assert "You" in json.loads((folder / "response_1.json").read_text(encoding="utf-8"))["body"]
    assert talk.seen()[0]["headers"]["authorization"] == f"Bearer {KEY}"


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
def test_in_a_terminal_there_is_a_prompt_and_forgetting_asks_first(home: Home, talk: Talk) -> None:
    import pty

    master, slave = pty.openpty()
    command = [sys.executable, "-c", RAW_RAG, "chat", "--session", "s1"]
    environment = environment_of({**home.environment, "TERM": "dumb"})
    with subprocess.Popen(command, env=environment, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        terminal = Terminal(master)
        try:
            terminal.until("session s1")
            for typed, seen in (
                ("hi there", "You said: hi there"),
                ("/forget", "[y/N]"),
                ("n", "› "),
                ("/model", "echo is asked"),
            ):
                os.write(master, typed.encode() + b"\n")
                terminal.until(seen)
            process.send_signal(signal.SIGINT)  # at the prompt it leaves
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            os.close(master)
    assert len(stored(home, "s1")) == 2


class Terminal:
    """What a program shows in a terminal."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._shown = ""

    def until(self, words: str) -> None:
        """Read until they come, and forget what stood before them."""
        while words not in self._shown:
            self._shown += os.read(self._master, 4096).decode("utf-8", "replace")
        self._shown = self._shown.partition(words)[2]


def typed(home: Home, lines: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    """A chat whose input is these lines."""
    return subprocess.run(
        [sys.executable, "-c", RAW_RAG, "chat", *words], env=environment_of(home.environment), text=True,
        encoding="utf-8", capture_output=True, input="\n".join(lines) + "\n", timeout=110, check=False,
    )  # fmt: skip


@contextmanager
def chatting(home: Home, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A chat that waits for input."""
    command = [sys.executable, "-c", RAW_RAG, "chat", *words]
    with subprocess.Popen(
        command, env=environment_of(home.environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


# ---------------------------------------------------------------- MCP


@pytest.mark.line("G2")
@pytest.mark.line("G3")
def test_the_tool_answers_goes_on_with_a_session_and_knows_the_memory(home: Home, talk: Talk) -> None:
    async def use(client: Client) -> None:
        saved = await client.call_tool("memory_save", {"content": "Deploys happen on Tuesdays", "source": "me"})
        note = (saved.structured_content or {})["node_id"]
        first = await client.call_tool("chat", {"message": "when are deploys?"})
        told = first.structured_content or {}
        assert not first.is_error and told["text"] == "You said: when are deploys?" and not told["partial"]
        assert told["memories_used"] == [note] and told["captured"] and told["model"] == "echo"
        assert told["session_id"] in text(first) and told["text"] in text(first)
        await client.call_tool("chat", {"message": "sure?", "session_id": told["session_id"]})

    over_stdio(home.environment, use)
    assert [one["role"] for one in talk.asked()[1]] == ["user", "assistant", "user"]
    assert "happen on Tuesdays" in talk.systems()[0]


@pytest.mark.line("G4")
def test_without_a_model_the_tool_is_not_there(home: Home) -> None:
    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert "chat" in over_stdio(home.environment, names)
    home.configure("")
    assert "chat" not in over_stdio(home.environment, names)


@pytest.mark.line("G5")
@pytest.mark.parametrize("model", ["hold", "silent", "never"])
def test_the_tool_gives_what_came_in_time_and_tells_progress(home: Home, talk: Talk, model: str) -> None:
    notices: list[str | None] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        notices.append(message)

    async def use(client: Client) -> CallToolResult:
        await client.call_tool("chat", {"message": "before"})  # what is loaded once costs no time of the other's
        arguments = {"message": "hi", "model": model, "timeout_s": 2, "session_id": "s1"}
        return await client.call_tool("chat", arguments, progress_callback=heard)

    result = over_stdio(home.environment, use)
    told = result.structured_content or {}
    assert not result.is_error and told["partial"] and told["session_id"] == "s1"
    assert told["text"] == ("You" if model == "hold" else "")
    assert "session s1" in notices
    assert stored(home, "s1")[0] == ("user", "hi", False)


def test_the_tools_failures_have_codes_and_the_question_stays(home: Home) -> None:
    async def use(client: Client) -> list[str]:
        codes = []
        for more in ({"model": "500", "session_id": "s1"}, {"message": " "}, {"timeout_s": 0}, {"model": "dies"}):
            result = await client.call_tool("chat", {"message": "hi", **more})
            assert result.is_error and "Traceback" not in text(result)
            codes.append((result.structured_content or {})["code"])
        return codes

    assert over_stdio(home.environment, use) == ["upstream", "bad_argument", "bad_argument", "upstream"]
    assert stored(home, "s1") == [("user", "hi", False)]


def test_a_held_chat_holds_up_no_other_call(home: Home, talk: Talk) -> None:
    async def use(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "chat", {"message": "hi", "model": "hold"})
            await anyio.to_thread.run_sync(talk.wait_held)
            assert not (await client.call_tool("memory_recall", {"query": "anything"})).is_error
            talk.release()

    over_stdio(home.environment, use)


def test_over_http_the_tool_is_there_for_tokens_that_may_chat_and_tells_progress(home: Home, talk: Talk) -> None:
    notices: list[str | None] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        notices.append(message)

    async def use(client: Client) -> CallToolResult:
        return await client.call_tool(
            "chat", {"message": "hi", "model": "hold", "timeout_s": 1}, progress_callback=heard
        )

    plain, chatty = home.token("plain"), home.token("chatty", scope="read,write,chat")
    with serving(home) as served:
        assert served.tools(plain) == FIVE
        assert served.tools(chatty) == sorted([*FIVE, "chat"])
        assert served.refused("chat", {"message": "hi"}, plain) == "not_found"
        told = served.answer("chat", {"message": "hi", "session_id": "s1"}, chatty)
        assert told["text"] == "You said: hi"
        assert (served.with_client(use, chatty).structured_content or {})["partial"]
    assert notices
    assert [one[0] for one in stored(home, "s1", "proj")] == ["user", "assistant"]
    assert stored(home, "s1") == []


# ---------------------------------------------------------------- POST /chat


@pytest.fixture
def token(home: Home) -> str:
    return home.token("page", scope="read,chat", space="proj")


def frames(response: httpx2.Response) -> list[dict[str, Any]]:
    return [json.loads(part.removeprefix("data: ")) for part in response.text.split("\n\n") if part]


@pytest.mark.line("G6")
def test_post_chat_streams_words_and_then_what_came_of_it(home: Home, token: str, talk: Talk) -> None:
    with serving(home) as served:
        response = served.ask("/chat", secret=token, body={"message": "hi <b>there</b>"})
        again = served.ask(
            "/chat", secret=token, body={"message": "on", "session_id": response.headers["x-session-id"]}
        )
    assert response.status_code == 200 and response.headers["content-type"] == "text/event-stream"
    *words, done = frames(response)
    assert "".join(one["token"] for one in words) == "You said: hi <b>there</b>" and len(words) > 2
    session = response.headers["x-session-id"]
    assert done == {
        "done": True, "session_id": session, "model": "echo", "memories_used": [], "captured": True, "partial": False,
    }  # fmt: skip
    assert again.headers["x-session-id"] == session and len(talk.asked()[1]) == 3
    assert [one[0] for one in stored(home, session, "proj")] == ["user", "assistant"] * 2


def test_words_arrive_before_the_answer_ends(home: Home, token: str, talk: Talk) -> None:
    with serving(home) as served, streaming(served, token, "hold") as (response, pieces):
        assert json.loads(next(pieces).removeprefix("data: ")) == {"token": "You"}
        assert response.headers["x-accel-buffering"] == "no"
        talk.release()
        assert '"done":true' in list(pieces)[-1]


def test_who_leaves_post_chat_closes_the_upstream_and_what_came_is_stored(home: Home, token: str, talk: Talk) -> None:
    with serving(home) as served:
        with streaming(served, token, "hold") as (response, pieces):
            session = response.headers["x-session-id"]
            next(pieces)
        talk.wait_left()
        served.end()
    assert stored(home, session, "proj") == [("user", "hi", False), ("assistant", "You", True)]


@pytest.mark.line("G4")
def test_post_chat_without_a_model_is_503_as_json(home: Home, token: str) -> None:
    home.configure("")
    with serving(home) as served:
        for path, method in (("/chat", "POST"), ("/models", "GET")):
            response = served.ask(path, method=method, secret=token, body={"message": "hi"})
            assert response.status_code == 503 and response.json()["code"] == "not_configured"


def test_an_upstream_that_fails_before_any_words_has_a_status_and_after_them_a_frame(home: Home, token: str) -> None:
    with serving(home) as served:
        before = served.ask("/chat", secret=token, body={"message": "hi", "model": "429"})
        after = served.ask("/chat", secret=token, body={"message": "hi", "model": "error-frame"})
    assert before.status_code == 502 and before.json()["code"] == "upstream" and before.headers["x-session-id"]
    assert after.status_code == 200
    assert frames(after)[-1]["error"]["code"] == "upstream" and "fell over" in frames(after)[-1]["error"]["message"]


BAD: list[tuple[Any, Callable[[httpx2.Response], bool]]] = [
    ({}, lambda it: it.status_code == 400),
    ({"message": ""}, lambda it: it.status_code == 400),
    ({"message": " "}, lambda it: it.status_code == 400),
    ({"message": "hi", "session_id": "a\r\nset-cookie: x"}, lambda it: it.status_code == 400),
    ({"message": "hi", "session_id": "x" * 5000}, lambda it: it.status_code == 400),
    ({"message": "hi", "timeout_s": 0}, lambda it: it.status_code == 400),
    ({"message": "hi", "other": 1}, lambda it: it.status_code == 400),
    (b"{", lambda it: it.status_code == 400),
    ({"message": "hi", "session_id": "été"}, lambda it: it.status_code == 200 and "x-session-id" not in it.headers),
    ({"message": "hi", "session_id": "../../x"}, lambda it: it.status_code == 200),
]


def test_odd_questions_are_refused_or_answered_and_the_server_lives(home: Home, token: str) -> None:
    reader = home.token("reader", scope="read", space="proj")
    with serving(home) as served:
        for body, right in BAD:
            response = served.ask("/chat", secret=token, body=body)
            assert right(response), (body, response.status_code, response.text)
        assert served.ask("/chat", body={"message": "hi"}).status_code == 401
        assert served.ask("/chat", secret=reader, body={"message": "hi"}).status_code == 403
        assert served.ask("/chat", secret=token, space="other", body={"message": "hi"}).status_code == 404
        models = served.ask("/models", method="GET", secret=token)
        assert models.json() == {"models": ["echo", "other"], "model": "echo"}
        described = served.ask("/openapi.json", method="GET").json()["paths"]
    assert "text/event-stream" in described["/chat"]["post"]["responses"]["200"]["content"]
    assert "/models" in described


def test_what_is_not_to_be_stored_has_its_history_in_the_server(home: Home, token: str, talk: Talk) -> None:
    home.configure(talk.config(more='[capture]\nstore_turns = "false"\n'))
    with serving(home) as served:
        session = served.ask("/chat", secret=token, body={"message": "one"}).headers["x-session-id"]
        done = frames(served.ask("/chat", secret=token, body={"message": "two", "session_id": session}))[-1]
    assert not done["captured"] and len(talk.asked()[1]) == 3
    assert not (home.store / "spaces" / "proj" / "raw_rag.db").exists() or stored(home, session, "proj") == []


@contextmanager
def streaming(served: Served, token: str, model: str) -> Iterator[tuple[httpx2.Response, Iterator[str]]]:
    """An answer that is read as it comes, frame by frame; leaving the block leaves it."""
    with (
        httpx2.Client(trust_env=False, timeout=60) as client,
        client.stream(
            "POST", f"{served.url}/chat", headers=served.headers(token), json={"message": "hi", "model": model}
        ) as response,
    ):
        yield response, (line for line in response.iter_lines() if line)
