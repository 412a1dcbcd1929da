"""When two statements say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.memory.statements import nearly_same, normal, statement_hash, statement_terms


@given(st.text())
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    once = normal(text)
    assert normal(once) == once


@given(st.text(max_size=60), st.text(max_size=60))
def test_equal_hashes_mean_equal_normal_forms(one: str, other: str) -> None:
    assert (statement_hash(one) == statement_hash(other)) == (normal(one) == normal(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use Tabs.", "use   tabs"), ("Ｕｓｅ ｔａｂｓ", "use tabs"), ("STRASSE", "straße"), ("é", "e\u0301"),
        ("每周二发布。", "每周二发布"), ("Don't", "don't!"),
    ],
)  # fmt: skip
def test_case_width_blanks_and_the_last_stop_do_not_count(one: str, other: str) -> None:
    assert statement_hash(one) == statement_hash(other)


@pytest.mark.parametrize(("one", "other"), [("use tabs", "use tab"), ("a.b", "ab"), ("1.5", "15"), ("C", "C++")])
def test_what_else_differs_counts(one: str, other: str) -> None:
    assert statement_hash(one) != statement_hash(other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("we deploy from main on tuesday after lunch", "we deploy from main on tuesday after lunch today", True),
        ("we deploy from main on tuesday after lunch", "we never deploy from main on tuesday after lunch", False),
        ("we deploy from main on tuesday after lunch", "we don't deploy from main on tuesday after lunch", False),
        ("the billing service of our shop listens on port 8080", "the billing service of our shop listens on port 81", False),
        ("每周二下午三点发布新的版本到生产环境", "每周二下午三点发布新的版本到生产环境啊", True),
        ("每周二下午三点发布新的版本到生产环境", "每周二下午三点不发布新的版本到生产环境", False),
        ("", "", False),
    ],
)  # fmt: skip
def test_nearly_the_same_allows_no_other_number_and_no_not(one: str, other: str, same: bool) -> None:
    assert nearly_same(statement_terms(one), statement_terms(other), 0.8) is same
