"""What is stored of what is said, and for how long, as ``[capture] store_turns`` says: through every door, as real processes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.process.chatting import chatting, say
from tests.process.processes import RAW_RAG, run
from tests.process.watching import wait_for
from tests.servers.memory_http import Home, Served, home_in, serving
from tests.servers.talking import Talk

pytestmark = pytest.mark.process
SAID = "Remember: the platypus sleeps until Tuesday"
ANSWER = f"You said: {SAID}"
IN_SPACE = ("--space", "proj")
DOORS = ["command", "POST /chat", "proxy", "POST /turn", "POST /store"]
MESSAGES = [{"role": "user", "content": SAID}]
End = Callable[[], None]


def configured(folder: Path, talk: Talk, how: str) -> Home:
    home = home_in(folder)
    more = f'[capture]\nstore_turns = "{how}"\n[proxy.upstreams.stub]\nurl = "{talk.url}/v1"\n'
    home.configure(talk.config(more=more))
    return home


def rows(home: Home) -> list[tuple[int, str]]:
    """(status, text) of all turns that the space's store holds."""
    path = home.store / "spaces" / "proj" / "raw_rag.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as store:
        return list(store.execute("SELECT status, text FROM turns ORDER BY id"))


def session_of(home: Home) -> str:
    with closing(sqlite3.connect(home.store / "spaces" / "proj" / "raw_rag.db")) as store:
        (found,) = store.execute("SELECT agent || ':' || native FROM sessions").fetchall()
    return str(found[0])


def texts(home: Home) -> list[str]:
    return [text for _, text in rows(home) if text]


@contextmanager
def command(home: Home) -> Iterator[End]:
    """A chat in a terminal. It ends when it is left."""
    with chatting(home, *IN_SPACE) as process:
        say(process, SAID)
        assert process.stdout is not None and process.stdout.readline() == ANSWER + "\n"

        def end() -> None:
            say(process, "/quit")
            assert process.wait(timeout=60) == 0

        yield end


def bodies(door: str) -> tuple[str, dict[str, Any]]:
    return {
        "POST /chat": ("/chat", {"message": SAID}),
        "proxy": ("/v1/chat/completions", {"model": "echo", "messages": MESSAGES, "stream": True}),
        "POST /turn": ("/turn", {"user": SAID, "assistant": ANSWER, "session_id": "s1"}),
        "POST /store": ("/store", {"text": SAID, "metadata": {"collection": "conversation", "session_id": "s1"}}),
    }[door]


@contextmanager
def served(home: Home, door: str) -> Iterator[End]:
    """A request to a server. What it holds ends when it was silent for long enough: the store says so, and the next server to
    look after it ends it."""
    path, body = bodies(door)
    secret = home.token("all", scope="read,write,chat,proxy", space="proj")
    with serving(home) as server:
        answer = server.ask(path, secret=secret, body=body)
        assert answer.status_code == 200, answer.text
        if path.startswith("/v1") or path == "/chat":
            assert "platypus" in answer.text
        server.end()  # what is captured after the answer is stored when it has ended

    def end() -> None:
        age(home)
        with serving(home) as again:
            wait_for(lambda: not texts(home) or stays(home), "the end of what is silent")
            wrote(again, secret)

    yield end


def stays(home: Home) -> bool:
    return 'store_turns = "session"' not in (home.store / "config.toml").read_text(encoding="utf-8")


def wrote(server: Served, secret: str) -> None:
    """The server lives, and answers."""
    response: httpx2.Response = server.ask("/search", secret=secret, body={"query": "anything"})
    assert response.status_code == 200


def age(home: Home) -> None:
    path = home.store / "spaces" / "proj" / "raw_rag.db"
    if path.exists():
        with closing(sqlite3.connect(path)) as store, store:
            store.execute("UPDATE sessions SET heard = 0")


def talking(home: Home, door: str) -> Any:
    return command(home) if door == "command" else served(home, door)


def found(home: Home) -> dict[str, Any]:
    """What each way of searching gives."""
    everywhere = (*IN_SPACE, "--project", "*")
    home.command("sweep", "--now", *IN_SPACE)
    return {
        "search-raw": home.read("search-raw", "platypus", *IN_SPACE)["events"],
        "recall": home.read("recall", "platypus", "--include-raw", *IN_SPACE)["memories"],
        "search": home.read("search", "platypus", *everywhere)["passages"],
        "recent": home.read("recent", *everywhere)["turns"],
        "sessions": home.read("sessions", *everywhere),
    }


def forget(home: Home) -> str:
    """What ``raw-rag forget`` says of the session: how many turns went, or why none did."""
    done = run(RAW_RAG, home.environment, "forget", "--session", session_of(home), *IN_SPACE, "--yes", "--json")
    told = json.loads(done.stdout or done.stderr)
    return str(told["error"]["code"] if "error" in told else told["turns"])


@pytest.mark.line("G8")
@pytest.mark.parametrize("door", DOORS)
def test_what_is_for_its_session_is_hidden_everywhere_and_gone_at_the_end(
    tmp_path: Path, talk: Talk, door: str
) -> None:
    home = configured(tmp_path, talk, "session")
    with talking(home, door) as end:
        said = texts(home)
        assert SAID in said
        assert not any(found(home).values())
        end()
    assert rows(home) == [(2, "")] * len(said)
    acts = [row["action"] for row in home.journal("proj")]
    assert acts.count("forget") == 1 and acts.count("capture") == len(said)
    files = [one for one in home.store.rglob("*") if one.is_file() and b"platypus" in one.read_bytes()]
    assert files == []


@pytest.mark.line("G8")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("how", "forgetting"), [("true", "turns"), ("permanent", "protected")])
def test_what_is_stored_for_good_is_found_and_stays_and_is_protected_if_permanent(
    tmp_path: Path, talk: Talk, how: str, forgetting: str, door: str
) -> None:
    home = configured(tmp_path, talk, how)
    with talking(home, door) as end:
        said = texts(home)
        end()
    assert SAID in said and texts(home) == said
    assert all(found(home).values())
    assert forget(home) == (forgetting if forgetting == "protected" else str(len(said)))
    assert texts(home) == (said if forgetting == "protected" else [])


@pytest.mark.line("G8")
@pytest.mark.parametrize("door", DOORS)
def test_where_nothing_is_stored_the_answer_comes_and_nothing_is_written(tmp_path: Path, talk: Talk, door: str) -> None:
    home = configured(tmp_path, talk, "false")
    with talking(home, door) as end:
        end()
    assert rows(home) == []
    assert [one for one in home.store.rglob("*") if one.is_file() and b"platypus" in one.read_bytes()] == []
