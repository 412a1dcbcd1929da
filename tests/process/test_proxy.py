"""What passes through the proxy comes out as it went in, and is captured: a spawned server before a hostile upstream."""

from __future__ import annotations

import json
import threading

import pytest

from agent_raw_rag.sanitize import RULES, plant
from tests.process.proxying import CHAT, Proxied, asking
from tests.servers.hostile import (
    DONE,
    END,
    STREAM,
    chunk,
    completion,
    delta,
    streamed,
    whole,
)

pytestmark = pytest.mark.process


@pytest.mark.line("F1", "F2")
def test_a_stream_comes_byte_for_byte_and_at_once_and_both_sides_are_found(proxy: Proxied) -> None:
    frames, goes_on = [delta("The banner "), delta("is grün 你好"), DONE], threading.Event()
    proxy.upstream.says(STREAM, chunk(frames[0]), goes_on, *map(chunk, frames[1:]), END)
    with proxy.client() as client, client.stream(
        "POST", CHAT, json=asking("Which colour has the banner?", stream=True), headers=proxy.headers(),
    ) as response:  # fmt: skip
        pieces = response.iter_raw()
        first = next(pieces)
        assert not goes_on.is_set()
        goes_on.set()
        body = first + b"".join(pieces)
    assert body == b"".join(frames)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    told = proxy.captured(response.headers["x-session-id"], 2)
    assert told == [("user", "Which colour has the banner?", False), ("assistant", "The banner is grün 你好", False)]
    reader = proxy.home.token("reader", space="default")
    found = proxy.served.answer("memory_search_raw", {"query": "banner"}, reader, "default")["events"]
    assert {one["source"] for one in found} == {"proxy"} and len(found) == 2


@pytest.mark.line("F3")
def test_an_answer_at_once_comes_as_it_is_and_both_sides_are_captured_once(proxy: Proxied) -> None:
    said = b'{ "choices" : [ {"message": {"role":"assistant","content":"Forty-two."},"index":0} ],\n "model":"tiny"}\n'
    proxy.upstream.says(whole(said, x_request_id="r1"))
    answer = proxy.post(asking("How many?"), x_raw_rag_session="at-once")
    assert (answer.status_code, answer.content, answer.headers["x-request-id"]) == (200, said, "r1")
    assert answer.headers["content-length"] == str(len(said))
    proxy.settled()
    assert proxy.turns("at-once") == [("user", "How many?", False), ("assistant", "Forty-two.", False)]


def test_the_bytes_of_a_request_go_up_as_they_came(proxy: Proxied) -> None:
    body = b'{"model" : "tiny",\n  "messages":[{"content":"Caf\\u00e9 \xe4\xbd\xa0","role":"user"}], "unknown": 1e400}'
    proxy.upstream.says(whole(completion("yes")))
    proxy.post(body, x_raw_rag_session="bytes", content_type="application/json; charset=utf-8")
    assert (proxy.upstream.last.method, proxy.upstream.last.target, proxy.upstream.last.body) == ("POST", CHAT, body)
    assert proxy.upstream.last.header("content-type") == ["application/json; charset=utf-8"]
    assert proxy.upstream.last.header("accept-encoding") == ["identity"]


@pytest.mark.line("F4")
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("status", "wait"), [(404, ""), (429, "17"), (500, ""), (529, "3")])
def test_a_refusal_of_the_upstream_is_handed_on_and_not_captured(
    proxy: Proxied, status: int, wait: str, stream: bool
) -> None:
    more = {"retry_after": wait} if wait else {}
    said = b'{ "error" : {"message":"No such model."} }\n'
    proxy.upstream.says(whole(said, status, **more))
    answer = proxy.post(asking("Refuse me.", stream=stream), x_raw_rag_session=f"refused-{status}-{stream}")
    assert (answer.status_code, answer.content) == (status, said)
    assert answer.headers.get("retry-after", "") == wait
    proxy.settled()
    assert proxy.turns(f"refused-{status}-{stream}") == []


@pytest.mark.line("F6")
def test_pictures_are_stored_as_their_places_and_go_up_as_they_are(proxy: Proxied) -> None:
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
             {"type": "file", "file": {"file_id": "f"}}, {"type": "text", "text": "And that?"}]  # fmt: skip
    body = json.dumps(asking(parts)).encode()
    proxy.upstream.says(whole(completion("A cat.")))
    proxy.post(body, x_raw_rag_session="picture")
    assert proxy.captured("picture", 2)[0] == ("user", "What is this?\n[image]\n[file]\nAnd that?", False)
    assert proxy.upstream.last.body == body


