"""Masks secrets: text -> ``CleanText`` and the kinds of what was masked.

Runs in linear time. Rules are tried only where one of their keywords stands: prefixes of tokens inside long runs of token
characters (found with two byte scans), words of contexts anywhere (a byte scan a word). All matching is on UTF-8
bytes, so that places mean the same in the text and in its lower-case copy.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from agent_raw_rag.models import CleanText
from agent_raw_rag.sanitize.index import BY_WORD, any_prefix, by_letter, by_prefix, compiled, gate
from agent_raw_rag.sanitize.judge import credible
from agent_raw_rag.sanitize.rule import Rule
from agent_raw_rag.sanitize.rules import RULES
from agent_raw_rag.sanitize.scrub import scrub, to_bytes

RUN = 20
"""No token of the table is shorter."""
MAX_ROUNDS = 16
"""Masking may lay bare what the masked text hid; more rounds than this only an attack needs."""
MAX_WIDENING = 100

_TOKEN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~")
_SHAPE = bytes(0x61 if byte in _TOKEN_BYTES else 0x20 for byte in range(256))
_LONG = b"a" * RUN
_TELLING = re.compile(rb"[0-9A-Z]")
"""No token is without a digit or a capital; most long names are."""
_ESCAPE = re.compile(rb"(?:\\[nrt]|%[0-9A-Fa-f]{2}|\\u00[0-9a-f]{2}|\[[0-9;]{1,4}m)\Z")
_RANK = {id(rule): rank for rank, rule in enumerate(RULES)}


class _Finding(NamedTuple):
    start: int
    end: int
    rank: int


def redact(text: str) -> tuple[CleanText, tuple[str, ...]]:
    """The text with every known secret masked as ``[redacted:<kind>]``, and the kinds, one entry a mask.

    Idempotent: a text that went through it once is not changed again.
    """
    data, changed = to_bytes(text)
    kinds: list[str] = []
    for _ in range(MAX_ROUNDS):
        findings = _merged([*_tokens(data), *_contexts(data, data.lower())])
        if not findings:
            break
        kinds += [RULES[finding.rank].kind for finding in findings]
        data = _masked(data, findings)
    return CleanText(data.decode() if kinds or changed else text), tuple(kinds)


def cleaned(text: str, *, redacting: bool = True) -> tuple[CleanText, tuple[str, ...]]:
    """A text as it may be stored, and the kinds of what was masked in it; only scrubbed where redaction is switched off."""
    return redact(text) if redacting else (CleanText(scrub(text)), ())


def clean_label(text: str) -> CleanText:
    """One line of metadata (a title, a path, a branch): secrets masked, line breaks and tabs made spaces."""
    return redact(scrub(text).replace("\n", " ").replace("\t", " ").strip())[0]


def clean_name(text: str) -> CleanText:
    """A name that tells things apart (a session's, a turn's): as ``clean_label``; two that are masked alike stay two."""
    flat = " ".join(scrub(text).split())
    clean = clean_label(flat)
    return clean if clean == flat else CleanText(f"{clean}-{hashlib.sha256(flat.encode()).hexdigest()[:12]}")


# ---------------------------------------------------------------- finding


def _tokens(data: bytes) -> Iterator[_Finding]:
    shape = data.translate(_SHAPE) + b" "
    start = shape.find(_LONG)
    while start >= 0:
        end = shape.index(b" ", start)
        if _TELLING.search(data, start, end):
            yield from _in_run(data, start, end)
        start = shape.find(_LONG, end)


def _in_run(data: bytes, start: int, end: int) -> Iterator[_Finding]:
    begin = start + 1 if data[start - 1 : start] == b"\\" else start
    yield from _first(by_letter().get(data[begin], ()), data, begin)
    for head in any_prefix().finditer(data, start, end):
        rules = by_prefix()[head[0]]
        if rules[0].widen or _begins_word(data, head.start(), head[0]):
            yield from _first(rules, data, head.start())


def _begins_word(data: bytes, place: int, head: bytes) -> bool:
    """No letter or digit before it, or one that is an escape's: ``\\n``, ``%3D``, ``\\u003d``, a colour's ``m``. A head of
    up to three letters is too common inside base64 to stand after ``_`` or ``-``."""
    before = data[place - 1 : place]
    if before in (b"_", b"-"):
        return len(head) > 3
    return not before.isalnum() or bool(_ESCAPE.search(data, max(0, place - 6), place))


def _contexts(data: bytes, lowered: bytes) -> Iterator[_Finding]:
    for word, rules in BY_WORD.items():
        place = lowered.find(word)
        while place >= 0:
            end = place + 1
            if gate(word).match(data, place):
                for finding in _first(rules, data, place):
                    yield finding
                    end = max(end, finding.end)
            place = lowered.find(word, end)


def _first(rules: tuple[Rule, ...], data: bytes, place: int) -> Iterator[_Finding]:
    """The finding of the first rule that matches here, if any does."""
    for rule in rules:
        match = compiled(rule).match(data, place)
        if match is None:
            continue
        start, end = match.span(match.lastindex or 0)
        start, end = _widened(data, start) if rule.widen else start, _character_end(data, end)
        if credible(data[start:end], rule.entropy, rule.guard):
            yield _Finding(start, end, _RANK[id(rule)])
            return


def _widened(data: bytes, start: int) -> int:
    floor = max(0, start - MAX_WIDENING)
    while start > floor and data[start - 1] in _TOKEN_BYTES:
        start -= 1
    return start


def _character_end(data: bytes, end: int) -> int:
    """A bounded quantifier may have stopped inside a character."""
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end


# ---------------------------------------------------------------- masking


def _merged(findings: list[_Finding]) -> list[_Finding]:
    """Sorted, those that overlap made one under the name of the foremost rule."""
    merged: list[_Finding] = []
    for finding in sorted(findings):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = _Finding(last.start, max(last.end, finding.end), min(last.rank, finding.rank))
        else:
            merged.append(finding)
    return merged


def _masked(data: bytes, findings: list[_Finding]) -> bytes:
    pieces, place = [], 0
    for finding in findings:
        pieces += [data[place : finding.start], f"[redacted:{RULES[finding.rank].kind}]".encode()]
        place = finding.end
    return b"".join([*pieces, data[place:]])
