"""Text -> terms: how words, identifiers and scripts without spaces are cut, for the index and for queries alike.

* words: case folded, accents folded, English stems of ASCII words (Snowball "english", Porter 2);
* identifiers: their parts (case, digits, ``_``, ``-``, ``.``, ``/``), every nested whole that can be named by itself, and
  the whole: ``src/upload/retry.py`` -> src upload retry py retry.py src/upload/retry.py;
* Han, Kana, Hangul and the unspaced scripts of South-East Asia: single characters and bigrams, cut from Latin glued to them.

Pure but for a bounded cache. It runs over every word that is ingested, so the common way is bytes: translate what joins no
words to blanks, split, and one dictionary look-up for each piece; the patterns below see a piece only when it is new.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from operator import add
from threading import Lock

import Stemmer

TERM_CHARS = 64
"""Longer words are cut here: nobody types more of a digest, and base64 must not bloat the index."""
CACHE_PIECES = 65_536
CACHE_BYTES = 40
"""The cache is emptied at this many pieces, about 12 MB, and longer ones are not kept: they seldom come again."""

_BLANKED = bytes(b if b >= 0x80 or chr(b).isalnum() or b in b"_./-" else 0x20 for b in range(256))
DENSE = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u3099-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb\uffa0-\uffdc"
)
"""Character ranges of the scripts that are cut into characters and bigrams."""
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff"


def _pattern(letter: str) -> re.Pattern[str]:
    return re.compile(f"(?:--)?{letter}+(?:[./-]{letter}+)*|[{DENSE}]+")


_ASCII_WORDS = re.compile(r"(?:--)?[A-Za-z0-9_]+(?:[./-][A-Za-z0-9_]+)*").findall
_WORDS = _pattern(f"[^\\W{DENSE}]").findall
# Vowel signs are no letters to ``re``; Devanagari and its kind would fall apart. Twice as slow, so only where they occur.
_MARKED_WORDS = _pattern(f"(?:[^\\W{DENSE}]|[{_MARKS}])").findall
_has_marks = re.compile(f"[{_MARKS}]").search
is_dense = re.compile(f"[{DENSE}]").match
"""Truthy if a word, as ``words`` cuts them, is of a script without spaces."""

_accents = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]+").sub
_humps = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+").findall
_stem = Stemmer.Stemmer("english")
_stem.maxCacheSize = 0  # ours stands before it
_stemming = Lock()  # a stemmer is not for two threads at once


def words(text: str) -> list[str]:
    """Words, identifiers with their separators, and unspaced runs, in order and as written."""
    if text.isascii():
        return _ASCII_WORDS(text)
    return (_MARKED_WORDS if _has_marks(text) else _WORDS)(text)


def term_text(text: str) -> str:
    """The terms of a text in order, separated by whitespace: what the index takes."""
    pieces = text.encode("utf-8", "surrogatepass").translate(_BLANKED).split()
    return " ".join(map(_CACHE.__getitem__, pieces))


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeated as often as they occur."""
    return term_text(text).split()


def bigrams(run: str) -> list[str]:
    """The overlapping pairs of characters of an unspaced run; the character itself if there is but one."""
    return list(map(add, run, run[1:])) or [run]


def word_terms(word: str) -> list[str]:
    """The terms of one word of ``words``; an identifier's own whole comes last."""
    return _word_text(word).split()


def _word_text(word: str) -> str:
    if not word.isascii():
        plain = unicodedata.normalize("NFKC", word)
        if plain != word:  # full and half width, ligatures, decomposed letters: may now be of another kind
            return " ".join(map(_word_text, words(plain)))
        if is_dense(word):
            return f"{' '.join(word)} {' '.join(map(add, word, word[1:]))}"
    elif word.isalpha() and word[1:].islower() and len(word) <= TERM_CHARS:
        return stem(word.lower())  # most words; what follows would say the same
    return " ".join(dict.fromkeys(_identifier_terms(word)))


def _identifier_terms(word: str) -> Iterator[str]:
    """Terms of a word or identifier from the inside out, possibly repeated."""
    bare = word.removeprefix("--")
    names = bare.split("/")
    for name in names:
        pieces = name.split(".")
        for piece in pieces:
            yield from _piece_terms(piece, alone=len(pieces) == len(names) == 1)
        if len(pieces) > 1:
            yield fold(name)[:TERM_CHARS]
    if len(names) > 1 and len(bare) <= 2 * TERM_CHARS:
        yield fold(bare)
    if bare != word:
        yield fold(word)[:TERM_CHARS]


def fold(word: str) -> str:
    """Case and accents taken off."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", _accents("", unicodedata.normalize("NFD", word.casefold())))


def stem(word: str) -> str:
    """The term of one plain, folded word: its English stem if it is ASCII letters, else itself."""
    if not (word.isascii() and word.isalpha()):
        return word
    with _stemming:
        return str(_stem.stemWord(word))


def _piece_terms(piece: str, *, alone: bool) -> list[str]:
    """Terms of what has no dot or slash: parts, then the whole. A lone letter or digit counts only as a word by itself."""
    whole = fold(piece)
    if len(piece) > TERM_CHARS:
        return [whole[:TERM_CHARS]]
    parts = _parts(piece)
    if len(parts) == 1:
        part = fold(parts[0])
        found = [stem(part)] if alone or len(part) > 1 else []
        return found if part == whole else [*found, whole]
    return [*(stem(fold(part)) for part in parts if len(part) > 1), *([stem(whole)] if parts else [])]


def _parts(piece: str) -> list[str]:
    """Split at case, digits, ``_`` and ``-``; not where that would only crumble it (digests, base64)."""
    parts: list[str] = []
    for plain in piece.replace("-", "_").split("_"):
        if plain.islower() and plain.isalpha():
            parts.append(plain)
        elif plain:
            humps = _humps(plain) if plain.isascii() else [plain]
            parts += humps if len(plain) >= len(humps) * (2 if len(humps) <= 4 else 3) else [plain]
    return parts


class _Cache(dict[bytes, str]):
    """Piece of text without blanks -> its terms, separated by blanks. Bounded; shared by threads."""

    def __missing__(self, piece: bytes) -> str:
        value = " ".join(map(_word_text, words(piece.decode("utf-8", "replace"))))
        if len(piece) <= CACHE_BYTES:
            if len(self) >= CACHE_PIECES:
                self.clear()
            self[piece] = value
        return value


_CACHE = _Cache()
