"""What both forms have in common: nothing that comes raises, and cutting changes nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.gateway.forms import ANTHROPIC, FORMS, OPENAI, Form, form_of_path
from agent_raw_rag.gateway.frames import Frame, frames_of
from agent_raw_rag.gateway.shapes import Message, Said
from tests.gateway.test_frames import cut

KEYS = st.sampled_from(["model", "stream", "system", "messages", "role", "content", "type", "text", "choices", "index", "delta",
                        "message", "tool_calls", "function", "name", "arguments", "input", "finish_reason", "usage", "error",
                        "prompt_tokens", "content_block", "partial_json", "stop_reason", "refusal", "output_tokens"])  # fmt: skip
WORDS = st.sampled_from(["text", "user", "assistant", "system", "tool", "tool_use", "tool_result", "image", "content_block_start",
                         "content_block_delta", "text_delta", "bash", "message_start", "message_delta", "error", "image_url",
                         "input_json_delta", "thinking", "function", "raw_rag_search"])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)
ANY = st.one_of(JSON.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60))
form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)

OPENAI_STREAM = b"".join(
    b"data: " + json.dumps(one).encode() + b"\r\n\r\n"
    for one in [
        {"model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Héllo"}}]},
        {"choices": [{"index": 1, "delta": {"content": "other"}}, {"index": 0, "delta": {"content": " 你好"}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "bash", "arguments": ""}}]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"command": "l'}}]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": 's -l"}'}}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}},
    ]
) + b"data: [DONE]\r\n\r\n"  # fmt: skip
ANTHROPIC_STREAM = b"".join(
    f"event: {one['type']}\ndata: {json.dumps(one, ensure_ascii=False)}\n\n".encode()
    for one in [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hidden"}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Héllo"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": " 你好"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "name": "Bash", "input": {}}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"command": "l'}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": 's -l"}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    ]
)  # fmt: skip


def heard(form: Form, pieces: list[bytes]) -> tuple[Said, str]:
    """What was said, and what was to be read as it came."""
    hearing = form.hearing()
    read = "".join([hearing.frame(frame) for frame in frames_of(pieces)])
    return hearing.said, read


@form
@given(data=ANY)
def test_no_body_raises(form: Form, data: bytes) -> None:
    form.asked(data)
    hearing = form.hearing()
    hearing.whole(data)
    hearing.frame(Frame(data.decode("utf-8", "replace")))
    assert isinstance(hearing.said.words, str)


@given(st.lists(st.integers(0, 10_000), max_size=12))
def test_however_an_openai_stream_is_cut_it_says_the_same(places: list[int]) -> None:
    said, read = heard(OPENAI, cut(OPENAI_STREAM, places))
    assert said == Said("Héllo 你好", "", ("[bash] ls -l",), "m", "tool_calls", None, True)
    assert read == "Héllo 你好"


@given(st.lists(st.integers(0, 10_000), max_size=12))
def test_however_an_anthropic_stream_is_cut_it_says_the_same(places: list[int]) -> None:
    said, read = heard(ANTHROPIC, cut(ANTHROPIC_STREAM, places))
    assert said == Said("Héllo 你好", "", ("[Bash] ls -l",), "m", "tool_use", None, True)
    assert read == "Héllo 你好"


@form
def test_a_stream_that_is_cut_has_said_what_came_and_has_not_ended(form: Form) -> None:
    data = OPENAI_STREAM if form is OPENAI else ANTHROPIC_STREAM
    said, _ = heard(form, [data[: data.index("你好".encode() if form is ANTHROPIC else b"\\u4f60")]])
    assert (said.text, said.ended) == ("Héllo", False)


@form
def test_an_error_frame_of_ours_is_read_as_an_error(form: Form) -> None:
    said, read = heard(form, [form.error_frame("It went away.")])
    assert (said.error, said.ended, read) == ("It went away.", False, "")


@form
def test_a_request_that_we_make_asks_for_what_it_was_made_of(form: Form) -> None:
    told = [Message("system", "Be brief."), Message("user", "One?"), Message("assistant", "1"), Message("user", "Two?")]
    request = form.request("m", told, max_tokens=9, stream=True)
    asked = form.asked(request.body)
    assert (request.path, asked.model, asked.stream, list(asked.messages)) == (form.path, "m", True, told)
    assert json.loads(request.body)["max_tokens"] == 9


def test_messages_of_one_role_become_one_where_the_form_wants_them_in_turn() -> None:
    told = [Message("user", "a"), Message("user", "b")]
    assert ANTHROPIC.asked(ANTHROPIC.request("m", told, max_tokens=9, stream=False).body).last_user == "a\n\nb"


@pytest.mark.parametrize(
    ("path", "form"),
    [("/v1/messages", ANTHROPIC), ("/v1/messages/count_tokens", ANTHROPIC), ("/v1/messagesx", OPENAI),
     ("/v1/chat/completions", OPENAI), ("/v1/models", OPENAI)],
)  # fmt: skip
def test_a_path_belongs_to_a_form(path: str, form: Form) -> None:
    assert form_of_path(path) is form


def test_what_the_host_reminds_of_is_not_what_the_user_says() -> None:
    def said(*parts: str) -> list[str]:
        content = [{"type": "tool_result", "content": "x"}, *({"type": "text", "text": part} for part in parts)]
        asked = ANTHROPIC.asked(json.dumps({"messages": [{"role": "user", "content": content}]}).encode())
        return [one.text for one in asked.messages]

    reminder = "<system-reminder>\nBe brief.\n</system-reminder>"
    assert said(reminder) == said(f"{reminder}\n{reminder}") == []
    assert said(reminder, "Why?") == ["Why?"]
    assert said(f"{reminder} Why? {reminder}") == [f"{reminder} Why? {reminder}"]
    alone = json.dumps({"messages": [{"role": "user", "content": reminder}]}).encode()
    assert ANTHROPIC.asked(alone).messages == ()
