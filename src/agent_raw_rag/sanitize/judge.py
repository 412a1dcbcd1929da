"""Tells a secret from a placeholder, a name, a plain word. Works on the bytes that a rule matched."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

from agent_raw_rag.sanitize.rule import Guard

_MARKS = tuple(
    b"example xxxx *** ... \xe2\x80\xa6 ${ {{ <% %( your- your_ your. placeholder redacted changeme change-me change_me dummy "
    b"insert- insert_ replace- replace_ process.env environ getenv import.meta my-secret my_secret my-token my_token my-api "
    b"my_api my-key my_key my-password my_password".split()
)
"""No secret holds one of these."""
_PLACEHOLDER = re.compile(
    rb"[$%@]|(?:secrets|env|vars|config|settings|self|this|args|os)\."
    rb"|(?:the|test|new|old|user|db|some|a)?[-_]?(?:pass(?:word|wd|phrase)?|secret|token|key)[-_]?\d{0,4}!?\Z"
)
"""Nor begins so."""
_SLOT = re.compile(rb"[<{\[][a-z0-9_ .:|-]{1,60}[>}\]]")
"""Nor has a gap to fill in. Our own masks are such gaps."""
_REFERENCE = re.compile(
    rb"(?:arn|urn|file|git|ssh|npm|docker):.*|(?:~?\.{0,2}/|[a-z]:\\).*|.*://.*|[a-z_]\w*(?:\.[a-z_]\w*)+|--?[a-z].*"
    rb"|(?:u?int|float|utf-?|sha-?|base|md|[hrep]s|aes-?|oauth|ipv|v|str|es|bcrypt|argon|ed|x)\d{1,5}\w{0,8}",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN = frozenset(
    b"password passwd pass pwd secret token user username root admin postgres mysql guest test none null true false "
    b"undefined changeme default redis rabbitmq mongo string minioadmin".split()
)
_SEGMENT = re.compile(rb"[A-Za-z0-9]{9,}")
_SWITCH = re.compile(rb"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_TURN = re.compile(rb"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")
_DIGIT = re.compile(rb"[0-9]")
_LETTER = re.compile(rb"[A-Za-z]")
_SIGN = re.compile(rb"[0-9!#$%^&*+=?@~|\x80-\xff]")
_LETTERS = re.compile(rb"[A-Za-z]{24,}+")


def credible(secret: bytes, entropy: float, guard: Guard) -> bool:
    """Whether what a rule matched may really be a secret."""
    head = secret[:256]
    if (Guard.MIXED in guard and not mixed(head)) or (Guard.RANDOM in guard and not random_looking(head)):
        return False
    if Guard.NAMELESS in guard and _REFERENCE.fullmatch(head):
        return False
    return not placeholder(head.lower()) and bits(head) >= entropy


def placeholder(lowered: bytes) -> bool:
    """Stands where a secret would: an example, a variable, a word that only says what belongs there."""
    if lowered in _PLAIN or any(mark in lowered for mark in _MARKS):
        return True
    return bool(_PLACEHOLDER.match(lowered) or _SLOT.search(lowered))


def bits(text: bytes) -> float:
    """Shannon entropy, in bits a byte."""
    size = len(text)
    return -sum(count / size * log2(count / size) for count in Counter(text).values())


def mixed(text: bytes) -> bool:
    """Letters with digits or signs among them, or a long run of letters in both cases."""
    if _LETTER.search(text) and _SIGN.search(text):
        return True
    return any(not run.islower() and not run.isupper() for run in _LETTERS.findall(text))


def random_looking(text: bytes) -> bool:
    """Has a stretch of nine or more in which letters and digits change places three times or more, or small letters,
    capitals and digits do so nearly every second time: a name in camel case does it less."""
    return any(
        len(_SWITCH.findall(stretch)) >= 3
        or (_DIGIT.search(stretch) and len(_TURN.findall(stretch)) >= 0.45 * len(stretch))
        for stretch in _SEGMENT.findall(text)
    )
