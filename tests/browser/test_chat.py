"""Chatting on the page: an answer is seen while it comes, and both sides are kept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

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


def test_a_new_chat_while_words_stream_leaves_nothing_of_the_old_one(visit: Come, token: str, talk: Talk) -> None:
    page = visit().open("#/chat", token)
    asking(page, "hold")
    page.get_by_label("Message").fill("slowly please")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log").get_by_role("article").nth(1)).to_contain_text("You")
    page.get_by_role("button", name="New chat").click()
    expect(page.get_by_label("Message")).to_be_focused()
    expect(page.get_by_role("log").get_by_role("article")).to_have_count(0)
    talk.wait_left()
    page.unroute_all()
    page.get_by_label("Message").fill("Another thing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log").get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("log")).to_contain_text("You said: Another thing")
    expect(page.get_by_role("log")).not_to_contain_text("slowly")


@pytest.mark.parametrize("model", ["hold", "500"])
def test_after_a_stop_or_an_error_the_talk_goes_on_in_its_session(visit: Come, token: str, model: str) -> None:
    page = visit(expected=("status of 5",)).open("#/chat", token)
    asking(page, model)
    page.get_by_label("Message").fill("First question")
    page.keyboard.press("Enter")
    if model == "hold":
        expect(page.get_by_role("log").get_by_role("article").nth(1)).to_contain_text("You")
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("broke off")).to_be_visible()
    else:
        expect(page.get_by_role("alert")).to_be_visible()
    page.unroute_all()
    page.get_by_label("Message").fill("Second question")
    page.keyboard.press("Enter")
    answer = re.compile(r"You said: .*Second question", re.DOTALL)  # two questions without an answer are asked as one
    expect(page.get_by_role("log")).to_contain_text(answer)
    page.get_by_role("link", name="Open as a session").click()
    expect(page.get_by_role("article").filter(has_text="First question").first).to_be_visible()
    expect(page.get_by_role("article").filter(has_text=answer)).to_be_visible()


def asking(page: Page, model: str) -> None:
    """Let the page ask another model than it says."""
    page.route(
        re.compile("/chat$"),
        lambda route: route.continue_(post_data={**route.request.post_data_json, "model": model}),
    )


def test_a_model_that_breaks_off_is_said_to_have(visit: Come, token: str) -> None:
    page = visit(expected=("status of 5",)).open("#/chat", token)
    asking(page, "500")
    page.get_by_label("Message").fill("hello?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("500")


@pytest.mark.line("G7")
def test_words_are_shown_before_the_answer_has_ended(visit: Come, token: str, talk: Talk) -> None:
    """The last of these tests: what is released once is not held again."""
    page = visit().open("#/chat", token)
    expect(page.get_by_label("Model")).to_contain_text("echo")
    asking(page, "hold")
    page.get_by_label("Message").fill("slowly please")
    page.keyboard.press("Enter")
    answer = page.get_by_role("log").get_by_role("article").nth(1)
    expect(answer).to_contain_text("You")
    expect(answer).not_to_contain_text("slowly")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    talk.release()
    expect(answer).to_contain_text("You said: slowly please")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
