"""One browser, one server and one filled home for all tests of the page; what no page may do is watched in each."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

from tests.browser.filled import fill
from tests.servers.memory_http import Home, Served, serving
from tests.servers.talking import Talk, talking_server

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip
expect.set_options(timeout=20_000)
EVERYTHING = "read,write,curate,chat,admin"


@dataclass(frozen=True)
class Screen:
    """What somebody looks at the page with."""

    width: int
    scheme: str

    @property
    def height(self) -> int:
        return 900 if self.width > 600 else 844

    def __str__(self) -> str:
        return f"{self.width}-{self.scheme}"


SCREENS = [Screen(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]


@dataclass
class Visitor:
    """A tab with the page in it, and what it did wrong."""

    page: Page
    url: str
    screen: Screen
    expected: tuple[str, ...] = ()
    """Parts of console messages that the test provokes."""
    wrong: list[str] = field(default_factory=list)

    def open(self, address: str = "#/", token: str | None = None) -> Page:
        """Go to an address of the page, as somebody who has signed in with this token."""
        if token is not None:
            self.page.add_init_script(f"if (location.port) sessionStorage.setItem('raw-rag-token', '{token}')")
        self.page.goto(f"{self.url}/{address}")
        return self.page

    def shoot(self, name: str) -> None:
        """Keep a picture, for people to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(SCREENSHOTS / f"{name}-{self.screen}.png"))

    def heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(part in message.text for part in self.expected):
            self.wrong.append(f"console: {message.text} ({message.location['url']})")

    def asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/", "data:", f"blob:{self.url}/")):
            self.wrong.append(f"left its origin: {request.url}")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ends with the tests of this folder: as long as it is there, no test can run an event loop of its own."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield found
        found.close()


@pytest.fixture(scope="package")
def talk() -> Iterator[Talk]:
    """The model that chats ask; it holds its answer after a word, until it is released."""
    with talking_server() as root:
        yield Talk(root)


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory, talk: Talk) -> Iterator[Served]:
    home = Home(fill(tmp_path_factory.mktemp("page"), talk.config()))
    home.token("first")
    with serving(home) as running:
        yield running


@pytest.fixture(scope="package")
def token(served: Served) -> str:
    return served.home.token("reader", scope=EVERYTHING)


@pytest.fixture
def visit(browser: Browser, served: Served) -> Iterator[Callable[..., Visitor]]:
    """A visitor with a screen. None may leave the origin, complain in the console or scroll sideways."""
    contexts: list[tuple[BrowserContext, Visitor]] = []

    def come(screen: Screen = SCREENS[0], expected: tuple[str, ...] = ()) -> Visitor:
        context = browser.new_context(
            viewport={"width": screen.width, "height": screen.height}, color_scheme=screen.scheme,  # type: ignore[arg-type]
            locale="en-GB", timezone_id="UTC", reduced_motion="reduce", accept_downloads=True,
            permissions=["clipboard-read", "clipboard-write"],
        )  # fmt: skip
        page = context.new_page()
        page.set_default_timeout(20_000)
        visitor = Visitor(page, served.url, screen, expected)
        page.on("console", visitor.heard)
        page.on("pageerror", lambda error: visitor.wrong.append(f"error: {error}"))
        context.on("request", visitor.asked)
        contexts.append((context, visitor))
        return visitor

    yield come
    for context, visitor in contexts:
        context.close()
        assert visitor.wrong == []
