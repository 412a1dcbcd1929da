"""What people do with the page: coming in, searching, reading, deciding, forgetting; by keyboard too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import SCREENS, Visitor
from tests.browser.filled import GAPS, HOSTILE_TEXT, LONG, PASTED
from tests.servers.memory_http import Served

pytestmark = pytest.mark.process
Come = Callable[..., Visitor]
PHONE = SCREENS[2]
REFUSED = ("status of 401",)


# ---------------------------------------------------------------- coming in


def test_a_wrong_token_is_refused_with_what_to_do_and_a_good_one_comes_in(visit: Come, token: str) -> None:
    page = visit(expected=REFUSED).open()
    page.get_by_label("Token").fill("rrt_" + "x" * 43)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("token")
    page.get_by_label("Token").fill(token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Latest sessions")).to_be_visible()
    assert token not in page.evaluate("JSON.stringify([localStorage, document.cookie, location.href])")


def test_a_link_comes_in_once_and_leaves_neither_address_nor_history(visit: Come, served: Served) -> None:
    port = served.url.rpartition(":")[2]
    said = served.home.command("web", "--no-open", "--port", port).stdout
    link = next(word for word in said.split() if "#login=" in word)
    visitor = visit(expected=REFUSED)
    page = visitor.page
    page.goto(link)
    expect(page.get_by_role("heading", name="Latest sessions")).to_be_visible()
    assert "login" not in page.url
    page.go_back()
    assert "login" not in page.url
    again = visit(expected=REFUSED).page
    again.goto(link)
    expect(again.get_by_role("alert")).to_contain_text("raw-rag web prints a new one")
    expect(again.get_by_label("Token")).to_be_visible()


def test_signing_out_forgets_the_token(visit: Come, token: str) -> None:
    page = visit(expected=("status of 4",)).open(token=token)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_token_that_may_only_read_is_told_what_it_may_not(visit: Come, served: Served) -> None:
    secret = served.home.token("only-reads", scope="read")
    page = visit().open("#/notes?show=candidates", secret)
    expect(page.get_by_text("Candidates need a token with the scope “curate”")).to_be_visible()
    menu = page.get_by_role("navigation", name="Views")
    expect(menu.get_by_role("link")).to_have_text(["Search", "Timeline", "Notes", "Status"])
    expect(page.get_by_role("link", name="Candidates")).to_have_count(0)
    for view, scope in (("forget", "admin"), ("journal", "curate"), ("chat", "chat")):
        page = visit().open(f"#/{view}", secret)
        expect(page.get_by_text(f"This view needs a token with the scope “{scope}”. Yours has: read.")).to_be_visible()
        expect(page.get_by_role("region", name="What to do")).to_contain_text(f"--scope read,{scope}")


def test_a_token_that_ends_leads_back_to_the_form(visit: Come, served: Served) -> None:
    secret = served.home.token("short-lived")
    page = visit(expected=REFUSED).open(token=secret)
    expect(page.get_by_role("heading", name="Latest sessions")).to_be_visible()
    served.home.command("token", "revoke", "short-lived")
    page.get_by_role("link", name="Timeline").click()
    expect(page.get_by_label("Token")).to_be_visible()


# ---------------------------------------------------------------- what was said stays text


def test_the_policy_lets_nothing_in_that_is_not_the_pages_own(visit: Come, token: str) -> None:
    visitor = visit(expected=("Content Security Policy", "Trusted"))
    answer = visitor.page.goto(visitor.url)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'"):
        assert part in policy
    for attack in (
        "document.body.innerHTML = '<img src=x onerror=window.hacked=1>'",
        "const one = document.createElement('script'); one.textContent = 'window.hacked = 1'; document.body.append(one)",
        "const one = document.createElement('img'); one.setAttribute('onerror', 'window.hacked = 1'); one.src = 'data:,x'",
    ):
        visitor.page.evaluate(f"() => {{ try {{ {attack} }} catch {{ }} }}")
    assert visitor.page.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    "address", ["#/search?q=zeppelin+page", "#/session/mcp%3Ahostile", "#/", "#/timeline", "#/notes"]
)
def test_markup_and_script_in_what_was_said_stay_text(visit: Come, token: str, address: str) -> None:
    page = visit().open(address, token)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main script, main img, main [onerror], main [onload], main a[href^='javascript']").count() == 0
    if "zeppelin" in address or "hostile" in address:
        expect(page.get_by_text("<script>window.hacked = 1</script>").first).to_be_visible()
        expect(page.get_by_role("group", name="Code, html")).to_have_text("<script>window.hacked = 4</script>")


def test_a_pasted_log_stays_what_somebody_said_and_an_assistants_actions_are_folded(visit: Come, token: str) -> None:
    for address in (f"#/session/{PASTED.replace(':', '%3A')}", "#/search?q=quokka+file"):
        page = visit().open(address, token)
        expect(page.get_by_text("[ERROR] cannot open the quokka file").first).to_be_visible()
        expect(page.get_by_text("[INFO] gave up").first).to_be_visible()
        done = page.get_by_role("group", name="Actions").filter(has_text="src/quokka.py")
        if "session" in address:
            page.get_by_text("2 actions").click()
        expect(done).to_contain_text("no rule to make it")
        assert page.locator("details", has_text="cannot open the quokka").count() == 0


# ---------------------------------------------------------------- searching and reading


def test_it_is_said_that_a_search_goes_on_before_there_is_an_answer(visit: Come, token: str) -> None:
    page = visit().open(token=token)
    held: list[Route] = []
    page.route(re.compile("/passages$"), lambda route: held.append(route))
    page.get_by_role("searchbox").fill("cache")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Searching…")
    expect(page.get_by_role("status")).to_contain_text("waits for the models to be loaded")
    held[0].continue_()
    expect(page.get_by_role("status")).to_contain_text("passages in")


@pytest.mark.parametrize("query", ["idempotency-key", "a/b (c) [d] {e} *+?.^$|\\ -- retry", "🐘 - retry"])
def test_no_sign_in_a_question_breaks_the_page(visit: Come, token: str, query: str) -> None:
    page = visit().open(token=token)
    page.get_by_role("searchbox").fill(query)
    page.keyboard.press("Enter")
    expect(page.get_by_role("article").first).to_be_visible()


def test_a_view_that_breaks_says_so_and_the_menu_leads_on(visit: Come, token: str) -> None:
    page = visit().open(token=token)
    page.route(re.compile("/timeline$"), lambda route: route.fulfill(json={"zone": "UTC", "days": None, "learned": []}))
    page.get_by_role("link", name="Timeline").click()
    expect(page.get_by_role("alert")).to_contain_text("This is a fault of the page")
    page.get_by_role("link", name="Status").click()
    expect(page.get_by_role("heading", name="Stored")).to_be_visible()


def test_a_session_is_read_and_jumped_through_across_forgotten_turns(visit: Come, token: str) -> None:
    page = visit().open(f"#/session/{GAPS.replace(':', '%3A')}", token)
    expect(page.get_by_text("Turns 1–100 · 150 in all").first).to_be_visible()
    page.get_by_role("link", name="Later →").first.click()
    expect(page.get_by_role("article", name="Turn 651, user")).to_be_visible()
    expect(page.get_by_text("Turns 651–700 · 150 in all").first).to_be_visible()
    page.get_by_role("link", name="← Earlier").first.click()
    expect(page.get_by_text("The turns of this page are forgotten.")).to_be_visible()
    page.get_by_label("Jump to exchange").fill("340")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article", name="Turn 679, user")).to_be_in_viewport()
    page.get_by_label("Jump to exchange").fill("100")
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is no exchange 100.")).to_be_visible()


def test_lags_of_single_sources_are_folded_in_the_status(visit: Come, token: str) -> None:
    lag = {"agent": "editor", "lag_seconds": 0.25, "waiting": 1, "failing": {"/logs/b.jsonl": "no permission"}}

    def running(route: Route) -> None:
        answer = route.fetch()
        daemon = {"running": True, "since": None, "lag": [{**lag, "sources": {"/logs/a.jsonl": 1.5}}]}
        route.fulfill(response=answer, json={**answer.json(), "daemon": daemon})

    page = visit().open(token=token)
    page.route(re.compile("/status$"), running)
    page.get_by_role("link", name="Status").click()
    expect(page.get_by_role("region", name="Lag of the daemon").first).to_contain_text("0.3 s")
    expect(page.get_by_text("1.5 s")).to_be_hidden()
    page.get_by_text("Single sources (2)").click()
    expect(page.get_by_text("1.5 s")).to_be_visible()
    expect(page.get_by_text("no permission")).to_be_visible()


def test_filters_narrow_a_search_and_stand_in_its_address(visit: Come, token: str) -> None:
    page = visit().open("#/search?q=cache", token)
    page.get_by_label("Project").select_option("/home/dev/billing-api")
    expect(page).to_have_url(re.compile("project=%2Fhome%2Fdev%2Fbilling-api"))
    expect(page.get_by_role("article").first).to_contain_text("billing-api")
    page.get_by_label("Until").fill("2020-01-01")
    page.get_by_label("Until").blur()
    expect(page.get_by_text("Nothing was found.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("article").first).to_be_visible()


def test_on_a_phone_filters_and_menu_are_folded(visit: Come, token: str) -> None:
    page = visit(PHONE).open(token=token)
    expect(page.get_by_label("Project")).to_be_hidden()
    page.get_by_text("Filters").click()
    expect(page.get_by_label("Project")).to_be_visible()
    page.get_by_text("Menu").click()
    page.get_by_role("link", name="Status").click()
    expect(page.get_by_role("heading", name="Status")).to_be_visible()


def test_everything_is_reached_by_keyboard(visit: Come, token: str) -> None:
    page = visit().open("#/status", token)
    expect(page.get_by_role("heading", name="Stored")).to_be_visible()
    keys = page.keyboard
    keys.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    keys.type("gt?retry jk")
    expect(page.get_by_role("searchbox")).to_have_value("gt?retry jk")
    keys.press("Enter")
    expect(page.get_by_role("article").first).to_be_visible()
    keys.press("Escape")
    keys.press("j")
    keys.press("j")
    expect(page.get_by_role("article").nth(1)).to_be_focused()
    keys.press("k")
    expect(page.get_by_role("article").first).to_be_focused()
    keys.press("c")
    expect(page.get_by_role("article").first.get_by_text("Copied")).to_be_visible()
    assert "[" in page.evaluate("navigator.clipboard.readText()")
    keys.press("o")
    expect(page).to_have_url(re.compile("#/session/.*turn="))
    expect(page.locator(".turn:focus")).to_have_count(1)
    for letter, title in (("t", "Timeline"), ("n", "Notes"), ("j", "Journal"), ("f", "Forget"), ("u", "Status")):
        keys.press("g")
        keys.press(letter)
        expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_session_is_walked_by_exchange_and_jumped_into(visit: Come, token: str) -> None:
    page = visit().open(f"#/session/{LONG.replace(':', '%3A')}", token)
    expect(page.get_by_role("article", name="Turn 1, user")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.get_by_role("article", name="Turn 3, user")).to_be_focused()
    page.get_by_label("Jump to exchange").fill("220")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("turn=439"))
    expect(page.get_by_role("article", name="Turn 439, user")).to_be_in_viewport()
    page.get_by_label("Jump to exchange").fill("9999")
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is no exchange 9999.")).to_be_visible()


def test_a_long_turn_is_folded_and_shown_whole_on_demand(visit: Come, token: str) -> None:
    page = visit().open(f"#/session/{LONG.replace(':', '%3A')}?turn=6", token)
    turn = page.get_by_role("article", name="Turn 6, assistant")
    expect(turn).not_to_contain_text("line 119")
    turn.get_by_role("button", name="Show all").click()
    expect(turn).to_contain_text("line 119")


@pytest.mark.parametrize("form", ["Markdown", "HTML", "JSON"])
def test_a_session_is_exported(visit: Come, token: str, tmp_path: Path, form: str) -> None:
    page = visit().open("#/session/mcp%3Ahostile", token)
    with page.expect_download() as coming:
        page.get_by_role("button", name=form).click()
    kept = tmp_path / "kept"
    coming.value.save_as(kept)
    text = kept.read_text(encoding="utf-8")
    assert "zeppelin" in text
    if form == "JSON":
        assert HOSTILE_TEXT.splitlines()[0] in json.dumps(json.loads(text), ensure_ascii=False).replace('\\"', '"')
    if form == "HTML":
        assert "<script>window" not in text


def test_a_session_that_is_not_there_says_so(visit: Come, token: str) -> None:
    page = visit(expected=("status of 404",)).open("#/session/mcp%3A..%2F..%2Fetc", token)
    expect(page.get_by_role("alert").first).to_be_visible()


def test_the_scheme_is_chosen_and_kept(visit: Come, token: str) -> None:
    page = visit().open(token=token)
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(paper)
    button = page.get_by_role("button", name=re.compile("^Theme"))
    button.click()
    button.click()
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    assert page.evaluate(paper) == dark


def test_another_space_is_picked_and_holds_its_own(visit: Come, token: str) -> None:
    page = visit().open(token=token)
    expect(page.get_by_role("link", name="What we settled")).to_be_visible()
    page.get_by_label("Space").select_option("garden")
    expect(page.get_by_text("No session is stored yet")).to_be_visible()


# ---------------------------------------------------------------- deciding and forgetting


def test_candidates_are_promoted_rejected_and_promoted_in_other_words(visit: Come, token: str) -> None:
    page = visit().open("#/notes?show=candidates", token)

    def card(words: str):  # type: ignore[no-untyped-def]
        return page.get_by_role("listitem").filter(has_text=words).filter(has=page.get_by_role("button"))

    card("512 pixels").get_by_role("button", name="Promote").click()
    expect(card("512 pixels")).to_have_count(0)
    card("offline key").get_by_role("button", name="Edit").click()
    page.get_by_label("In your words").fill("Every release is signed with the offline key.")
    with page.expect_response(re.compile("/promote$")):
        page.get_by_role("button", name="Promote", exact=True).first.click()
    expect(card("We agreed to sign")).to_have_count(0)
    page.get_by_role("navigation", name="What is shown").get_by_role("link", name="Notes").click()
    expect(page.get_by_text("Every release is signed with the offline key.")).to_be_visible()
    expect(page.get_by_text("We decided to keep thumbnails at 512 pixels")).to_be_visible()


def test_a_note_is_edited_and_deprecated(visit: Come, token: str, served: Served) -> None:
    served.home.command("save", "The mirror is synced at noon.", "--source", "me", "--kind", "fact")
    page = visit().open("#/notes", token)
    note = page.get_by_role("listitem").filter(has_text="The mirror is synced").filter(has=page.get_by_role("button"))
    note.get_by_role("button", name="Edit").click()
    page.get_by_label("The note").fill("The mirror is synced at midnight.")
    page.get_by_role("button", name="Save").click()
    changed = page.get_by_role("listitem").filter(has_text="synced at midnight").filter(has=page.get_by_role("button"))
    changed.get_by_role("button", name="Deprecate").click()
    changed.get_by_role("button", name="Deprecate for good").click()
    expect(page.get_by_text("The mirror is synced")).to_have_count(0)


def test_a_project_is_forgotten_after_its_preview_and_the_word(visit: Come, token: str) -> None:
    page = visit().open("#/forget", token)
    expect(page.get_by_role("button", name="Show what would go")).to_be_disabled()
    page.get_by_label("Project").select_option("/srv/infra")
    page.get_by_role("button", name="Show what would go").click()
    page.get_by_label(re.compile("^Type")).fill("forget")
    page.get_by_role("button", name=re.compile("for good$")).click()
    expect(page.get_by_text(re.compile(r"^Forgotten: \d+ turns in \d+ sessions"))).to_be_visible()
    page.goto(page.url.partition("#")[0] + "#/search?q=cache&project=%2Fsrv%2Finfra")
    expect(page.get_by_text("Nothing was found.")).to_be_visible()


def test_a_kept_session_is_said_to_stay(visit: Come, token: str, served: Served) -> None:
    served.home.command("keep", GAPS)
    page = visit().open("#/forget?project=%2Fhome%2Fdev%2Fbilling-api", token)
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_text("1 session that the filters mean too stays: it is kept")).to_be_visible()
    served.home.command("keep", "--off", GAPS)


def test_what_goes_is_what_was_shown_whatever_the_filters_became(visit: Come, token: str) -> None:
    page = visit().open("#/forget?project=%2Fhome%2Fdev%2Fbilling-api", token)
    page.goto(page.url.partition("#")[0] + "#/forget?project=%2Fhome%2Fdev%2Fgallery")
    page.get_by_role("button", name="Show what would go").click()
    page.get_by_label(re.compile("^Type")).fill("forget")
    page.go_back()
    expect(page.get_by_label("Project")).to_have_value("/home/dev/billing-api")
    expect(page.get_by_role("button", name=re.compile("for good$"))).to_have_count(0)
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_label(re.compile("^Type"))).to_have_value("")


def test_a_preview_that_comes_after_the_filters_changed_is_not_shown(visit: Come, token: str) -> None:
    page = visit().open("#/forget?project=%2Fhome%2Fdev%2Fgallery", token)
    held: list[Route] = []
    page.route(re.compile("/forget$"), lambda route: held.append(route))
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_role("button", name="Looking…")).to_be_visible()
    with page.expect_event("requestfailed"):
        page.get_by_label("Project").select_option("/home/dev/billing-api")
    expect(page.get_by_role("button", name="Show what would go")).to_be_enabled()
    page.unroute_all()
    page.get_by_role("button", name="Show what would go").click()
    expect(page.get_by_role("heading", name=re.compile("would go$"))).to_be_visible()
    assert len(held) == 1


def test_a_used_link_ends_no_session_that_goes_on(visit: Come, token: str) -> None:
    page = visit(expected=REFUSED).open(token=token)
    expect(page.get_by_role("heading", name="Latest sessions")).to_be_visible()
    with page.expect_response(re.compile("/me$")):
        page.evaluate("location.hash = '#login=" + "x" * 43 + "'")
    expect(page.get_by_role("heading", name="Latest sessions")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('raw-rag-token')") == token


def test_a_space_that_is_gone_is_left(visit: Come, token: str) -> None:
    page = visit(expected=("status of 40",)).open(token=token)
    page.evaluate("sessionStorage.setItem('raw-rag-space', 'gone')")
    page.reload()
    expect(page.get_by_role("heading", name="Latest sessions")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('raw-rag-space')") is None


def test_a_day_far_ahead_does_not_stop_the_timeline(visit: Come, token: str) -> None:
    day = {"agent": "editor", "project": None, "sessions": 1, "turns": 2, "tokens": 3}
    days = [{"day": "2026-01-02", **day}, {"day": "9999-12-31", **day}]
    page = visit().open(token=token)
    page.route(re.compile("/timeline$"), lambda route: route.fulfill(json={"zone": "UTC", "days": days, "learned": []}))
    page.get_by_role("link", name="Timeline").click()
    expect(page.get_by_role("slider", name=re.compile("^Days, by turns"))).to_be_visible()
    page.get_by_text("As a table").click()
    expect(
        page.get_by_role("cell", name="9999-12-31").or_(page.get_by_role("rowheader", name="9999-12-31"))
    ).to_be_visible()


def test_passages_stand_best_first_or_oldest_first(visit: Come, token: str) -> None:
    page = visit().open("#/search?q=cache", token)
    expect(page.get_by_role("article").first).to_contain_text("#1")
    page.get_by_label("Order").select_option("oldest first")
    expect(page).to_have_url(re.compile("order=time"))
    page.wait_for_function("document.querySelectorAll('article').length > 1")
    times = page.locator("article header time").evaluate_all("all => all.map(one => one.dateTime)")
    assert times == sorted(times)
