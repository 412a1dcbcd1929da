"""Statements: when two of them say the same, and when all but the same. Pure.

Two statements say the same if their normal forms are equal: full and half width, case, blanks and the stop at the end do not
count. They say all but the same if nearly all their terms are shared, and the rest holds no number and no "not".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from agent_raw_rag.lexical.terms import terms
from agent_raw_rag.store.rows import text_hash

RULE = "rule"
KINDS = (RULE, "fact", "decision", "preference", "lesson", "task")
IMPORTANCE = ("low", "medium", "high")

_NEGATIVE = """
    no not t never none nor neither cannot without avoid stop forbidden except
    不 没 沒 别 別 勿 未 非 無 无 莫 禁 否 안 못
"""
NEGATIVE = frozenset(_NEGATIVE.split())
"""Terms of which one more or less turns a statement round. ``t`` is what is left of ``n't``."""
_ENDS = " \t.。．!！;；,，、"


def normal(statement: str) -> str:
    """The normal form: NFKC, case folded, blanks as one, without the stop at the end."""
    return " ".join(unicodedata.normalize("NFKC", statement).casefold().split()).rstrip(_ENDS)


def statement_hash(statement: str) -> bytes:
    """128 bits that stand for what is said."""
    return text_hash(normal(statement))


def statement_terms(statement: str) -> frozenset[str]:
    """The distinct terms of a statement."""
    return frozenset(terms(unicodedata.normalize("NFKC", statement)))


def nearly_same(one: Collection[str], other: Collection[str], least: float) -> bool:
    """Whether two sets of terms are of statements that say all but the same: a share of ``least`` of the terms of both
    (Jaccard), and no number and no negation among the rest."""
    if min(len(one), len(other)) < least * max(len(one), len(other)):
        return False
    first, second = frozenset(one), frozenset(other)
    shared = len(first & second)
    if not shared or shared < least * (len(first) + len(second) - shared):
        return False
    rest = first ^ second
    return not rest & NEGATIVE and not any(char.isdigit() for term in rest for char in term)
