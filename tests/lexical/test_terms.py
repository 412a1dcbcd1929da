"""How text is cut into terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.lexical import terms as module
from agent_raw_rag.lexical.terms import CACHE_PIECES, TERM_CHARS, term_text, terms, word_terms, words

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("aB3 _-./é資料テスト데이터\ud800\u0301ﾊﾟ")), max_size=80)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Retries failed", "retri fail"),
        ("parseHTTPResponse", "pars http respons parsehttprespons"),
        ("parse_http_response", "pars http respons parse_http_response"),
        ("src/upload/retry.py", "src upload retri py retry.py src/upload/retry.py"),
        ("os.environ.get", "os environ get os.environ.get"),
        ("__init__.py", "init __init__ py __init__.py"),
        ("E1234", "1234 e1234"),
        ("ENOENT", "enoent"),
        ("--no-cache", "no cach no-cache --no-cache"),
        ("--force", "forc --force"),
        ("foo->bar", "foo bar"),
        ("foo--bar", "foo bar --bar"),
        ("python3 sha256", "python python3 sha 256 sha256"),
        ("3f2a9bc4d1e8", "3f2a9bc4d1e8"),
        ("aGVsbG8gd29ybGQhIGhvdyBhcmUgeW91", "agvsbg8gd29ybgqhighvdybhcmugew91"),
        ("v0.27.0", "v0 27 v0.27.0"),
        ("don't", "don t"),
        ("Done.", "done"),
        ("café Straße", "cafe strass"),
        ("ёлка", "елка"),
        ("हिन्दी में", "हिन्दी में"),
        ("ｐａｒｓｅ ﬁle", "pars file"),
        ("___ -- ... //", ""),
        ("", ""),
    ],
)
def test_words_and_identifiers_are_cut_into_parts_and_wholes(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("資料庫", "資 料 庫 資料 料庫"),
        ("使用Python寫", "使 用 使用 python 寫"),
        ("エラー", "エ ラ ー エラ ラー"),
        ("ﾊﾟｲ", "パ イ パイ"),
        ("が", "が"),
        ("か\u3099く", "が く がく"),
        ("한국", "한 국 한국"),
        ("한국".encode().decode(), "한 국 한국"),
        ("\u1112\u1161\u11ab국", "한 국 한국"),
        ("錯誤，修好", "錯 誤 錯誤 修 好 修好"),
        ("ไทย", "ไ ท ย ไท ทย"),
    ],
)
def test_unspaced_scripts_are_cut_into_characters_and_bigrams(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


@pytest.mark.parametrize("text", ["api/v1/users", "a.b.c", "retry.py", "E1234", "--no-cache", "fooBar", "x"])
def test_an_identifier_ends_with_its_own_whole(text: str) -> None:
    assert word_terms(text)[-1].startswith(text.lower()[:5])


@given(TEXTS)
def test_the_fast_way_and_the_patterns_agree(text: str) -> None:
    clean = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    assert terms(text) == [term for word in words(clean) for term in word_terms(word)]


@given(TEXTS, TEXTS)
def test_terms_of_two_texts_are_the_terms_of_each(first: str, second: str) -> None:
    assert terms(f"{first}\n{second}") == terms(first) + terms(second)


@given(TEXTS)
def test_terms_are_short_folded_and_free_of_blanks(text: str) -> None:
    for term in terms(text):
        assert term.split() == [term]
        assert len(term) <= 2 * TERM_CHARS
        assert not any("A" <= c <= "Z" for c in term)


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_case_never_loses_a_plain_word(text: str) -> None:
    plain = {word for word in words(text) if word.isalpha() and word.islower()}
    assert {word_terms(word)[-1] for word in plain} <= set(terms(text.upper().lower()))


def test_the_cache_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"word{n}" for n in range(300))
    expected = [term for word in text.split() for term in word_terms(word)]
    monkeypatch.setattr(module, "CACHE_PIECES", 100)  # a bound, not a part: 65,536 words would test nothing more
    assert terms(text) == expected
    assert len(module._CACHE) <= 100 < CACHE_PIECES


def test_a_long_blob_does_not_become_a_long_term() -> None:
    blob = "A1b2" * 100_000
    assert term_text(blob) == blob[:TERM_CHARS].lower()
