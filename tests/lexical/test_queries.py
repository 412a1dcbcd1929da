"""Which terms a query looks for."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.lexical.queries import QUERY_TERMS, query_terms, quoted
from agent_raw_rag.lexical.terms import terms


def shown(query: str) -> str:
    """The terms, the exact ones with a mark."""
    return " ".join(term.text + "!" * term.exact for term in query_terms(query))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("How did we fix the retries?", "fix retri"),
        ("what about it", "what about it"),
        ("fix fix fixes", "fix"),
        ("fix fix FIXED", "fix!"),
        ("parseHTTPResponse", "pars http respons parsehttprespons!"),
        ("retry.py", "retri py retry.py!"),
        ("E1234 or ENOENT", "1234 e1234! enoent!"),
        ("WHY DOES THIS FAIL", "fail"),
        ("pip --no-cache", "pip no cach no-cache --no-cache!"),
        ('"to be" again', "to! be!"),
        ("run `git rebase`", "run git! rebas!"),
        ("「設定檔」在哪", "設定! 定檔! 在哪"),
        ("src/up.py --force v1.2", "src up py up.py src/up.py! forc --force! v1 v1.2!"),
        ("why TypeError: it cannot read", "type error typeerror! read!"),
        ("the log\nfatal: not a git repo\nof us", "log fatal! git! repo!"),
        ("資料庫", "資料 料庫"),
        ("我們怎麼修", "們怎 麼修"),
        ("値", "値"),
        ("ﾊﾟｲｿﾝ", "パイ イソ ソン"),
        ("foo AND NOT body:bar* ~2 (x OR y) [a TO b]", "foo bodi bar 2 x b"),
        ("", ""),
        ("!!! ??? …", ""),
    ],
)
def test_a_query_becomes_terms(query: str, expected: str) -> None:
    assert shown(query) == expected


@given(st.text(max_size=100))
def test_every_query_term_is_a_term_of_the_same_text(query: str) -> None:
    import unicodedata

    found = [term.text for term in query_terms(query)]
    assert set(found) <= set(terms(unicodedata.normalize("NFKC", query)))
    assert len(set(found)) == len(found)


def test_a_pasted_page_is_cut() -> None:
    assert len(query_terms(" ".join(f"w{n}" for n in range(1000)))) == QUERY_TERMS


def test_of_a_pasted_page_the_identifiers_and_the_error_stay() -> None:
    page = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    found = {term.text for term in query_terms(f"{page} src/up.py\nTypeError: frobnication failed")}
    assert {"src/up.py", "typeerror", "frobnic", "fail"} <= found


def test_a_page_without_blanks_is_read_in_no_time() -> None:
    assert len(query_terms("a" * 1_000_000 + " " + "x." * 500_000)) >= 1


def test_a_word_that_is_also_quoted_is_exact() -> None:
    assert shown('cache "cache"') == "cach!"


@pytest.mark.parametrize("mark", ["“", "「", "『", '"', "`"])
def test_marks_that_are_never_closed_cost_no_more_than_other_signs(mark: str) -> None:
    began = time.perf_counter()
    assert [text for text in quoted(mark * 100_000 + "ab") if set(text) != {mark}] == []
    assert time.perf_counter() - began < 2


def test_of_marks_inside_marks_the_inner_ones_quote() -> None:
    assert quoted("「外「內」") == ["內"]
