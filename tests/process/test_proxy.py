"""What passes through the proxy comes out as it went in, and is captured: a spawned server before a hostile upstream."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.process.proxying import CHAT, Proxied, asking, proxied
from tests.servers.hostile import DONE, END, STREAM, chunk, delta

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
    found = proxy.served.answer("memory_search_raw", {"query": "banner grün"}, reader, "default")
    assert {one["source"] for one in found["results"]} == {"proxy"}
