"""Finds rules by keyword: which of them may match at a place in a text. Built from the table, when first needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby

from agent_raw_rag.sanitize.contexts import CONTEXTS
from agent_raw_rag.sanitize.rule import Rule
from agent_raw_rag.sanitize.tokens import TOKENS

_CASED = frozenset(TOKENS)


def _grouped(pairs: Iterable[tuple[str, Rule]]) -> dict[bytes, tuple[Rule, ...]]:
    groups: dict[bytes, tuple[Rule, ...]] = {}
    for keyword, rule in pairs:
        groups[keyword.encode()] = (*groups.get(keyword.encode(), ()), rule)
    return groups


BY_WORD = _grouped((keyword, rule) for rule in CONTEXTS for keyword in rule.keywords)
"""The context rules of each keyword, in the table's order."""


@cache
def by_letter() -> dict[int, tuple[Rule, ...]]:
    """The token rules whose keyword is one letter, by its byte."""
    pairs = ((keyword, rule) for rule in TOKENS for keyword in rule.keywords if len(keyword) == 1)
    return {letter[0]: rules for letter, rules in _grouped(pairs).items()}


@cache
def by_prefix() -> dict[bytes, tuple[Rule, ...]]:
    """Every longer prefix with the token rules that begin with it or with a beginning of it, in the table's order."""
    heads = [(rule, tuple(keyword for keyword in rule.keywords if len(keyword) > 1)) for rule in TOKENS]
    prefixes = {prefix for _, known in heads for prefix in known}
    return _grouped((prefix, rule) for rule, known in heads for prefix in prefixes if prefix.startswith(known))


@cache
def any_prefix() -> re.Pattern[bytes]:
    """Matches where a prefix stands, the longest one."""
    return re.compile(_trie(sorted(by_prefix())))


def _trie(words: list[bytes]) -> bytes:
    """A pattern for any of the words that looks at each letter of the text once."""
    branches = []
    for letter, group in groupby(words, key=lambda word: word[:1]):
        tails = [word[1:] for word in group]
        longer = _trie([tail for tail in tails if tail])
        branches.append(re.escape(letter) + longer + (b"?" if longer and b"" in tails else b""))
    return b"(?:" + b"|".join(branches) + b")" if branches else b""


@cache
def gate(word: bytes) -> re.Pattern[bytes]:
    """Matches where any rule of a word does: one step for all the places where none does."""
    return re.compile("|".join(rule.pattern for rule in BY_WORD[word]).encode(), re.IGNORECASE)


@cache
def compiled(rule: Rule) -> re.Pattern[bytes]:
    """The rule's pattern over UTF-8 bytes."""
    return re.compile(rule.pattern.encode(), 0 if rule in _CASED else re.IGNORECASE)
