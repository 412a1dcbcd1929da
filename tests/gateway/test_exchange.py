"""An exchange that went by -> what is captured of it."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from agent_raw_rag.errors import ConfigError, NotFoundError, UpstreamError
from agent_raw_rag.gateway.exchange import Exchange, captures, heard, session_of
from agent_raw_rag.gateway.forms import OPENAI
from agent_raw_rag.gateway.frames import LONGEST
from agent_raw_rag.gateway.shapes import Asked, Message, Said
from agent_raw_rag.gateway.upstream import Upstream, chosen, headers_down, headers_up
from agent_raw_rag.memory.raw import MOST_CONTENT
from agent_raw_rag.models import Capture, Role


def told(*texts: str, said: str = "", **more: object) -> list[Capture]:
    """What is captured of a conversation whose last message is the user's."""
    messages = tuple(Message(("user", "assistant")[n % 2], text) for n, text in enumerate(texts))
    ended = Said(said, **{"ended": True, **more})  # type: ignore[arg-type]
    return captures(Exchange(Asked("m", False, messages), ended, "s", False, 1, 2))  # type: ignore[arg-type]


def key(one: Capture) -> tuple[object, ...]:
    assert one.host_turn_id
    return one.session, one.role, one.host_turn_id


def test_the_last_words_of_the_user_and_the_answer_are_captured() -> None:
    user, said = told("Old.", "Said.", "New?", said="Yes.", model="tiny")
    assert (user.content, user.role, user.partial, user.time) == ("New?", Role.USER, False, 1)
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


def test_an_error_in_an_answer_and_what_of_it_was_not_read_make_it_partial() -> None:
    assert told("A?", said="half", error="overloaded")[1].partial
    for more in ({"missing": "too long"}, {"ended": False}, {"finish": "length"}, {"finish": "max_tokens"}):
        assert [one.partial for one in told("A?", said="half", **more)] == [False, True]


def test_what_is_longer_than_a_capture_is_cut_after_a_word_and_partial() -> None:
    long = "word " * (MOST_CONTENT // 5 + 1)
    for asked, said in ((long, "short"), ("short", long), (long, long)):
        captured = told(asked, said=said)
        assert [one.partial for one in captured] == [asked is long, said is long]
        assert all(
            len(one.content) <= MOST_CONTENT and long.startswith(one.content.rstrip("short")) for one in captured
        )
    assert len(told("x" * (MOST_CONTENT + 1))[0].content) == MOST_CONTENT
    assert told("x" * MOST_CONTENT)[0] == replace(told("x" * MOST_CONTENT)[0], partial=False)
    secret = "sk-" + "a" * 20
    assert secret[:8] not in told("x" * (MOST_CONTENT - 11) + " " + secret)[0].content


def test_a_frame_that_is_too_long_is_missing_and_what_came_beside_it_is_read() -> None:
    frame = b'data: {"choices": [{"index": 0, "delta": {"content": "%b"}}]}\n\n'
    said = heard(OPENAI, [frame % b"before ", frame % (b"x" * LONGEST), frame % b"after"])
    assert (said.text, said.missing) == ("before after", "1 frames of an answer were too long")


def test_a_session_follows_from_who_asks_and_how_it_began() -> None:
    first = Asked("m", False, (Message("system", "s"), Message("user", "a")))
    more = Asked("other", True, (*first.messages, Message("assistant", "b"), Message("user", "c")))
    assert session_of(first, None, "one") == session_of(more, None, "one") != session_of(first, None, "two")
    clocks = [Asked("m", False, (Message("system", f"You help. It is 12:{n}."), Message("user", "a"))) for n in (1, 2)]
    assert session_of(clocks[0], None, "one") == session_of(clocks[1], None, "one") != session_of(first, None, "one")
    assert session_of(first, "mine", "one") == "mine"
    assert len(session_of(first, "x" * 10_000, "one")) < 200
    assert session_of(Asked("m", False, (Message("user", "\ud800"),)), None, "one").startswith("proxy-")


def test_a_packed_answer_is_read_and_of_one_that_cannot_be_it_is_said() -> None:
    body = json.dumps({"choices": [{"message": {"content": "Hi"}}]}).encode()
    assert (
        heard(OPENAI, [gzip.compress(body)], "GZIP")
        == heard(OPENAI, [b"\xef\xbb\xbf" + body])
        == Said("Hi", ended=True)
    )
    assert heard(OPENAI, [body], "br").missing == "an answer is packed as 'br'"
    assert heard(OPENAI, [body], "gzip").missing == "an answer is no gzip"


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
            (b"x-forwarded-for", b"10.0.0.1"), (b"x-real-ip", b"10.0.0.1"), (b"forwarded", b"for=10.0.0.1"),
            (b"access-control-request-method", b"POST"), (b"cookie", b"c"), (b"authorization", b"Bearer rrt_x"),
            (b"x-kept", b"1"), (b"x-odd", b"has rrt_x in it")]  # fmt: skip
    up = dict(headers_up(Upstream("one", "http://a"), sent, "key", "rrt_x"))
    assert up == {b"x-kept": b"1", b"accept-encoding": b"identity", b"authorization": b"Bearer key"}
    down = headers_down(
        [(b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"3"), (b"X-Session-Id", b"x"), (b"Retry-After", b"1"),
         (b"Set-Cookie", b"a=b"), (b"Access-Control-Allow-Origin", b"*"), (b"Strict-Transport-Security", b"max-age=9")]
    )  # fmt: skip
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
