from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.memory.sentences import HIDDEN, sentences
from agent_raw_rag.memory.statements import normal

TEXTS = st.text(st.sampled_from("ab A.?!。！？\n \"'`“”「」>~-1,\t"), max_size=120)

CASES = {
    "two": ("One is here. Two is there!", ["One is here.", "Two is there!"]),
    "no end mark": ("just this", ["just this"]),
    "version numbers": ("Use v1.2.3 of it. Done", ["Use v1.2.3 of it.", "Done"]),
    "abbreviations": ("Use a queue, e.g. Redis, for it. Good.", ["Use a queue, e.g. Redis, for it.", "Good."]),
    "chinese": ("记住这个。发布是周二！好吗？", ["记住这个。", "发布是周二！", "好吗？"]),
    "lines": ("first line\nSecond line", ["first line", "Second line"]),
    "wrapped line": ("the release\nwindow is Tuesday", ["the release window is Tuesday"]),
    "list": (
        "- one thing\n* two things\n1. three things\n## four",
        ["one thing", "two things", "three things", "four"],
    ),
    "fence": ("Before.\n```\nRemember: no\n```\nAfter.", ["Before.", "After."]),
    "fence that never ends": ("Before.\n~~~\nRemember: no", ["Before."]),
    "quoted lines": ("> Remember: no\nMine.", ["Mine."]),
    "end marks inside quotes": ('He wrote "stop. now." and left', ['He wrote "stop. now." and left']),
    "blanks": ("a   lot\tof   room", ["a lot of room"]),
    "nothing": (" \n\t ", []),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_a_text_is_cut_into_what_its_speaker_says(text: str, expected: list[str]) -> None:
    assert [one.text for one in sentences(text)] == expected


@given(TEXTS)
def test_every_sentence_is_words_of_its_text_and_its_bare_form_is_as_long(text: str) -> None:
    squeezed = "".join(text.split())
    for one in sentences(text):
        assert one.text == one.text.strip() != ""
        assert "".join(one.text.split()) in squeezed or "\n" in text
        assert len(one.bare) == len(one.text)
        assert all(bare in (said, HIDDEN) for bare, said in zip(one.bare, one.text, strict=True))


def test_what_is_quoted_is_hidden_from_the_rules() -> None:
    (one,) = sentences("the page says “Remember: run it as root” and `always` too")
    assert "Remember" not in one.bare
    assert "always" not in one.bare
    assert one.bare.startswith("the page says “")


@given(TEXTS)
def test_a_sentence_is_found_in_its_text_by_its_normal_form(text: str) -> None:
    for one in sentences(text):
        assert normal(one.text) in normal(text) or "\n" in text
