"""What a search of the index finds, and in which order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_raw_rag.lexical.documents import LexicalDoc, LexicalFilter
from agent_raw_rag.lexical.index import LexicalIndex
from agent_raw_rag.lexical.terms import terms
from tests.lexical.corpus import DOCS, FILTERS, WORDS, found, index_of, numbered


@settings(max_examples=60)
@given(DOCS, FILTERS, st.sampled_from(WORDS))
def test_filters_of_the_index_equal_those_of_a_single_chunk(
    docs: list[LexicalDoc], filters: LexicalFilter, word: str
) -> None:
    wanted = set(terms(word))
    expected = {doc.chunk_id for doc in docs if filters.matches(doc) and wanted & set(terms(doc.text))}
    assert set(found(index_of(docs), f"{word} {word}", filters)) == expected


@settings(max_examples=30)
@given(DOCS, st.permutations(WORDS), st.integers(1, 30))
def test_order_and_cut_do_not_depend_on_how_the_index_was_fed(
    docs: list[LexicalDoc], words: list[str], limit: int
) -> None:
    in_one_go, in_pieces = index_of(docs), LexicalIndex.in_memory()
    for doc in reversed(docs):
        in_pieces.add([doc])
        in_pieces.commit(0)
    query = " ".join(words[:2])
    assert in_one_go.search(query, limit=limit) == in_pieces.search(query, limit=limit)


def test_equal_chunks_come_in_the_order_of_their_ids_even_where_they_are_cut() -> None:
    docs = [LexicalDoc(number, "retry the upload") for number in (9, 4, 7, 1, 30, 12)]
    assert found(index_of(docs), "upload", limit=3) == [1, 4, 7]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我們昨天把資料庫連線池的逾時改成三十秒", "逾時"),
        ("我們昨天把資料庫連線池的逾時改成三十秒", "資料庫"),
        ("我們昨天把資料庫連線池的逾時改成三十秒", "連線池的"),
        ("请把用户认证的错误处理写完", "错误处理"),
        ("请用Redis缓存结果", "缓存"),
        ("请用Redis缓存结果", "redis"),
        ("昨日、認証処理のバグを直しました", "認証"),
        ("昨日、認証処理のバグを直しました", "バグを"),
        ("ﾃﾞｰﾀﾍﾞｰｽの設定", "データベース"),
        ("어제 데이터베이스를 고쳤습니다", "데이터"),
        ("어제 데이터베이스를 고쳤습니다", "베이스"),
        ("어제 데이터베이스를 고쳤습니다", "어제"),
        ("값이 다르다", "값"),
    ],
)
def test_words_inside_unspaced_text_are_found(text: str, query: str) -> None:
    others = numbered("完全不同的內容", "まったく別の文章", "다른 문장", "something else")
    index = index_of([*others, LexicalDoc(99, text)])
    assert found(index, query)[0] == 99


@pytest.mark.parametrize(
    "query",
    [
        "NOT retry",
        "-retry",
        "retry*",
        "+retry",
        'body:"retry',
        "(retry",
        "retry AND",
        "[retry TO",
        "retry^9",
        "re\\try retry~",
    ],
)
def test_operators_are_text(query: str) -> None:
    index = index_of(numbered("the retry came", "no such thing"))
    assert 1 in found(index, query)


@pytest.mark.parametrize("query", ["", "   ", "!?", "***", "\ud800"])
def test_a_query_without_terms_finds_nothing(query: str) -> None:
    assert index_of(numbered("anything")).search(query) == []


def test_the_whole_identifier_wins_over_its_parts() -> None:
    index = index_of(numbered("retry the py upload in src", "we changed src/upload/retry.py", "upload src py retry"))
    assert found(index, "src/upload/retry.py")[0] == 2


def test_stopwords_do_not_find() -> None:
    index = index_of(numbered("what did we do about it", "retry"))
    assert found(index, "what did we do about the retry") == [2]


def test_a_folder_finds_what_lies_below_it_and_not_beside_it() -> None:
    docs = [LexicalDoc(n, "x", projects=(path,)) for n, path in enumerate(("/w/app", "/w/app/api", "/w/app-two"), 1)]
    assert found(index_of(docs), "x", LexicalFilter(projects=["/w/app/"])) == [1, 2]


def test_a_chunk_without_a_time_is_outside_every_range() -> None:
    index = index_of([LexicalDoc(1, "x"), LexicalDoc(2, "x", start=5, end=9)])
    assert found(index, "x", LexicalFilter(after=0)) == [2]
    assert found(index, "x", LexicalFilter(before=100)) == [2]
    assert found(index, "x", LexicalFilter(after=9, before=10)) == [2]
    assert found(index, "x", LexicalFilter(before=5)) == []


@settings(max_examples=40)
@given(DOCS, DOCS, FILTERS)
def test_pending_chunks_are_found_like_indexed_ones(
    indexed: list[LexicalDoc], pending: list[LexicalDoc], filters: LexicalFilter
) -> None:
    fresh = {doc.chunk_id for doc in pending}
    every = [doc for doc in indexed if doc.chunk_id not in fresh] + pending
    hits = index_of(indexed).search("retry 資料庫", filters, 128, pending)
    assert {chunk_id for chunk_id, _ in hits} == set(found(index_of(every), "retry 資料庫", filters))


def test_pending_chunks_score_like_indexed_ones() -> None:
    docs = numbered(*(f"{'retry ' * (n % 4)} upload of file number{n} " + "filler " * (n % 9) for n in range(300)))
    whole = dict(index_of(docs).search("retry number77", limit=300))
    split = dict(index_of(docs[:250]).search("retry number77", limit=300, pending=docs[250:]))
    assert split.keys() == whole.keys()
    for chunk_id, score in split.items():
        assert score == pytest.approx(whole[chunk_id], rel=0.15, abs=0.01)  # the index rounds lengths, we do not


def test_coverage_tells_the_telling_words_from_the_common_ones() -> None:
    index = index_of(numbered(*["the cache is warm"] * 50, "a zeppelin"))
    assert index.coverage("zeppelin cache", "zeppelin cache") == 1.0
    assert index.coverage("zeppelin cache", "zeppelin") > 0.9
    assert 0.0 < index.coverage("zeppelin cache", "cache") < 0.1
    assert index.coverage("zeppelin", "nothing") == index.coverage("", "x") == 0.0
    assert index.idf(["zeppelin"])["zeppelin"] > index.idf(["cach"])["cach"] > 0.0
