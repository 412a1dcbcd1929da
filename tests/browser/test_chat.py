"""Chatting on the page: an answer is seen while it comes, and both sides are kept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SCREENS, Screen, Visitor
from tests.browser.test_views import check
from tests.servers.talking import Talk

pytestmark = pytest.mark.process
Come = Callable[..., Visitor]


@pytest.mark.line("G7")
@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_a_reply_is_streamed_and_the_talk_goes_on(visit: Come, token: str, screen: Screen) -> None:
    visitor = visit(screen)
    page = visitor.open("#/chat", token)
    page.get_by_label("Message").fill("When is the release window? <b>now</b>")
    page.keyboard.press("Enter")
    log = page.get_by_role("log")
    expect(log.get_by_role("article").nth(1)).to_contain_text("You said: When is the release window? <b>now</b>")
    expect(page.get_by_role("link", name="Open as a session")).to_be_visible()
    page.get_by_label("Message").fill("And why?")
    page.get_by_role("button", name="Send").click()
    expect(log.get_by_role("article").nth(3)).to_contain_text("You said: And why?")
    visitor.shoot("chat")
    check(page)
    page.get_by_role("link", name="Open as a session").click()
    expect(page.get_by_role("article", name="Turn 4, assistant")).to_contain_text("You said: And why?")


@pytest.mark.line("G7")
def test_words_are_shown_before_the_answer_has_ended(visit: Come, token: str, talk: Talk) -> None:
    page = visit().open("#/chat", token)
    expect(page.get_by_label("Model")).to_contain_text("echo")
    page.route(
        re.compile("/chat$"),
        lambda route: route.continue_(post_data={**route.request.post_data_json, "model": "hold"}),
    )
    page.get_by_label("Message").fill("slowly please")
    page.keyboard.press("Enter")
    answer = page.get_by_role("log").get_by_role("article").nth(1)
    expect(answer).to_contain_text("You")
    expect(answer).not_to_contain_text("slowly")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    talk.release()
    expect(answer).to_contain_text("You said: slowly please")
    expect(page.get_by_role("button", name="Send")).to_be_visible()


def test_a_model_that_breaks_off_is_said_to_have(visit: Come, token: str) -> None:
    page = visit(expected=("status of 5",)).open("#/chat", token)
    page.route(
        re.compile("/chat$"),
        lambda route: route.continue_(post_data={**route.request.post_data_json, "model": "500"}),
    )
    page.get_by_label("Message").fill("hello?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("500")
