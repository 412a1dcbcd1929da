"""Query text -> terms with a mark: which of them a hit should hold to the letter. Every sign in a query is text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from agent_raw_rag.lexical.pasted import error_spans
from agent_raw_rag.lexical.terms import bigrams, fold, is_dense, word_terms, words

QUERY_TERMS = 64
"""More terms than this are left out, words before exact ones and from the end: a pasted page is no better a question than its
first lines, its identifiers and its error texts."""

_quoted = re.compile(r'"([^"\n]+)"|`([^`\n]+)`|“([^“”\n]+)”|「([^「」\n]+)」|『([^『』\n]+)』').finditer

_ENGLISH = """
    a about above after again against ain all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don done down during each either else
    ever few for from further get gets getting give go goes going got had hadn has hasn have haven having he her here
    hers herself him himself his how i if in into is isn it its itself just know let like ll m ma made make many may
    maybe me mentioned might mightn more most much must mustn my myself need needn no nor not now o of off on once one
    only or other ought our ours ourselves out over own perhaps please re really remember s said same say says shall
    shan she should shouldn so some something such t talk talked tell than that the their theirs them themselves then
    there these they thing things this those though through till to too under until up upon us use used using ve very
    was wasn we were weren what whatever when where whether which while who whom whose why will with within without won
    would wouldn y yes yet you your yours yourself yourselves
"""
STOPWORDS = frozenset(_ENGLISH.split())
"""English words that tell nothing about what is asked for, contractions as the tokenizer cuts them included."""

_DENSE = """
    我們 我们 你們 你们 他們 他们 什麼 什么 甚麼 怎麼 怎么 怎樣 怎样 如何 為什 为什 哪個 哪个 這個 这个 那個 那个
    是否 可以 一個 一个 請問 请问 です ます した する して いる ある から まで ない ませ せん たの のか ので でし まし
    どう どの どこ なぜ この その 입니 니다 습니 합니 했던 어떻 떻게 무엇 우리 그리 리고 하는 있는 에서 으로
"""
DENSE_STOPWORDS = frozenset(_DENSE.split())
"""The same for bigrams of Chinese, Japanese and Korean."""


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term to look for."""

    text: str
    exact: bool = False
    """The whole of an identifier, path, flag or code, or out of an error text or quoted phrase: weighs more than a word."""


class _Kind(Enum):
    PLAIN = 0
    ERROR = 1
    QUOTED = 2


def query_terms(text: str) -> list[QueryTerm]:
    """The distinct terms of a query in order, without stopwords unless nothing else is left. Empty: nothing to look for."""
    pairs = [pair for part, kind in _parts(unicodedata.normalize("NFKC", text)) for pair in _terms(part, kind)]
    told = [pair for pair in pairs if not pair[1]] or pairs
    found: dict[str, QueryTerm] = {}
    for term, _ in told:
        known = found.get(term.text)
        if known is None or term.exact:
            found[term.text] = term
    terms = list(found.values())
    return terms if len(terms) <= QUERY_TERMS else sorted(terms, key=lambda term: not term.exact)[:QUERY_TERMS]


def quoted(text: str) -> list[str]:
    """What stands inside quotation marks, in order."""
    return [text[start:end] for start, end in quoted_spans(text)]


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Where what is quoted begins and ends, the marks left out."""
    return [found.span(found.lastindex or 0) for found in _quoted(text)]


def _parts(text: str) -> Iterator[tuple[str, _Kind]]:
    """Stretches of a query: inside quotation marks, in an error text, and what is neither."""
    marks = [_Kind.PLAIN] * len(text)
    for kind, spans in ((_Kind.ERROR, error_spans(text)), (_Kind.QUOTED, quoted_spans(text))):
        for start, end in spans:
            marks[start:end] = [kind] * (end - start)
    place = 0
    for kind, run in groupby(marks):
        length = sum(1 for _ in run)
        yield text[place : place + length], kind
        place += length


def _terms(text: str, kind: _Kind) -> Iterator[tuple[QueryTerm, bool]]:
    """Terms of one stretch, each with whether it is a stopword."""
    shouting = text.isupper()
    held, in_quotes = kind is not _Kind.PLAIN, kind is _Kind.QUOTED
    for word in words(text):
        if is_dense(word):
            yield from ((QueryTerm(pair, held), pair in DENSE_STOPWORDS and not in_quotes) for pair in bigrams(word))
            continue
        *parts, whole = word_terms(word) or [""]
        yield from ((QueryTerm(part, in_quotes), False) for part in parts)
        if whole:
            stopword = not in_quotes and fold(word) in STOPWORDS
            exact = held or bool(parts) or (_is_code(word, shouting) and not stopword)
            yield QueryTerm(whole, exact), stopword


def _is_code(word: str, shouting: bool) -> bool:
    """Looks like a name that a machine gave: digits among letters, or capitals in a text that has others."""
    letters = any(c.isalpha() for c in word)
    return letters and (any(c.isdigit() for c in word) or (len(word) > 2 and word.isupper() and not shouting))
