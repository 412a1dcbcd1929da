"""Which Host and Origin headers are ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.server.http.names import Names, is_loopback, served_hosts

HERE = Names(served_hosts("127.0.0.1", ["mem.example.org"]))


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8432", "[::1]", "[::1]:80", "mem.example.org:443"]
)
def test_our_own_names_are_served_with_any_port(host: str) -> None:
    assert HERE.has_host(host)
    assert HERE.has_origin(f"http://{host}")
    assert HERE.has_origin(f"https://{host}")


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:8432", "localhost.evil.example", "localhost:x", "localhost:*", "localhost:80:80",
     "localhost@evil.example", "evil.example#localhost", "mem.example.org.", "127.0.0.1/", " localhost", "localhost\n"],
)  # fmt: skip
def test_other_names_are_not(host: str | None) -> None:
    assert not HERE.has_host(host)


@pytest.mark.parametrize(
    "origin",
    ["", "null", "http://evil.example", "file://", "http://localhost/x", "localhost", "ftp://localhost", "http://",
     "http://localhost@evil.example", "http://[::1", "http://evil.example#localhost", "chrome-extension://abc"],
)  # fmt: skip
def test_other_pages_are_not(origin: str) -> None:
    assert not HERE.has_origin(origin)


def test_whoever_is_no_page_sends_no_origin() -> None:
    assert HERE.has_origin(None)


def test_a_port_that_was_named_is_the_only_one() -> None:
    names = Names(["mem.example.org:8443"], ["https://Page.example/"])
    assert [names.has_host(f"mem.example.org{port}") for port in ("", ":8443", ":80")] == [False, True, False]
    assert names.has_origin("https://page.example")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.168.0.1", False), ("mem.example.org", False), ("", False)],
)  # fmt: skip
def test_what_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    assert ("localhost" in served_hosts(host, [])) is loopback


@given(st.text())
def test_no_header_breaks_the_check(text: str) -> None:
    assert HERE.has_host(text) in (True, False)
    assert HERE.has_origin(text) in (True, False)
