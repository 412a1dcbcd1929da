"""The client against a real server process: repeated attempts, limits, keys, redirects."""

from __future__ import annotations

import logging
from itertools import count

import pytest

from agent_raw_rag.encode.http_client import HttpClient, RefusedError
from agent_raw_rag.encode.http_connection import Connection
from agent_raw_rag.encode.http_patience import Patience, Timing
from agent_raw_rag.errors import ModelError
from tests.servers.running import Visit, dead_url

KEY = "sesame-1234"
BODY = {"input": ["retry the upload"]}
PATH = "/v1/embeddings"


class Clock:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def timing(self) -> Timing:
        return Timing(self.wait, lambda: self.now, lambda: 1.0)


def client(url: str, clock: Clock, *, key: str | None = None, max_bytes: int = 1 << 20, retries: int = 3) -> HttpClient:
    connection = Connection(
        url, key_variable="" if key is None else "MY_KEY", environment={"MY_KEY": key} if key else {}
    )
    patience = Patience(0.3, 60, retries)
    return HttpClient(connection, patience, max_bytes=max_bytes, timing=clock.timing)


@pytest.mark.parametrize(("mode", "waits"), [("ok", []), ("away", [0.5, 1.0]), ("busy", [7.0, 7.0])])
def test_a_server_that_is_not_ready_is_asked_again_when_it_wants(server: str, mode: str, waits: list[float]) -> None:
    clock, visit = Clock(), Visit(server, mode)
    answer = client(visit.url, clock).post(PATH, BODY)
    assert len(answer["data"]) == 1
    assert (clock.waits, len(visit.seen())) == (waits, len(waits) + 1)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("gone", r"not ready: status 502 \(bad gateway\)"),
        ("cut", "cannot be reached"),
        ("never", "did not answer in time"),
    ],
)
def test_a_server_that_stays_dead_is_given_up_and_then_left_alone(server: str, mode: str, said: str) -> None:
    clock, visit = Clock(), Visit(server, mode)
    asking = client(visit.url, clock)
    with pytest.raises(ModelError, match=said):
        asking.post(PATH, BODY)
    assert clock.waits == [0.5, 1.0, 2.0] and len(visit.seen()) == 4
    with pytest.raises(ModelError, match=r"asked again in 15 s"):
        asking.post(PATH, BODY)
    assert len(visit.seen()) == 4
    clock.now += 15
    with pytest.raises(ModelError, match=said):
        asking.post(PATH, BODY)
    assert len(visit.seen()) == 8


def test_nobody_waits_past_the_deadline(server: str) -> None:
    clock, visit = Clock(), Visit(server, "alwaysbusy")
    with pytest.raises(ModelError, match=r"status 429 \(overloaded\)\. Try again later"):
        client(visit.url, clock, retries=100).post(PATH, BODY)
    assert clock.waits == [7.0] * 8


def test_a_port_where_nobody_listens_is_said(server: str) -> None:
    clock = Clock()
    with pytest.raises(ModelError, match=r"cannot be reached: .*refused\. Start it, or correct the url"):
        client(dead_url(), clock, retries=1).post(PATH, BODY)
    assert clock.waits == [0.5]


def test_a_server_without_tls_is_not_reached_over_https(server: str) -> None:
    visit = Visit(server, "ok")
    with pytest.raises(ModelError, match=r"https://127\.0\.0\.1:\d+/ok/\S+ cannot be reached"):
        client(visit.url.replace("http:", "https:"), Clock(), key=KEY, retries=0).post(PATH, BODY)
    assert visit.seen() == []


@pytest.mark.parametrize(("mode", "status"), [("most100", 400), ("nomodel", 404), ("fault", 500), ("most2", 413)])
def test_a_refusal_is_not_asked_again(server: str, mode: str, status: int) -> None:
    clock, visit = Clock(), Visit(server, mode)
    with pytest.raises(RefusedError) as caught:
        client(visit.url, clock).post(PATH, {"input": ["a" * 101, "b", "c"]})
    assert (caught.value.status, clock.waits, len(visit.seen())) == (status, [], 1)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("html", r"did not answer in JSON to /v1/embeddings: '<!doctype html>"),
        ("nonsense", r"did not answer in JSON to /v1/embeddings: \"\{'data'"),
        ("deep", r"did not answer in JSON"),
        ("huge", r"answered with more than 1,048,576 bytes"),
    ],
)
def test_what_is_no_answer_is_said(server: str, mode: str, said: str) -> None:
    visit = Visit(server, mode)
    with pytest.raises(ModelError, match=said):
        client(visit.url, Clock()).post(PATH, BODY)
    assert len(visit.seen()) == 1


def test_an_answer_that_goes_on_and_on_is_given_up_at_the_deadline(server: str) -> None:
    ticks = count(step=5.0)
    timing = Timing(lambda seconds: None, lambda: next(ticks), lambda: 1.0)
    connection = Connection(Visit(server, "huge").url, environment={})
    with pytest.raises(ModelError, match="did not answer in time"):
        HttpClient(connection, Patience(1, 60), timing=timing).post(PATH, BODY)


def test_a_redirect_is_not_followed_and_the_key_stays_where_it_belongs(server: str) -> None:
    visit = Visit(server, "elsewhere")
    with pytest.raises(ModelError, match=r"redirects to http://localhost/\S+, which is not followed") as caught:
        client(visit.url, Clock(), key=KEY).post(PATH, BODY)
    assert "abc" not in str(caught.value)
    assert Visit(server, "ok", f"elsewhere-{visit.name}").seen() == []


def test_the_key_of_the_named_variable_is_sent(server: str) -> None:
    visit = Visit(server, "secret")
    client(visit.url, Clock(), key=f" {KEY}\n").post(PATH, BODY)
    assert [one["key"] for one in visit.seen()] == [f"Bearer {KEY}"]


@pytest.mark.parametrize("key", [None, "wrong-key-5678"])
def test_a_refused_key_is_said_without_the_key(server: str, key: str | None) -> None:
    hint = "Set key_variable" if key is None else "Check the environment variable MY_KEY"
    with pytest.raises(ModelError, match=rf"refuses the key: status 401\. {hint}") as caught:
        client(Visit(server, "secret").url, Clock(), key=key).post(PATH, BODY)
    assert "5678" not in str(caught.value)


@pytest.mark.parametrize("key", ["", "  ", "schlüssel", "two\nlines"])
def test_a_key_that_is_missing_or_cannot_be_sent_is_named_by_its_variable(server: str, key: str) -> None:
    visit = Visit(server, "ok")
    with pytest.raises(ModelError, match="The environment variable MY_KEY") as caught:
        client(visit.url, Clock(), key=key).post(PATH, BODY)
    assert "lines" not in str(caught.value) and visit.seen() == []


def test_the_key_stands_in_no_message_log_or_repr(server: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asking = client(Visit(server, "parrot").url, Clock(), key=KEY)
    with pytest.raises(ModelError, match=r"cannot serve Bearer …") as caught:
        asking.post(PATH, BODY)
    shown = f"{caught.value!r} {caught.value} {vars(asking)} {caplog.text}"
    assert KEY not in shown


def test_environment_variables_for_proxies_are_not_obeyed(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, dead_url())
    visit = Visit(server, "ok")
    client(visit.url, Clock()).post(PATH, BODY)
    assert len(visit.seen()) == 1
