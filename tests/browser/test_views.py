"""Every view's main path, on a laptop and a phone, light and dark: it works, it fits, and anybody can use it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import SCREENS, Screen, Visitor
from tests.browser.filled import LONG

pytestmark = pytest.mark.process
SAMPLE = "#/search?q=why+did+we+drop+the+retry+in+the+uploader%3F"


def search(page: Page) -> None:
    results = page.get_by_role("region", name="Results")
    expect(page.get_by_role("status").filter(has_text=re.compile(r"^\d+ passages? in \d+ ms$"))).to_be_visible()
    expect(results.locator("mark").first).to_be_visible()
    first = results.get_by_role("article").first
    first.get_by_role("button", name="Scores").click()
    expect(first.get_by_role("table")).to_contain_text("lexical")
    expect(first.get_by_role("link", name="Open session here")).to_be_visible()


def recent(page: Page) -> None:
    expect(page.get_by_role("heading", name="Latest sessions")).to_be_visible()
    expect(page.get_by_role("link", name="What we settled")).to_be_visible()


def session(page: Page) -> None:
    expect(page.get_by_role("heading", name="Duplicate photos after the upload retry")).to_be_visible()
    expect(page.get_by_role("article", name="Turn 1, user")).to_be_visible()
    expect(page.get_by_role("navigation", name="Sessions that belong together")).to_contain_text("sub-agent")
    folded = page.get_by_text("3 actions")
    folded.click()
    expect(page.get_by_role("group", name="Actions").first).to_contain_text("git log")


def long_session(page: Page) -> None:
    expect(page.get_by_role("article", name="Turn 250, assistant")).to_be_in_viewport()
    expect(page.get_by_text("Turns 201–400 · 450 in all").first).to_be_visible()
    page.get_by_role("link", name="Later →").first.click()
    expect(page.get_by_role("article", name="Turn 450, assistant")).to_be_visible()


def timeline(page: Page) -> None:
    calendar = page.get_by_role("slider", name=re.compile("^Days, by turns"))
    before = calendar.get_attribute("aria-valuetext")
    calendar.focus()
    calendar.press("ArrowUp")
    expect(calendar).not_to_have_attribute("aria-valuetext", before or "")
    expect(page.get_by_role("heading", name=re.compile(r"\d+ turns$"))).to_be_visible()
    expect(page.get_by_role("slider", name=re.compile("^Turns by agent"))).to_be_visible()
    page.get_by_text("As a table").click()
    expect(page.get_by_role("region", name="Days as a table").get_by_role("row").nth(5)).to_be_visible()
    expect(page.get_by_role("heading", name="What was learned when")).to_be_visible()


def notes(page: Page) -> None:
    first = page.get_by_role("listitem").filter(has_text="release window is Tuesday").first
    first.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("textbox", name="The note")).to_have_value("The release window is Tuesday morning.")
    page.get_by_role("button", name="Cancel").click()


def candidates(page: Page) -> None:
    first = page.get_by_role("listitem").filter(has_text="read-only on weekends").first
    first.get_by_text("Evidence (1)").click()
    expect(first.get_by_role("link", name="Open session here")).to_be_visible()
    expect(first.get_by_role("button", name="Promote")).to_be_visible()


def status(page: Page) -> None:
    expect(page.get_by_role("heading", name="Stored")).to_be_visible()
    expect(page.get_by_role("region", name="Sources").first.get_by_role("row").nth(5)).to_be_visible()
    expect(page.get_by_role("region", name="Tokens").first).to_contain_text("reader")


def journal(page: Page) -> None:
    expect(page.get_by_role("listitem").filter(has_text="token_create").first).to_be_visible()


def forget(page: Page) -> None:
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_role("heading", name=re.compile(r"turns in \d+ sessions would go"))).to_be_visible()
    last = page.get_by_role("button", name=re.compile("for good$"))
    expect(last).to_be_disabled()
    page.get_by_label(re.compile("^Type")).fill("forget")
    expect(last).to_be_enabled()


VIEWS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "recent": ("#/", recent),
    "search": (SAMPLE, search),
    "session": ("#/session/claude%3A7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001", session),
    "long": (f"#/session/{LONG.replace(':', '%3A')}?turn=250", long_session),
    "timeline": ("#/timeline", timeline),
    "notes": ("#/notes", notes),
    "candidates": ("#/notes?show=candidates", candidates),
    "status": ("#/status", status),
    "journal": ("#/journal", journal),
    "forget": ("#/forget?project=%2Fhome%2Fdev%2Fbilling-api", forget),
}


@pytest.mark.parametrize("screen", SCREENS, ids=str)
@pytest.mark.parametrize("name", VIEWS)
def test_the_main_path_of_each_view_works_fits_and_is_accessible(
    visit: Callable[..., Visitor], token: str, name: str, screen: Screen
) -> None:
    address, walk = VIEWS[name]
    visitor = visit(screen)
    page = visitor.open(address, token)
    page.wait_for_load_state("networkidle")
    visitor.shoot(name)
    walk(page)
    visitor.shoot(f"{name}-after")
    check(page)


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_form_for_a_token_fits_and_is_accessible(visit: Callable[..., Visitor], screen: Screen) -> None:
    visitor = visit(screen)
    page = visitor.open()
    expect(page.get_by_label("Token")).to_be_focused()
    visitor.shoot("login")
    check(page)


def check(page: Page) -> None:
    """No sideways scrolling, no fault for those who cannot see or point, nothing too small for a finger."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelectorAll('h1').length") == 1
    found = Axe().run(page).response["violations"]
    bad = [(one["id"], [node["html"][:150] for node in one["nodes"]]) for one in found]
    assert bad == []
    if page.viewport_size and page.viewport_size["width"] < 600:
        small = page.evaluate(
            """[...document.querySelectorAll("main button, main input, main select, main summary, header button, summary")]
            .map(one => [one.outerHTML.slice(0, 90), one.getBoundingClientRect().height])
            .filter(([, height]) => height > 0 && height < 44)"""
        )
        assert small == []