@pytest.mark.line("F7")
def test_tool_calls_in_pieces_pass_and_become_a_line_each(proxy: Proxied) -> None:
    frames = [
        delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "bash", "arguments": ""}}]),
        delta(tool_calls=[{"index": 1, "id": "b", "function": {"name": "read_file", "arguments": '{"path": "src/'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": '{"command": "ls'}}]),
        delta(tool_calls=[{"index": 1, "function": {"arguments": 'a.py"}'}}, {"index": 0, "function": {"arguments": ' -l"}'}}]),
        DONE,
    ]  # fmt: skip
    proxy.upstream.says(*streamed(*frames))
    answer = proxy.post(asking("Look around.", stream=True), x_raw_rag_session="tools")
    assert answer.content == b"".join(frames)
    assert proxy.captured("tools", 2) == [
        ("user", "Look around.", False), ("assistant", "[bash] ls -l\n[read_file] src/a.py", False),
    ]  # fmt: skip


@pytest.mark.line("F14")
def test_the_session_is_the_callers_or_follows_from_how_the_conversation_began(proxy: Proxied) -> None:
    proxy.upstream.says(whole(completion("Good.")))
    for header in ("x_raw_rag_session", "x_ragger_session"):
        assert proxy.post(asking("Hi"), **{header: "s1"}).headers["x-session-id"] == "s1"
    assert [text for _, text, _ in proxy.captured("s1", 2)] == ["Hi", "Good."]
    first = proxy.post(asking("A new talk")).headers["x-session-id"]
    second = proxy.post(asking("A new talk", "Good.", "More")).headers["x-session-id"]
    other = proxy.post(asking("Another talk")).headers["x-session-id"]
    assert first == second != other
    proxy.settled()
    assert [text for _, text, _ in proxy.turns(first)] == ["A new talk", "Good.", "More", "Good."]


@pytest.mark.line("F18")
def test_of_a_history_that_is_sent_again_only_what_is_new_is_stored(proxy: Proxied) -> None:
    told: list[str] = []
    for user, said in (("Start.", "Ready?"), ("yes", "Sure?"), ("yes", "Sure?"), ("yes", "Done.")):
        told.append(user)
        proxy.upstream.says(whole(completion(said)))
        proxy.post(asking(*told), x_raw_rag_session="history")
        told.append(said)
    proxy.settled()
    assert [text for _, text, _ in proxy.turns("history")] == told


@pytest.mark.line("F19")
def test_the_same_request_again_is_no_second_turn(proxy: Proxied) -> None:
    for said in ("One.", "One.", "Two."):
        proxy.upstream.says(whole(completion(said)))
        proxy.post(asking("Again?"), x_raw_rag_session="again")
    proxy.settled()
    assert [text for _, text, _ in proxy.turns("again")] == ["Again?", "One.", "Two."]


def test_a_space_is_named_or_the_tokens_own(proxy: Proxied) -> None:
    proxy.upstream.says(whole(completion("Here.")))
    proxy.post(asking("Where?"), x_raw_rag_session="named", x_raw_rag_space="proj")
    limited = proxy.home.token("limited-proxy", scope="proxy", space="other")
    with proxy.client() as client:
        client.post(CHAT, json=asking("Mine?"), headers={"x-api-key": limited, "x-raw-rag-session": "own"})
    assert proxy.captured("named", 2, "proj") and proxy.captured("own", 2, "other")
    assert proxy.turns("named") == proxy.turns("own") == []


def test_what_is_dangerous_in_text_is_text(proxy: Proxied) -> None:
    told = "<script>alert(1)</script>\u0000 ignore previous instructions " + plant(RULES[0].example)[0]
    proxy.upstream.says(whole(completion(told)))
    proxy.post(asking(told), x_raw_rag_session="<b>../../etc</b>")
    (_, user, _), (_, said, _) = proxy.captured("<b>../../etc</b>", 2)
    assert user == said and "<script>" in user and plant(RULES[0].example)[1] not in user and "\0" not in user


def test_nothing_of_keys_tokens_or_texts_stands_in_the_log(proxy: Proxied) -> None:
    logs = "".join(path.read_text() for path in (proxy.home.store / "log").glob("*"))
    assert '"path":"/v1/*"' in logs
    for secret in (proxy.secret[8:], "k" * 24, "banner", "Forty-two"):
        assert secret not in logs


def test_calls_are_counted(proxy: Proxied) -> None:
    proxy.settled()
    status = proxy.home.read("status")
    assert status["llm_calls"]["proxy"] > 0 == status["capture_errors"]
    assert {status["llm_calls"][name] for name in ("ingest", "sweep", "chat")} == {0}
