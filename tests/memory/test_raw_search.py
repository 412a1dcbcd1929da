"""Raw search: every turn of the space by its words, in any order, at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_raw_rag.errors import BadArgumentError, UsageError
from agent_raw_rag.memory.raw import RawMemory
from agent_raw_rag.memory.raw_search import RawQuery
from agent_raw_rag.models import Capture, Role, SessionInfo
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.backlogs import feed_words
from tests.memory.rooms import OWNER, runtime

DAY = 86_400_000


def told(room: Runtime, *captures: Capture | str) -> RawMemory:
    for number, one in enumerate(captures):
        capture = Capture(one, "tester", time=number * DAY) if isinstance(one, str) else one
        room.memory.raw.capture(capture, OWNER)
    return room.memory.raw


def texts(raw: RawMemory, query: str, **filters: object) -> list[str]:
    return [one.content for one in raw.search(RawQuery(query, **filters)).events]  # type: ignore[arg-type]


def test_the_order_of_words_does_not_matter(tmp_path: Path) -> None:
    raw = told(runtime(tmp_path), "banner not rendering, report follows", "nothing of the kind")
    assert texts(raw, "report banner") == ["banner not rendering, report follows"]
    assert texts(raw, "rendered banners") == ["banner not rendering, report follows"]


@pytest.mark.parametrize("query", ["使用者", "偏好深色", "模式", "色"])
def test_chinese_is_found_by_a_few_characters_of_its_middle(tmp_path: Path, query: str) -> None:
    raw = told(runtime(tmp_path), "這位使用者偏好深色模式的介面", "天氣很好")
    assert texts(raw, query) == ["這位使用者偏好深色模式的介面"]


def test_an_event_is_found_before_and_after_the_index_knows_it(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    raw = told(room, "the release window is Tuesday", "deploy notes")
    before = raw.search(RawQuery("release window"))
    assert feed_words(room)
    assert room.funnel.words.index(room.reader).high_water > 0
    assert raw.search(RawQuery("release window")) == before
    (event,) = before.events
    assert (event.source, event.session_id, event.user) == ("tester", "ext:tester", "event")
    assert raw.event(event.event_id).text == event.content


def test_who_says_all_that_is_asked_comes_before_who_repeats_a_part(tmp_path: Path) -> None:
    raw = told(runtime(tmp_path), "window window window window", "the release has a window", "release release")
    assert texts(raw, "release window")[0] == "the release has a window"


def test_of_equal_ones_the_newer_comes_first(tmp_path: Path) -> None:
    raw = told(runtime(tmp_path), "tea one", "tea two", "tea three")
    assert texts(raw, "tea") == ["tea three", "tea two", "tea one"]


def test_filters_narrow_to_session_source_and_time(tmp_path: Path) -> None:
    base = Capture("tea", "tester")
    raw = told(
        runtime(tmp_path),
        replace(base, content="tea in a", session="a", time=DAY),
        replace(base, content="tea in b", session="b", time=3 * DAY, source="other"),
        replace(base, content="tea at no time", session="c", time=None),
    )
    assert texts(raw, "tea", session="a") == ["tea in a"]
    assert texts(raw, "tea", session="mcp:b") == ["tea in b"]
    assert texts(raw, "tea", session="none") == []
    assert texts(raw, "tea", source="other") == ["tea in b"]
    assert texts(raw, "tea", source="nobody") == []
    assert texts(raw, "tea", source="other", session="a") == []
    assert len(texts(raw, "tea", source="mcp")) == 3
    assert texts(raw, "tea", after="1970-01-03T00:00:00Z") == ["tea in b"]
    assert texts(raw, "tea", before="1970-01-03T00:00:00Z") == ["tea in a"]
    assert texts(raw, "tea", exclude_session="a") == ["tea in b", "tea at no time"]


@pytest.mark.parametrize("query", ["", " ", '"', "AND OR (", "*", "NEAR(", "a" * 10_000, "\0", "\ud800", "the"])
def test_no_query_is_more_than_text(tmp_path: Path, query: str) -> None:
    raw = told(runtime(tmp_path), "tea and or not")
    assert isinstance(texts(raw, query), list)


@given(st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_text_can_be_asked(tmp_path: Path, query: str) -> None:
    room = runtime(tmp_path)
    if not room.memory.store.exists():
        told(room, "tea and or not")
    assert isinstance(texts(room.memory.raw, query), list)


def test_too_long_a_query_and_impossible_dates_are_refused(tmp_path: Path) -> None:
    raw = told(runtime(tmp_path), "tea")
    with pytest.raises(BadArgumentError):
        texts(raw, "a" * 10_001)
    with pytest.raises(BadArgumentError):
        texts(raw, "tea", after="2026-02-01", before="2026-01-01")
    with pytest.raises(UsageError):
        texts(raw, "tea", after="soon")


@pytest.mark.parametrize(("limit", "shown"), [(0, 1), (-3, 1), (2, 2), (10**6, 100)])
def test_the_limit_is_brought_into_its_range(tmp_path: Path, limit: int, shown: int) -> None:
    room = runtime(tmp_path)
    room.memory.raw.capture_all([Capture(f"tea {number}", "tester") for number in range(120)], OWNER)
    assert len(texts(room.memory.raw, "tea", limit=limit)) == shown


def test_a_space_without_a_store_holds_nothing(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    assert room.memory.raw.search(RawQuery("tea")).as_json() == {"events": [], "count": 0}
    assert not room.memory.store.exists()


def test_a_long_turn_is_found_and_shown_by_its_best_part(tmp_path: Path) -> None:
    middle = "the capybara escaped"
    raw = told(runtime(tmp_path), f"{'lorem ipsum ' * 3000}{middle}{' dolor sit' * 3000}")
    (shown,) = texts(raw, "capybara escaped")
    assert middle in shown and len(shown) < 6100


def test_the_same_turn_by_a_log_and_a_door_is_shown_once(tmp_path: Path) -> None:
    info = SessionInfo(cwd="/work/app")
    one = Capture("ship the capybara", "cc", role=Role.USER, door="proxy", session="p", time=DAY, info=info)
    raw = told(runtime(tmp_path), one, replace(one, door="http", session="h", time=DAY + 60_000))
    assert texts(raw, "capybara") == ["ship the capybara"]
    told(runtime(tmp_path), replace(one, door="chat", session="x", time=DAY + 3_600_000))
    assert len(texts(raw, "capybara")) == 2


def test_many_turns_of_one_source_do_not_hide_another_ones(tmp_path: Path) -> None:
    room = runtime(tmp_path)
    room.memory.raw.capture_all(
        [Capture(f"tea {number} {'x' * 700}", "loud", session=str(number)) for number in range(300)], OWNER
    )
    room.memory.raw.capture(Capture("some tea", "quiet"), OWNER)
    assert texts(room.memory.raw, "tea", source="quiet") == ["some tea"]
    assert texts(room.memory.raw, "tea", exclude_session="ext:quiet", limit=100, source="loud")
