from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.memory.polarity import are_twins, landmark, reading

TWINS = [
    ("never deploy on Friday", "deploy on Friday"),
    ("Do not deploy on Fridays.", "Always deploy on Friday"),
    ("We don't use tabs", "We use tabs"),
    ("We don’t squash commits", "We squash commits"),
    ("avoid tabs", "use tabs"),
    ("I hate tabs", "I prefer tabs"),
    ("disable telemetry", "enable telemetry"),
    ("You can't merge without a green build", "You cannot merge with no green build, never"),
    ("The API is no longer public", "The API is public"),
    ("周五不要部署", "周五部署"),
    ("不要在周五部署", "请记住在周五部署"),
    ("禁止直接推送主分支", "可以直接推送主分支"),
    ("我不喜欢制表符", "我喜欢制表符"),
    ("禁用遥测", "启用遥测"),
    ("生產環境沒有備份", "生產環境備份"),
]
NO_TWINS = [
    ("use tabs", "use spaces"),
    ("never deploy on Friday", "deploy on Monday"),
    ("never deploy on Friday", "do not deploy on Friday"),
    ("deploy on Friday", "deploy on Friday"),
    ("deploy before Friday", "never deploy after Friday"),
    ("never", "always"),
    ("不同的分支", "同一的分支"),
    ("特别重要的接口", "重要的接口"),
    ("周五不要部署", "周五禁止部署"),
    ("I like it", "I hate it"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_who_says_and_who_denies_the_same_are_twins(one: str, other: str) -> None:
    assert are_twins(reading(one), reading(other)), (reading(one), reading(other))
    assert are_twins(reading(other), reading(one))


@pytest.mark.parametrize(("one", "other"), NO_TWINS)
def test_other_statements_are_no_twins(one: str, other: str) -> None:
    assert not are_twins(reading(one), reading(other)), (reading(one), reading(other))


@given(st.text(max_size=100))
def test_nothing_is_its_own_twin(text: str) -> None:
    assert not are_twins(reading(text), reading(text))


@given(st.lists(st.sampled_from(["deploy", "friday", "production", "cluster"]), min_size=1, max_size=4))
def test_never_before_a_statement_makes_its_twin(words: list[str]) -> None:
    said = " ".join(words)
    assert are_twins(reading(said), reading(f"never {said}"))


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_the_landmark_of_a_statement_stands_in_its_twin(one: str, other: str) -> None:
    for said, twin in ((one, other), (other, one)):
        assert landmark(reading(said))
        assert landmark(reading(said)) in twin.lower()
