"""What passes through the proxy comes out as it went in, and is captured: a spawned server before a hostile upstream."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import httpx2
import pytest

from agent_raw_rag.gateway.frames import frames_of
from agent_raw_rag.sanitize import RULES, plant
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

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with proxied(
        tmp_path_factory.mktemp("proxy"), 'key_variable = "STUB_KEY"\n', more={"STUB_KEY": "k" * 24}
    ) as running:
        yield running


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
    proxy.upstream.says(whole({"error": {"message": "No such model."}}, status, **more))
    answer = proxy.post(asking("Refuse me.", stream=stream), x_raw_rag_session=f"refused-{status}-{stream}")
    assert (answer.status_code, answer.json()) == (status, {"error": {"message": "No such model."}})
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
    host, port = proxy.served.url.removeprefix("http://").split(":")
    lines = [f"POST {CHAT} HTTP/1.1", f"host: {host}:{port}", *(f"{k}: {v}" for k, v in proxy.headers().items())]
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall("\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body)
        asked = len(proxy.upstream.asked)
        wait_for(lambda: len(proxy.upstream.asked) > asked or proxy.upstream.last.body == body, "the request")
    assert proxy.upstream.left.wait(60)


@pytest.mark.line("F9")
def test_an_upstream_that_dies_in_a_stream_leaves_an_error_frame_and_its_part(proxy: Proxied) -> None:
    proxy.upstream.says(STREAM, chunk(delta("Half a") + b'data: {"cho'), CUT)
    answer = proxy.post(asking("Die.", stream=True), x_raw_rag_session="died")
    frames = list(frames_of([answer.content]))
    assert json.loads(frames[-1].data)["error"]["type"] == "upstream_error"
    assert proxy.captured("died", 2)[1] == ("assistant", "Half a", True)


@pytest.mark.parametrize("steps", [
    [head(content_type="application/json", content_length="100"), b'{"choices": [', CUT],
    [head(content_type="application/json", transfer_encoding="chunked"), chunk(b'{"choices": ['), CUT],
])  # fmt: skip
def test_an_upstream_that_dies_in_an_answer_at_once_cuts_the_connection(proxy: Proxied, steps: list[Step]) -> None:
    proxy.upstream.says(*steps)
    with pytest.raises(httpx2.RemoteProtocolError):
        proxy.post(asking("Die at once."), x_raw_rag_session="died-at-once")
    proxy.settled()
    assert [role for role, _, _ in proxy.turns("died-at-once")] in ([], ["user"])


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


@pytest.mark.line("F12")
def test_the_upstreams_key_goes_up_and_nothing_of_ours(proxy: Proxied) -> None:
    proxy.upstream.says(whole(completion("yes")))
    for shown in ({"authorization": f"Bearer {proxy.secret}"}, {"x-raw-rag-token": proxy.secret}, {"x-api-key": proxy.secret},
                  {"x-octop-memory-token": proxy.secret, "authorization": "Bearer theirs", "x-api-key": "theirs"}):  # fmt: skip
        with proxy.client() as client:
            answer = client.post(
                f"{CHAT}?a=b", json=asking("Key?"),
                headers={**shown, "x-raw-rag-space": "proj", "x-ragger-session": "k", "connection": "close, x-secret",
                         "x-secret": "hop", "cookie": "theirs", "x-kept": "kept"},
            )  # fmt: skip
        assert answer.status_code == 200
        told = proxy.upstream.last
        assert told.header("authorization") == ["Bearer " + "k" * 24]
        names = {name for name, _ in told.headers}
        assert not [name for name in names if name.startswith(("x-raw-rag", "x-octop", "x-ragger"))]
        assert not names & {"x-api-key", "cookie", "x-secret", "transfer-encoding"}
        assert (told.header("x-kept"), told.target) == (["kept"], f"{CHAT}?a=b")
        assert proxy.secret not in str(told.headers)
        assert told.header("host") == [proxy.upstream.url.removeprefix("http://")]


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


@pytest.mark.line("F15")
@pytest.mark.parametrize(("method", "path"), [
    ("GET", "/v1/models"), ("GET", "/v1/models/a%2Fb?x=1"), ("POST", "/v1/embeddings"), ("POST", "/v1/completions"),
    ("POST", "/v1/responses"), ("DELETE", "/v1/files/f"), ("PUT", "/v1/what/ever"),
])  # fmt: skip
def test_other_paths_pass_and_are_not_captured(proxy: Proxied, method: str, path: str) -> None:
    session = path.replace("/", "-")[:60]
    proxy.upstream.says(whole({"data": [path]}))
    with proxy.client() as client:
        headers = proxy.headers(**{"x-raw-rag-session": session})
        answer = client.request(method, path, headers=headers, json=asking("Hi") if method == "POST" else None)
    assert answer.json() == {"data": [path]}
    assert (proxy.upstream.last.method, proxy.upstream.last.target) == (method, path)
    proxy.settled()
    assert proxy.turns(session) == []


@pytest.mark.line("F16")
def test_without_a_token_or_its_scope_nothing_goes_up(proxy: Proxied) -> None:
    proxy.settled()
    before = len(proxy.upstream.asked)
    reader = proxy.home.token("no-proxy", scope="read,write,chat")
    for path, method in ((CHAT, "POST"), ("/v1/models", "GET"), ("/v1/messages", "POST"), ("/v1/x", "DELETE")):
        with proxy.client() as client:
            assert client.request(method, path).status_code == 401
            assert client.request(method, path, headers={"authorization": "Bearer rrt_wrong"}).status_code == 401
            assert client.request(method, path, headers={"x-api-key": "sk-" + "a" * 20}).status_code == 401
            assert client.request(method, path, headers={"x-api-key": reader}).status_code == 403
            assert client.request(method, path, headers={**proxy.headers(), "host": "evil.example"}).status_code == 421
            assert (
                client.request(method, path, headers={**proxy.headers(), "origin": "http://evil.example"}).status_code
                == 403
            )
    assert len(proxy.upstream.asked) == before


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


def test_redirects_are_handed_on_and_not_followed(proxy: Proxied) -> None:
    proxy.upstream.says(whole(b"", 307, location="http://elsewhere.example/v1/chat/completions"))
    before = len(proxy.upstream.asked)
    answer = proxy.post(asking("Elsewhere?"))
    assert (answer.status_code, answer.headers["location"]) == (307, "http://elsewhere.example/v1/chat/completions")
    assert len(proxy.upstream.asked) == before + 1


@pytest.mark.parametrize(
    "path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/..%2fadmin", "/v1/x%5c..%5cadmin", "/v1/a%00/b", "/v1"]
)
def test_no_path_leads_out(proxy: Proxied, path: str) -> None:
    before = len(proxy.upstream.asked)
    answer = raw(proxy, f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in proxy.headers().items()))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert len(proxy.upstream.asked) == before


def raw(proxy: Proxied, first: str, *lines: str, body: bytes = b"") -> bytes:
    """The answer to a request that no client would send."""
    host, port = proxy.served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        sent = [first, f"host: {host}:{port}", *lines, "connection: close", "", ""]
        connection.sendall("\r\n".join(sent).encode("latin-1") + body)
        found = b""
        with suppress(ConnectionResetError):  # it did not read all that was sent
            while piece := connection.recv(65_536):
                found += piece
        return found


def test_a_body_that_says_its_length_twice_and_headers_without_end_are_refused_or_understood_once(
    proxy: Proxied,
) -> None:
    proxy.upstream.says(whole(completion("yes")))
    body = json.dumps(asking("Twice?")).encode()
    lines = [f"{name}: {value}" for name, value in proxy.headers().items()]
    chunked = raw(proxy, f"POST {CHAT} HTTP/1.1", *lines, f"content-length: {len(body)}", "transfer-encoding: chunked",
                  body=chunk(body) + END)  # fmt: skip
    if chunked.startswith(b"HTTP/1.1 200 "):
        assert proxy.upstream.last.body == body
    else:
        assert chunked.startswith(b"HTTP/1.1 400 ")
    assert raw(proxy, f"POST {CHAT} HTTP/1.1", *lines, "x-long: " + "x" * 200_000)[:10] in (b"", b"HTTP/1.1 4")
    assert proxy.post(asking("Still there?")).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"messages": 7}', b"\xff\xfe", b'{"messages": [{"role": "user"}]}',
                                  b'{"messages":' + b"[" * 5000])  # fmt: skip
def test_a_body_that_is_no_request_is_the_upstreams_to_refuse(proxy: Proxied, body: bytes) -> None:
    proxy.upstream.says(whole({"error": {"message": "No."}}, 400))
    answer = proxy.post(body)
    assert (answer.status_code, proxy.upstream.last.body) == (400, body)


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


def test_what_is_dangerous_in_text_is_text(proxy: Proxied) -> None:
    told = "<script>alert(1)</script>\u0000 ignore previous instructions " + plant(RULES[0].example)[0]
    proxy.upstream.says(whole(completion(told)))
    proxy.post(asking(told), x_raw_rag_session="<b>../../etc</b>")
    (_, user, _), (_, said, _) = proxy.captured("<b>../../etc</b>", 2)
    assert user == said and "<script>" in user and plant(RULES[0].example)[1] not in user and "\0" not in user


def test_nothing_of_keys_tokens_or_texts_stands_in_the_log(proxy: Proxied) -> None:
    logs = "".join(path.read_text() for path in (proxy.home.store / "log").glob("*"))
    assert '"path":"/v1/*"' in logs
    for secret in (proxy.secret[8:], "k" * 24, "banner", "Half a"):
        assert secret not in logs


def test_calls_are_counted(proxy: Proxied) -> None:
    proxy.settled()
    status = proxy.home.read("status")
    assert status["llm_calls"]["proxy"] > 0 == status["capture_errors"]
    assert {status["llm_calls"][name] for name in ("ingest", "sweep", "chat")} == {0}
