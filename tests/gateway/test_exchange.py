"""An exchange that went by -> what is captured of it."""

from __future__ import annotations

import gzip
import json

import pytest

from agent_raw_rag.errors import ConfigError, NotFoundError, UpstreamError
from agent_raw_rag.gateway.exchange import Exchange, captures, heard, session_of
from agent_raw_rag.gateway.forms import OPENAI
from agent_raw_rag.gateway.shapes import Asked, Message, Said
from agent_raw_rag.gateway.upstream import Upstream, chosen, headers_down, headers_up
from agent_raw_rag.models import Capture, Role


def told(*texts: str, said: str = "", **more: object) -> list[Capture]:
    """What is captured of a conversation whose last message is the user's."""
    messages = tuple(Message(("user", "assistant")[n % 2], text) for n, text in enumerate(texts))
    return captures(Exchange(Asked("m", False, messages), Said(said, **more), "s", False, 1, 2))  # type: ignore[arg-type]


def key(one: Capture) -> tuple[object, ...]:
    return one.session, one.role, one.host_turn_id or (one.content, one.repeat)


def test_the_last_words_of_the_user_and_the_answer_are_captured() -> None:
    user, said = told("Old.", "Said.", "New?", said="Yes.", model="tiny")
    assert (user.content, user.role, user.repeat, user.time) == ("New?", Role.USER, 1, 1)
    assert (said.content, said.role, said.author, said.time, said.partial) == ("Yes.", Role.ASSISTANT, "tiny", 2, False)


def test_an_answer_of_tools_alone_and_one_of_nothing_keep_the_question() -> None:
    assert [one.content for one in told("Look.", calls=("[bash] ls",))] == ["Look.", "[bash] ls"]
    assert [one.content for one in told("Look.")] == ["Look."]
    assert told(said="") == []


def test_the_same_request_gives_the_same_turns_and_the_same_words_later_give_others() -> None:
    once, again = told("yes", said="ok"), told("yes", said="ok")
    later = told("yes", "ok", "yes", said="ok")
    assert [key(one) for one in once] == [key(one) for one in again]
    assert not {key(one) for one in once} & {key(one) for one in later}


def test_two_questions_that_get_the_same_answer_get_two_though_no_history_is_sent() -> None:
    assert len({key(one) for one in (*told("A?", said="ok"), *told("B?", said="ok"))}) == 4


def test_an_error_in_an_answer_makes_it_partial() -> None:
    assert told("A?", said="half", error="overloaded")[1].partial


def test_a_session_follows_from_who_asks_and_how_it_began() -> None:
    first = Asked("m", False, (Message("system", "s"), Message("user", "a")))
    more = Asked("other", True, (*first.messages, Message("assistant", "b"), Message("user", "c")))
    assert session_of(first, None, "one") == session_of(more, None, "one") != session_of(first, None, "two")
    assert session_of(first, "mine", "one") == "mine"
    assert len(session_of(first, "x" * 10_000, "one")) < 200
    assert session_of(Asked("m", False, (Message("user", "\ud800"),)), None, "one").startswith("proxy-")


def test_a_packed_answer_is_read_and_one_that_cannot_be_is_an_error() -> None:
    body = json.dumps({"choices": [{"message": {"content": "Hi"}}]}).encode()
    assert heard(OPENAI, gzip.compress(body), "GZIP").text == "Hi"
    for encoding in ("br", "gzip"):
        with pytest.raises(ValueError, match=r"packed|no gzip"):
            heard(OPENAI, body, encoding)


def test_an_upstream_is_found_by_name_by_form_and_by_model() -> None:
    one, two, three = (
        Upstream("one", "http://a", models=("gpt-*",)),
        Upstream("two", "http://b"),
        Upstream("three", "http://c", "anthropic"),
    )
    every = [one, two, three]
    assert chosen(every, "openai", "gpt-9") is one
    assert chosen(every, "openai", "") is chosen(every, "openai", "GPT-9") is two
    assert chosen([one], "openai", "other") is one
    assert chosen(every, "anthropic", "gpt-9") is three
    assert chosen(every, "anthropic", "x", named="one") is one
    for fail in (lambda: chosen(every, "openai", "", named="four"), lambda: chosen([one], "anthropic", "")):
        with pytest.raises(NotFoundError):
            fail()


def test_what_concerns_one_connection_and_what_is_ours_does_not_go_on() -> None:
    sent = [(b"connection", b"close, x-hop"), (b"x-hop", b"1"), (b"te", b"trailers"), (b"x-raw-rag-space", b"s"),
            (b"cookie", b"c"), (b"authorization", b"Bearer rrt_x"), (b"x-kept", b"1"),
            (b"x-odd", b"has rrt_x in it")]  # fmt: skip
    up = dict(headers_up(Upstream("one", "http://a"), sent, "key", "rrt_x"))
    assert up == {b"x-kept": b"1", b"accept-encoding": b"identity", b"authorization": b"Bearer key"}
    down = headers_down(
        [(b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"3"), (b"X-Session-Id", b"x"), (b"Retry-After", b"1")]
    )
    assert down == [(b"retry-after", b"1")]


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "ä"])
def test_a_key_that_is_none_is_told_by_its_variable_and_not_shown(key: str) -> None:
    with pytest.raises(UpstreamError, match="THE_KEY") as raised:
        Upstream("one", "http://a", key_variable="THE_KEY").key({"THE_KEY": key})
    assert not key.strip() or key not in str(raised.value)


def test_an_address_that_is_none_is_an_error() -> None:
    for url in ("http://", "ftp://a", "http://a:b", "http://u:p@a"):
        with pytest.raises(ConfigError):
            _ = Upstream("one", url).root
