"""``POST /chat`` and ``GET /models`` of a real server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import httpx2
import pytest

from tests.process.chatting import frames, stored, streaming
from tests.process.watching import wait_for
from tests.servers.memory_http import Home, serving
from tests.servers.talking import Talk

pytestmark = pytest.mark.process


@pytest.fixture
def token(home: Home) -> str:
    return home.token("page", scope="read,chat", space="proj")


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


def test_the_session_is_named_before_the_first_words(home: Home, token: str, talk: Talk) -> None:
    with serving(home) as served, streaming(served, token, "silent") as (response, pieces):
        session = response.headers["x-session-id"]  # the model has said nothing yet
        talk.release()
        assert json.loads(list(pieces)[-1].removeprefix("data: "))["session_id"] == session


def test_a_key_in_the_query_is_refused_and_nothing_is_asked(home: Home, token: str, talk: Talk) -> None:
    with serving(home) as served:
        response = served.ask("/chat?model=other", secret=token, body={"message": "hi"})
    assert response.status_code == 400 and "model" in response.json()["message"]
    assert talk.seen() == []


@contextmanager
def locked(home: Home, space: str) -> Iterator[None]:
    """Somebody writes to a space's store, and takes their time."""
    with closing(sqlite3.connect(home.store / "spaces" / space / "raw_rag.db", isolation_level=None)) as store:
        store.execute("BEGIN IMMEDIATE")
        yield


def errors(home: Home) -> int:
    return int(home.read("status", "--space", "proj")["capture_errors"])


@pytest.mark.line("G5")
@pytest.mark.parametrize("how", ["true", "session"])
def test_a_locked_store_keeps_nobody_from_an_answer_in_time(home: Home, token: str, talk: Talk, how: str) -> None:
    home.configure(talk.config(more=f'[capture]\nstore_turns = "{how}"\n'))
    asked = {"message": "hi", "session_id": "s1", "timeout_s": 3}
    with serving(home) as served:
        served.ask("/chat", secret=token, body={"message": "before"})
        with locked(home, "proj"):  # and it stays so until the answers are there: nobody waited for it
            whole = frames(served.ask("/chat", secret=token, body=asked))
            held = frames(served.ask("/chat", secret=token, body={**asked, "model": "hold", "timeout_s": 1}))
        assert "".join(one.get("token", "") for one in whole) == "You said: hi"
        assert (whole[-1]["captured"], whole[-1]["partial"]) == (False, False)
        assert (held[-1]["captured"], held[-1]["partial"]) == (False, True)
        shown = ("show", "chat:s1", "--space", "proj")
        wait_for(lambda: len(home.read(*shown)["turns"]) == 4, "what was said meanwhile, stored")
        assert errors(home) == 0


def test_what_a_locked_store_did_not_take_is_counted(home: Home, token: str) -> None:
    with serving(home) as served:
        served.ask("/chat", secret=token, body={"message": "before"})
        with locked(home, "proj"):
            done = frames(served.ask("/chat", secret=token, body={"message": "hi", "timeout_s": 2}))[-1]
            assert done["done"] and not done["captured"]
            wait_for(lambda: errors(home) == 1, "the count of what was not stored")


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
