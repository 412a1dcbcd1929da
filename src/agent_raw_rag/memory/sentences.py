"""Text -> its sentences, for rules that look for what somebody wants kept. Pure, and linear in the text.

What is quoted is not said by the speaker: code fences and quoted lines are left out, and inside a sentence the words
between quotation marks and in `code` are hidden from the rules, while the sentence itself stays as it was written.
English and Chinese, Japanese and Korean end marks; a line ends a sentence unless it plainly goes on in the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HIDDEN = "\ufffc"
"""Stands for one hidden character: no word, no blank, no mark. Rules see it and match nothing in it."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_QUOTED_LINE = re.compile(r"^\s*>")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•·–—]\s+|\(?\d{1,3}[.)]\s+|\d{1,3}、\s*|#{1,6}\s+|\[[ xX]\]\s+)+")
_QUOTES = re.compile(
    r"`[^`\n]{1,400}`"
    r'|"[^"\n]{1,400}"'
    r"|(?<!\w)'[^'\n]{1,400}'(?!\w)"
    "|\u201c[^\u201d]{1,400}\u201d|(?<!\\w)\u2018[^\u2019\n]{1,400}\u2019(?!\\w)"
    "|\u300c[^\u300d]{1,400}\u300d|\u300e[^\u300f]{1,400}\u300f|\u00ab[^\u00bb]{1,400}\u00bb|\u300a[^\u300b]{1,400}\u300b"
)
_END = re.compile(r"[.!?]+(?=[\s\ufffc]|$)|[\u3002\uff01\uff1f\uff61]+|\n")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|approx|resp|no|nr|fig|dr|mr|mrs|ms|st)\.$", re.IGNORECASE
)
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence."""

    text: str
    """As it was written; runs of blanks are one blank."""
    bare: str
    """The same with everything quoted replaced by ``HIDDEN``: what the speaker says themselves. As long as ``text``."""


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text in order, without end blanks, list marks, fences and quoted lines."""
    for block in _blocks(text):
        bare = _QUOTES.sub(_hide, block)
        start = 0
        for end in _ends(bare):
            yield from _sentence(block[start:end], bare[start:end])
            start = end
        yield from _sentence(block[start:], bare[start:])


def _blocks(text: str) -> Iterator[str]:
    """Stretches between fences and quoted lines, with the list marks of their lines taken off."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
            continue
        if mark or _QUOTED_LINE.match(line):
            fence = mark[1] if mark else ""
            yield from _joined(lines)
            lines = []
        else:
            lines.append(line)
    yield from _joined(lines)


def _joined(lines: list[str]) -> Iterator[str]:
    """Lines as one block; a line that is wrapped in mid-sentence goes on with a blank."""
    block = ""
    for line in lines:
        bare = _LIST_MARK.sub("", line)
        block += (" " if _goes_on(block, line) else "\n") + bare if block else bare
    if block.strip():
        yield block


def _goes_on(block: str, line: str) -> bool:
    """Whether a line continues the one before it: words end there, and a small letter follows, with no mark before it."""
    return bool(block) and (block[-1].isalnum() or block[-1] == ",") and block[-1].isascii() and line[:1].islower()


def _hide(quoted: re.Match[str]) -> str:
    return quoted[0][0] + HIDDEN * (len(quoted[0]) - 2) + quoted[0][-1]


def _ends(bare: str) -> Iterator[int]:
    """Places after the ends of sentences."""
    start = 0
    for mark in _END.finditer(bare):
        if mark[0] == "." and _ABBREVIATION.search(bare[max(start, mark.end() - 12) : mark.end()]):
            continue
        start = mark.end()
        yield start


def _sentence(text: str, bare: str) -> Iterator[Sentence]:
    """Blanks squeezed in both alike, so that they stay of one length."""
    said = _BLANKS.sub(" ", text).strip()
    if said:
        blank = [match.span() for match in _BLANKS.finditer(text)]
        yield Sentence(said, _squeezed(bare, blank))


def _squeezed(bare: str, blanks: list[tuple[int, int]]) -> str:
    parts, start = [], 0
    for first, last in blanks:
        parts.append(bare[start:first])
        start = last
    parts.append(bare[start:])
    return " ".join(parts).strip()
