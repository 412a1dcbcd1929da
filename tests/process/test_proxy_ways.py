"""What goes through the proxy and what does not: keys, tokens, headers, paths and bodies that no client would send."""

from __future__ import annotations

import json
import socket
from contextlib import suppress

import pytest

from tests.process.proxying import CHAT, Proxied, asking
from tests.process.watching import wait_for
from tests.servers.hostile import (
    END,
    chunk,
    completion,
    whole,
)

pytestmark = pytest.mark.process


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


@pytest.mark.parametrize("path", ["/v1//chat/completions", "/v1/chat%2Fcompletions", "/v1/chat/completions/"])
def test_however_a_path_is_spelled_it_goes_up_as_it_is_and_is_captured(proxy: Proxied, path: str) -> None:
    proxy.upstream.says(whole(completion("yes")))
    proxy.post(asking("Spelled?"), path, x_raw_rag_session=path)
    assert proxy.upstream.last.target == path
    assert len(proxy.captured(path, 2)) == 2


def test_a_request_of_more_parts_than_are_read_goes_up_whole_is_not_captured_and_counted(proxy: Proxied) -> None:
    proxy.settled()
    before = proxy.home.read("status")["capture_errors"]
    body = b'{"model": "tiny", "messages": [' + b"{}," * 600_000 + b'{"role": "user", "content": "Bomb?"}]}'
    proxy.upstream.says(whole(completion("yes")))
    assert proxy.post(body, x_raw_rag_session="bomb").status_code == 200
    assert proxy.upstream.last.body == body
    wait_for(lambda: proxy.home.read("status")["capture_errors"] == before + 1, "the count")
    assert proxy.turns("bomb") == []


def test_what_says_who_asks_does_not_go_up_and_what_a_server_says_to_browsers_does_not_come_down(
    proxy: Proxied,
) -> None:
    proxy.upstream.says(
        whole(completion("yes"), set_cookie="a=b", access_control_allow_origin="*", alt_svc="h3", x_kept="1")
    )
    answer = proxy.post(
        asking("Who?"),
        x_forwarded_for="10.1.2.3",
        x_forwarded_host="inside",
        forwarded="for=10.1.2.3",
        x_real_ip="10.1.2.3",
    )
    assert not [name for name, value in proxy.upstream.last.headers if "10.1.2.3" in value or "forwarded" in name]
    assert answer.headers["x-kept"] == "1"
    assert not {"set-cookie", "access-control-allow-origin", "alt-svc"} & set(answer.headers)
