"""``raw-rag chat`` as a real process."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.process.chatting import Terminal, chatting, say, stored, typed
from tests.process.processes import RAW_RAG, environment_of, run
from tests.servers.memory_http import Home
from tests.servers.running import dead_url
from tests.servers.talking import Talk

pytestmark = pytest.mark.process
KEY = "sk-" + "a" * 20


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


def test_nothing_that_a_model_says_steers_the_terminal(home: Home) -> None:
    done = home.command("chat", "--once", "hi", "--model", "steering")
    assert done.stdout == "\\x1b[31mred\\x1b]0;title\\x07\\x9b2J\\x0d\n\tplain\n"


@pytest.mark.line("G4")
def test_without_a_model_the_command_says_what_to_set(home: Home) -> None:
    home.configure("")
    done = home.command("chat", "--once", "hi", expect=2)
    assert "[llm] url and model are not set" in done.stderr and "config.toml" in done.stderr
    home.configure('[llm]\nurl = "http://127.0.0.1:9"\n')
    assert "[llm] model is not set" in home.command("chat", "--once", "hi", expect=2).stderr


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
        assert process.stdout is not None
        say(process, "hi")
        assert process.stdout.read(len("You")) == "You"  # an interrupt that comes before is one of something else
        process.send_signal(signal.SIGINT)
        talk.wait_left()
        say(process, "/model")  # it goes on
        assert [process.stdout.readline() for _ in range(2)] == ["\n", "hold is asked.\n"]
        process.send_signal(signal.SIGINT)
        say(process, "never sent")  # whatever it does just now, it leaves
        assert process.wait(timeout=60) == 0
    assert len(talk.asked()) == 1
    assert stored(home, "s1") == [("user", "hi", False), ("assistant", "You", True)]


@pytest.mark.skipif(sys.platform == "win32", reason="nothing there tells a program to end")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("how", ["true", "session"])
def test_who_is_told_to_end_stores_what_came_and_ends_what_passes(
    home: Home, talk: Talk, number: str, how: str
) -> None:
    home.configure(talk.config("hold", more=f'[capture]\nstore_turns = "{how}"\n'))
    with chatting(home) as process:
        assert process.stdout is not None
        say(process, "hi")
        assert process.stdout.read(len("You")) == "You"
        process.send_signal(getattr(signal, number))
        assert process.wait(timeout=60) == 128 + getattr(signal, number)
    told = [(one["role"], one["text"]) for one in home.read("recent", "--project", "*")["turns"]]
    assert sorted(told) == ([("assistant", "You"), ("user", "hi")] if how == "true" else [])
    assert home.read("status")["turns"] == len(told)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no pseudo-terminals")
def test_a_terminal_that_cannot_show_the_prompt_shows_what_it_can(home: Home) -> None:
    import pty

    master, slave = pty.openpty()
    environment = environment_of({**home.environment, "TERM": "dumb", "PYTHONIOENCODING": "ascii"})
    command = [sys.executable, "-c", RAW_RAG, "chat", "--session", "s1"]
    with subprocess.Popen(command, env=environment, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        try:
            Terminal(master).until("? ")
            os.write(master, b"/quit\n")
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            os.close(master)


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
