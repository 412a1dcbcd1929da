"""What breaks off, lies or comes in odd pieces passes through the proxy as it is, and what of it came is captured."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from pathlib import Path

import httpx2
import pytest

from agent_raw_rag.gateway.frames import LONGEST, frames_of
from tests.process.proxying import CHAT, Proxied, asking, proxied
from tests.process.watching import wait_for
from tests.servers.hostile import (
    CLOSE,
    CUT,
    DONE,
    END,
    GONE,
    STREAM,
    Step,
    chunk,
    completion,
    delta,
    head,
    streamed,
    whole,
)
from tests.servers.memory_http import home_in, serving

pytestmark = pytest.mark.process


@pytest.mark.line("F8")
def test_a_client_that_leaves_is_noticed_and_what_it_got_is_kept(proxy: Proxied) -> None:
    proxy.upstream.left.clear()
    proxy.upstream.says(STREAM, chunk(delta("The first half")), GONE)
    with proxy.client() as client, client.stream(
        "POST", CHAT, json=asking("Tell me.", stream=True), headers=proxy.headers(),
    ) as response:  # fmt: skip
        next(response.iter_raw())
        session = response.headers["x-session-id"]
    assert proxy.upstream.left.wait(60)
    assert proxy.captured(session, 2)[1] == ("assistant", "The first half", True)


def test_a_client_that_leaves_before_the_answer_begins_ends_the_request(proxy: Proxied) -> None:
    proxy.upstream.left.clear()
    proxy.upstream.says(GONE)
    body = json.dumps(asking("Nobody waits.")).encode()
    headers = proxy.headers(**{"x-raw-rag-session": "left-early"})
    host, port = proxy.served.url.removeprefix("http://").split(":")
    lines = [
        f"POST {CHAT} HTTP/1.1",
        f"host: {host}:{port}",
        *(f"{k}: {v}" for k, v in headers.items()),
    ]
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall("\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body)
        asked = len(proxy.upstream.asked)
        wait_for(lambda: len(proxy.upstream.asked) > asked or proxy.upstream.last.body == body, "the request")
    assert proxy.upstream.left.wait(60)
    assert proxy.captured("left-early", 1) == [("user", "Nobody waits.", False)]


@pytest.mark.line("F9")
def test_an_upstream_that_dies_in_a_stream_leaves_an_error_frame_and_its_part(proxy: Proxied) -> None:
    proxy.upstream.says(STREAM, chunk(delta("Half a") + b'data: {"cho'), CUT)
    answer = proxy.post(asking("Die.", stream=True), x_raw_rag_session="died")
    frames = list(frames_of([answer.content]))
    assert json.loads(frames[-1].data)["error"]["type"] == "upstream_error"
    assert proxy.captured("died", 2)[1] == ("assistant", "Half a", True)
    assert "Half a" not in "".join(path.read_text() for path in (proxy.home.store / "log").glob("*"))


@pytest.mark.parametrize(("session", "steps"), [
    ("died-at-once", [head(content_type="application/json", content_length="100"), b'{"choices": [', CUT]),
    ("died-in-chunks", [head(content_type="application/json", transfer_encoding="chunked"), chunk(b'{"choices": ['), CUT]),
])  # fmt: skip
def test_an_upstream_that_dies_in_an_answer_at_once_cuts_the_connection_and_leaves_the_question(
    proxy: Proxied, session: str, steps: list[Step]
) -> None:
    proxy.upstream.says(*steps)
    with pytest.raises(httpx2.RemoteProtocolError):
        proxy.post(asking("Die at once."), x_raw_rag_session=session)
    proxy.settled()
    assert proxy.turns(session) == [("user", "Die at once.", False)]


@pytest.mark.parametrize("first", [head(content_type="text/event-stream"),
                                   head(content_type="text/event-stream").replace(b"HTTP/1.1", b"HTTP/1.0")])  # fmt: skip
def test_a_stream_that_ends_with_its_connection_passes_whole(proxy: Proxied, first: bytes) -> None:
    goes_on = threading.Event()
    proxy.upstream.says(first, goes_on, delta("To the "), delta("end."), DONE, CLOSE)
    session = f"old-{first[5:8].decode()}"
    with proxy.client() as client, client.stream(
        "POST", CHAT, json=asking("Old?", stream=True), headers=proxy.headers(**{"x-raw-rag-session": session})
    ) as response:  # fmt: skip
        goes_on.set()
        assert b"".join(response.iter_raw()) == delta("To the ") + delta("end.") + DONE
    assert proxy.captured(session, 2)[1] == ("assistant", "To the end.", False)


@pytest.mark.line("F10")
def test_a_pause_in_a_stream_makes_no_second_turn(proxy: Proxied) -> None:
    goes_on = threading.Event()
    proxy.upstream.says(STREAM, chunk(delta("Before, ")), goes_on, chunk(delta("after.")), chunk(DONE), END)
    with proxy.client() as client, client.stream(
        "POST", CHAT, json=asking("Pause.", stream=True), headers=proxy.headers(**{"x-raw-rag-session": "pause"}),
    ) as response:  # fmt: skip
        pieces = response.iter_raw()
        next(pieces)
        proxy_is_idle(proxy)
        assert proxy.turns("pause") == []
        goes_on.set()
        list(pieces)
    proxy.settled()
    assert [text for _, text, _ in proxy.turns("pause")] == ["Pause.", "Before, after."]


def proxy_is_idle(proxy: Proxied) -> None:
    """Another exchange is captured from beginning to end, while one pauses."""
    proxy.settled()


@pytest.mark.line("F11")
def test_odd_frames_pass_and_are_read(proxy: Proxied) -> None:
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}\r\n\r\n'
    stream = b": hello\r\n\r\n" + delta("你好, ").replace(b"\n", b"\r\n") + delta("world 🌍.") + usage + DONE
    proxy.upstream.says(STREAM, *(chunk(stream[at : at + 1]) for at in range(len(stream))), END)
    answer = proxy.post(asking("Greet.", stream=True), x_raw_rag_session="odd")
    assert answer.content == stream
    assert proxy.captured("odd", 2)[1] == ("assistant", "你好, world 🌍.", False)


def test_a_content_type_that_lies_passes_and_changes_nothing(proxy: Proxied) -> None:
    lying = STREAM.replace(b"text/event-stream; charset=utf-8", b"application/json")
    proxy.upstream.says(lying, chunk(delta("A stream.") + DONE), END)
    answer = proxy.post(asking("Lie.", stream=True), x_raw_rag_session="lie")
    assert answer.headers["content-type"] == "application/json"
    assert proxy.captured("lie", 2)[1][1] == "A stream."
    proxy.upstream.says(whole(completion("At once."), content_type="text/event-stream"))
    assert proxy.post(asking("Lie again."), x_raw_rag_session="lie").json()["model"] == "tiny"
    assert proxy.captured("lie", 4)[3][1] == "At once."


@pytest.mark.parametrize("said", [b"", b"<html>", b"{", b'{"choices": "x"}', b"\xff" * 1000])
def test_an_answer_that_is_none_passes_and_the_question_is_kept(proxy: Proxied, said: bytes) -> None:
    proxy.upstream.says(whole(said))
    session = f"none-{len(said)}-{said[:3].hex()}"
    assert proxy.post(asking("Well?"), x_raw_rag_session=session).content == said
    assert proxy.captured(session, 1) == [("user", "Well?", False)]


def test_an_answer_that_is_packed_all_the_same_passes_packed_and_is_read(proxy: Proxied) -> None:
    packed = gzip.compress(json.dumps(completion("Unpacked.")).encode())
    proxy.upstream.says(whole(packed, content_encoding="gzip"))
    with (
        proxy.client() as client,
        client.stream(
            "POST", CHAT, json=asking("Packed?"), headers=proxy.headers(**{"x-raw-rag-session": "packed"})
        ) as response,
    ):
        assert b"".join(response.iter_raw()) == packed
    assert proxy.captured("packed", 2)[1][1] == "Unpacked."


def test_a_kept_connection_that_is_closed_just_then_is_not_the_callers_to_notice(proxy: Proxied) -> None:
    for ending in (CLOSE, CUT):
        proxy.upstream.says(whole(completion("Kept.")))
        proxy.settled()
        before = len(proxy.upstream.asked)
        proxy.upstream.first = [ending]
        answer = proxy.post(asking(f"Once more, {ending}?"), x_raw_rag_session=f"kept-{ending}")
        assert answer.json()["choices"][0]["message"]["content"] == "Kept."
        assert [asked.json["messages"][0]["content"] for asked in proxy.upstream.asked[before:]] == [
            f"Once more, {ending}?"
        ] * 2
        assert len(proxy.captured(f"kept-{ending}", 2)) == 2


def test_a_request_is_sent_once_where_an_answer_began_or_the_connection_is_new_or_it_may_change_something(
    tmp_path: Path,
) -> None:
    with proxied(tmp_path) as proxy:

        def asked(path: str, *first: Step) -> tuple[int, int]:
            before = len(proxy.upstream.asked)
            proxy.upstream.first = list(first)
            return proxy.post(asking("Once?"), path).status_code, len(proxy.upstream.asked) - before

        proxy.upstream.says(whole(completion("Kept.")))
        assert asked(CHAT, CUT) == (502, 1)  # the first connection of all
        assert asked(CHAT) == (200, 1)
        assert asked(CHAT, b"HTTP/1.1 2", CUT) == (502, 1)
        assert asked(CHAT) == (200, 1)
        assert asked("/v1/fine_tuning/jobs", CUT) == (502, 1)
        assert asked(CHAT) == (200, 1)
        assert asked("/v1/embeddings", CUT) == (200, 2)


def test_an_answer_that_comes_before_the_request_was_read_is_handed_on_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        refused, goes_on = whole({"error": {"message": "Too large."}}, 413), threading.Event()
        home = home_in(tmp_path)
        home.configure(f'[proxy.upstreams.stub]\nurl = "http://127.0.0.1:{bound.getsockname()[1]}"\n')
        secret, ended = home.token("early", scope="proxy"), threading.Event()

        def refuse() -> None:
            connection = bound.accept()[0]
            with connection:
                connection.recv(1000)
                connection.sendall(refused)
                goes_on.wait(60)
                ended.set()

        threading.Thread(target=refuse, daemon=True).start()
        with serving(home) as served:
            answer = served.ask(CHAT, secret=secret, body=asking("x" * (20 << 20)))
            assert (answer.status_code, answer.json()) == (413, {"error": {"message": "Too large."}})
            assert not ended.is_set()
            goes_on.set()


def test_two_deaths_in_a_row_are_told(proxy: Proxied) -> None:
    proxy.upstream.says(whole(completion("Kept.")))
    proxy.settled()
    before = len(proxy.upstream.asked)
    proxy.upstream.says(CLOSE)
    assert proxy.post(asking("Dead?")).status_code == 502
    assert len(proxy.upstream.asked) == before + 2


def test_an_answer_that_cannot_be_unpacked_keeps_the_question_and_is_counted(proxy: Proxied) -> None:
    proxy.settled()
    before = proxy.home.read("status")["capture_errors"]
    packed = gzip.compress(json.dumps(completion("First, ")).encode()[:20]) + b"and no gzip"
    proxy.upstream.says(whole(packed, content_encoding="gzip"))
    with proxy.client() as client, client.stream(
        "POST", CHAT, json=asking("Broken?"), headers=proxy.headers(**{"x-raw-rag-session": "broken-gzip"})
    ) as response:  # fmt: skip
        assert b"".join(response.iter_raw()) == packed
    assert proxy.captured("broken-gzip", 1) == [("user", "Broken?", False)]
    wait_for(lambda: proxy.home.read("status")["capture_errors"] == before + 1, "the count")


def test_a_frame_that_is_too_long_passes_makes_the_answer_partial_and_is_counted(proxy: Proxied) -> None:
    proxy.settled()
    before = proxy.home.read("status")["capture_errors"]
    frames = [delta("Before, "), delta("x" * LONGEST), delta("after."), DONE]
    proxy.upstream.says(*streamed(*frames))
    assert proxy.post(asking("Long?", stream=True), x_raw_rag_session="long-frame").content == b"".join(frames)
    assert proxy.captured("long-frame", 2)[1] == ("assistant", "Before, after.", True)
    wait_for(lambda: proxy.home.read("status")["capture_errors"] == before + 1, "the count")
