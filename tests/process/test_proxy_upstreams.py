"""Which upstream a request goes to, with whose key, and what is stored: spawned servers before hostile upstreams."""

from __future__ import annotations

import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from agent_raw_rag.memory.raw import MOST_CONTENT
from tests.process.proxying import CHAT, MESSAGES, asking, proxied
from tests.process.watching import wait_for
from tests.servers.hostile import CUT, DONE, END, STREAM, chunk, completion, delta, hostile, streamed, whole
from tests.servers.memory_http import home_in, serving
from tests.servers.running import dead_url

pytestmark = pytest.mark.process
KEY, OTHER = "k" * 24, "o" * 24


def event(kind: str, **told: object) -> bytes:
    """A frame of Anthropic's stream."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **told})}\n\n".encode()


@pytest.mark.line("F5")
def test_a_server_that_is_down_is_a_502_that_says_so(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("proxy", scope="proxy")
    url = dead_url()
    home.configure(f'[proxy.upstreams.down]\nurl = "{url}"\n')
    with serving(home) as served:
        for stream in (False, True):
            answer = served.ask(CHAT, secret=secret, body=asking("Anybody?", stream=stream))
            assert (answer.status_code, answer.headers["content-type"]) == (502, "application/json")
            error = answer.json()["error"]
            assert error["type"] == "upstream_error" and "down" in error["message"]
            assert not [part for part in ("127.0.0.1", "localhost", "http:") if part in answer.text]
        log = "".join(path.read_text() for path in (home.store / "log").glob("*"))
        assert url in log


def test_a_server_that_says_nonsense_or_nothing_is_a_502(tmp_path: Path) -> None:
    with proxied(tmp_path, "read_seconds = 0.5\n") as proxy:
        for step in (b"HELLO\r\n\r\n", b"HTTP/1.1 200 OK\r\nbroken\r\n\r\n", CUT, threading.Event()):
            proxy.upstream.says(step)
            assert proxy.post(asking("Nonsense?")).status_code == 502
            if isinstance(step, threading.Event):
                step.set()


@pytest.mark.line("F13")
@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/base", "/base/v1/"])
def test_the_version_stands_once_in_the_path(tmp_path: Path, tail: str) -> None:
    home = home_in(tmp_path)
    secret = home.token("proxy", scope="proxy")
    with hostile() as upstream:
        home.configure(f'[proxy.upstreams.stub]\nurl = "{upstream.url}{tail}"\n')
        upstream.says(whole({"data": []}))
        with serving(home) as served:
            assert served.ask("/v1/models", method="GET", secret=secret).status_code == 200
    assert upstream.last.target == ("/base" if "base" in tail else "") + "/v1/models"


def test_a_request_goes_to_whom_it_names_else_to_whom_its_form_and_model_fit(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("proxy", scope="proxy")
    with hostile() as one, hostile() as two, hostile() as three:
        home.configure(f"""
            [proxy.upstreams.one]
            url = "{one.url}"
            models = ["gpt-*"]
            key_variable = "ONE_KEY"
            [proxy.upstreams.two]
            url = "{two.url}/v1"
            [proxy.upstreams.three]
            url = "{three.url}"
            form = "anthropic"
            key_variable = "THREE_KEY"
        """)
        for name, server in (("one", one), ("two", two), ("three", three)):
            server.says(whole({"name": name}))
        with serving(home, more={"ONE_KEY": KEY, "THREE_KEY": OTHER}) as served:

            def who(path: str, body: object, **headers: str) -> str:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                answer = served.ask(path, secret=secret, body=body, headers=named)
                return str(answer.json().get("name", answer.status_code))

            assert who(CHAT, asking("a", model="gpt-9")) == "one"
            assert who("/v1/embeddings", {"model": "gpt-e", "input": "a"}) == "one"
            assert who(CHAT, asking("a", model="qwen")) == "two"
            assert who(MESSAGES, asking("a", model="gpt-9"), anthropic_version="2023-06-01") == "three"
            assert who("/v1/messages/count_tokens", asking("a")) == "three"
            assert who("/v1/models/x", asking("a"), anthropic_version="2023-06-01") == "three"
            assert who(CHAT, asking("a", model="gpt-9"), x_raw_rag_upstream="two") == "two"
            assert who(CHAT, asking("a"), x_raw_rag_upstream="nobody") == "404"
            told = served.ask(CHAT, secret=secret, body=asking("a"), headers={"x-raw-rag-upstream": "nobody"}).json()
            assert told["error"]["type"] == "invalid_request_error" and "one, two, three" in told["error"]["message"]
    assert {tuple(asked.header("authorization")) for asked in one.asked} == {(f"Bearer {KEY}",)}
    assert {tuple(asked.header("authorization")) for asked in two.asked} == {()}
    assert {tuple(asked.header("x-api-key")) for asked in three.asked} == {(OTHER,)}
    assert three.asked[0].header("anthropic-version") == ["2023-06-01"]


def test_anthropics_form_is_streamed_captured_and_broken_off_in_its_own_words(tmp_path: Path) -> None:
    with proxied(tmp_path, form="anthropic") as proxy:
        frames = [
            event("message_start", message={"model": "m", "usage": {"input_tokens": 3}}),
            event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": "I look."}),
            event("content_block_start", index=1, content_block={"type": "tool_use", "name": "Bash", "input": {}}),
            event(
                "content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": '{"command": "ls"}'}
            ),
            event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 3}),
            event("message_stop"),
        ]
        proxy.upstream.says(*streamed(*frames))
        content = [{"type": "text", "text": "Look."}, {"type": "image", "source": {}}]
        body = asking(content, stream=True, system="Be brief.", max_tokens=9)
        assert proxy.post(body, MESSAGES, x_raw_rag_session="a").content == b"".join(frames)
        assert proxy.captured("a", 2) == [("user", "Look.\n[image]", False), ("assistant", "I look.\n[Bash] ls", False)]
        body["messages"] += [
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "a.py"}]},
        ]
        proxy.upstream.says(STREAM, *map(chunk, frames[:3]), CUT)
        cut = proxy.post(body, MESSAGES, x_raw_rag_session="a").content
        assert cut.startswith(b"".join(frames[:3])) and b"event: error\n" in cut[len(b"".join(frames[:3])) :]
        assert proxy.captured("a", 3)[2] == ("assistant", "I look.", True)
        proxy.upstream.says(CUT)
        down = proxy.post(body, MESSAGES).json()
        assert (down["type"], down["error"]["type"]) == ("error", "upstream_error")
        assert proxy.post(asking("a")).status_code == 404


def test_with_passthrough_the_callers_key_goes_up_and_our_token_does_not(tmp_path: Path) -> None:
    with proxied(tmp_path, 'auth = "passthrough"\n') as proxy:
        proxy.upstream.says(whole(completion("yes")))
        theirs = {"authorization": "Bearer theirs", "x-api-key": "theirs too"}
        with proxy.client() as client:
            client.post(CHAT, json=asking("a"), headers={**theirs, "x-raw-rag-token": proxy.secret})
            assert {name: proxy.upstream.last.header(name) for name in theirs} == {n: [v] for n, v in theirs.items()}
            another = proxy.home.token("another", scope="read")
            client.post(CHAT, json=asking("a"), headers={"x-raw-rag-token": proxy.secret, "x-api-key": another})
            assert proxy.upstream.last.header("x-api-key") == []
            ours = {"authorization": f"Bearer {proxy.secret}", "x-api-key": proxy.secret}
            assert client.post(CHAT, json=asking("a"), headers=ours).status_code == 200
        assert proxy.upstream.last.header("authorization") == proxy.upstream.last.header("x-api-key") == []
        assert not [asked for asked in proxy.upstream.asked if proxy.secret in str(asked.headers)]


def test_a_key_that_is_not_there_is_said_by_its_variables_name(tmp_path: Path) -> None:
    with proxied(tmp_path, 'key_variable = "NO_SUCH_KEY"\n') as proxy:
        answer = proxy.post(asking("a"))
        assert answer.status_code == 502 and "NO_SUCH_KEY" in answer.json()["error"]["message"]
        assert proxy.upstream.asked == []


def test_without_an_upstream_the_answer_says_how_to_set_one_up(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("proxy", scope="proxy")
    with serving(home) as served:
        answer = served.ask(CHAT, secret=secret, body=asking("a"))
        assert answer.status_code == 503 and "[proxy.upstreams.NAME]" in answer.json()["error"]["message"]
        assert served.ask(CHAT, body=asking("a")).status_code == 401


def test_an_address_that_is_none_ends_the_start_with_its_reason(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.token("proxy", scope="proxy")
    home.configure('[proxy.upstreams.stub]\nurl = "http://x:y/v1"\n')
    assert "url" in home.command("serve", "--port", "0", expect=2).stderr


def test_a_key_with_a_slip_is_told_the_nearest(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.configure('[proxy.upstreams.stub]\nurl = "http://127.0.0.1:1"\nkey_varable = "X"\n')
    said = home.command("status", expect=2).stderr
    assert "Did you mean 'proxy.upstreams.stub.key_variable'?" in said
    home.configure('[proxy.upstreams.stub]\nulr = "http://127.0.0.1:1"\n')
    assert "Did you mean 'proxy.upstreams.stub.url'?" in home.command("status", expect=2).stderr


def test_with_store_turns_false_nothing_is_written_and_calls_are_counted_all_the_same(tmp_path: Path) -> None:
    with proxied(tmp_path, "[capture]\nstore_turns = false\n") as proxy:
        proxy.upstream.says(whole(completion("Unheard.")))
        assert proxy.post(asking("Unheard?"), x_raw_rag_session="none").json()["model"] == "tiny"
        wait_for(lambda: proxy.home.read("status")["llm_calls"]["proxy"] == 1, "the count")
        assert proxy.turns("none") == []


@pytest.mark.line("F17")
def test_a_store_that_refuses_or_is_held_breaks_no_answer_and_is_counted(tmp_path: Path) -> None:
    with proxied(tmp_path) as proxy:
        proxy.upstream.says(*streamed(delta("Stored."), DONE))
        proxy.post(asking("First.", stream=True), x_raw_rag_session="s")
        proxy.captured("s", 2)
        with closing(sqlite3.connect(proxy.home.store / "raw_rag.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert proxy.post(asking("Held.", stream=True), x_raw_rag_session="s").content == delta("Stored.") + DONE
            other.execute("ROLLBACK")
            assert len(proxy.captured("s", 4)) == 4
            other.execute("CREATE TRIGGER stop BEFORE INSERT ON turns BEGIN SELECT RAISE(ABORT, 'no room'); END")
            assert proxy.post(asking("Lost.", stream=True), x_raw_rag_session="s").content == delta("Stored.") + DONE
            wait_for(lambda: proxy.home.read("status")["capture_errors"] == 1, "the error")
            other.execute("DROP TRIGGER stop")
        status = proxy.home.read("status")
        assert "no room" in str(status["problems"]) and "Lost." not in str(status)
        proxy.post(asking("Again.", stream=True), x_raw_rag_session="s")
        assert [text for _, text, _ in proxy.captured("s", 6)][4:] == ["Again.", "Stored."]
        wait_for(lambda: "no room" not in str(proxy.home.read("status")["problems"]), "the end of the problem")
        assert proxy.home.read("status")["capture_errors"] == 1


def test_what_is_under_way_when_the_server_ends_is_stored(tmp_path: Path) -> None:
    with proxied(tmp_path) as proxy:
        goes_on = threading.Event()
        proxy.upstream.says(STREAM, chunk(delta("Cut by the end")), goes_on, END)
        with proxy.client() as client, client.stream(
            "POST", CHAT, json=asking("Ending?", stream=True), headers=proxy.headers(**{"x-raw-rag-session": "end"})
        ) as response:  # fmt: skip
            next(response.iter_raw())
            assert proxy.served.end() == 0
        goes_on.set()
        assert proxy.turns("end") == [("user", "Ending?", False), ("assistant", "Cut by the end", True)]


def test_many_streams_at_once_are_each_exact(tmp_path: Path) -> None:
    with proxied(tmp_path) as proxy:
        begun = threading.Barrier(48)
        frames = [delta(f"word{n} ") for n in range(200)]
        goes_on = threading.Event()
        proxy.upstream.says(STREAM, *map(chunk, frames[:100]), goes_on, *map(chunk, frames[100:]), chunk(DONE), END)

        def one(n: int) -> bytes:
            with proxy.client() as client, client.stream(
                "POST", CHAT, json=asking(f"Stream {n}?", stream=True), headers=proxy.headers(**{"x-raw-rag-session": f"m{n}"})
            ) as response:  # fmt: skip
                pieces = response.iter_raw()
                first = next(pieces)
                begun.wait(60)
                goes_on.set()
                return first + b"".join(pieces)

        with ThreadPoolExecutor(48) as pool:
            assert set(pool.map(one, range(48))) == {b"".join(frames) + DONE}
        said = "".join(f"word{n} " for n in range(200)).strip()
        for n in range(48):
            assert proxy.captured(f"m{n}", 2) == [("user", f"Stream {n}?", False), ("assistant", said, False)]


def test_sides_of_any_length_pass_whole_and_as_much_as_a_capture_takes_is_stored(tmp_path: Path) -> None:
    with proxied(tmp_path) as proxy:
        question, large = "Why? " * (MOST_CONTENT // 5 + 9), completion("word " * 600_000)
        proxy.upstream.says(whole(large))
        body = asking(question)
        assert proxy.post(body, x_raw_rag_session="large").json() == large
        assert proxy.upstream.last.json == body
        (who, asked, cut), (whom, said, also) = proxy.captured("large", 2)
        assert (who, cut, whom, also) == ("user", True, "assistant", True)
        assert question.startswith(asked) and len(asked) > MOST_CONTENT - 10
        assert ("word " * 600_000).startswith(said) and len(said) > MOST_CONTENT - 10
        wait_for(lambda: proxy.home.read("status")["llm_calls"]["proxy"] == 1, "the count")
        assert proxy.home.read("status")["capture_errors"] == 0


def test_a_body_beyond_the_limit_goes_nowhere(tmp_path: Path) -> None:
    with proxied(tmp_path, "[proxy]\nbody_limit = 100000\n") as proxy:
        proxy.upstream.says(whole(completion("Small.")))
        assert proxy.post(asking("y" * 99_000)).status_code == 200
        assert proxy.post(asking("y" * 100_001)).status_code == 413
        assert len(proxy.upstream.asked) == 1


def test_what_cannot_be_stored_before_the_server_ends_is_counted(tmp_path: Path) -> None:
    with proxied(tmp_path) as proxy:
        proxy.upstream.says(*streamed(delta("Stored."), DONE))
        proxy.post(asking("First.", stream=True), x_raw_rag_session="s")
        proxy.captured("s", 2)
        with closing(sqlite3.connect(proxy.home.store / "raw_rag.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for n in range(3):
                proxy.post(asking(f"Lost {n}.", stream=True), x_raw_rag_session="s")
            assert proxy.served.end() == 0
            other.execute("ROLLBACK")
        status = proxy.home.read("status")
        assert (status["llm_calls"]["proxy"], status["capture_errors"]) == (4, 3)
        assert "the server ended" in str(status["problems"])
