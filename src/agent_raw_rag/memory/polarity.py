"""Whether two statements are negation twins: they say the same of the same things, one of them denies it. English and Chinese.

Pure, and by words alone: "never deploy on Friday" and "deploy on Fridays" are twins, "use tabs" and "use spaces" are not.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from agent_raw_rag.lexical.terms import stem

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[a-z0-9][a-z0-9_.+#-]*[a-z0-9+#]|[a-z0-9]|[{_HAN}]|[^\W{_HAN}]+")
_CONTRACTED = re.compile(r"\b(ca|wo|sha)n['\u2019]?t\b|\b(\w+?)n['\u2019]t\b")
_WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}
_DENIED = (("can not", "not can"), ("cannot", "not can"), ("no longer", "not"), ("any more", ""), ("anymore", ""))

_NEGATIVE_WORDS = (
    "not no never nor neither none without avoid stop forbidden forbid prohibited disallow disallowed dont"
)
_NEGATIVE = frozenset(_NEGATIVE_WORDS.split())
_TURNED = {
    "disable": "enable", "disabled": "enable", "disables": "enable", "hate": "like", "hates": "like", "dislike": "like",
    "dislikes": "like", "exclude": "include", "excluded": "include", "excludes": "include", "reject": "accept",
    "rejects": "accept", "rejected": "accept",
}  # fmt: skip
"""Words that deny another one."""
_SAME = {"prefer": "like", "prefers": "like", "love": "like", "loves": "like", "enabled": "enable", "enables": "enable"}
_EMPTY_WORDS = """
a an the this that these those to of it its is are was were be been being am do does did done has have had will would shall
should must may might can could need needs ought and so also please just always ever only really i we you they my our your
us me use uses using used allow allowed allows permitted ok okay remember note keep mind decided decide agreed settled rule
important there any some with at all times under circumstances
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
"""Words that change nothing about what is said of what."""

_HAN_KEPT = re.compile(
    "不同|不错|不錯|不仅|不僅|不但|不过|不過|不断|不斷|不止|不只|不少|不管|不论|不論|无论|無論|未来|未來|特别|特別|别的|別的|"
    "别人|別人|区别|區別|级别|級別|类别|類別|识别|識別|个别|個別|分别|分別|除非|非常|无线|無線"
)
"""Words with a denying character in them that deny nothing."""
_HAN_DENIES = ("禁用", "停用", "關閉", "关闭", "讨厌", "討厭")
_HAN_SAME = {"启用": ("禁用", "停用", "關閉", "关闭", "开启", "開啟", "啟用"), "喜欢": ("讨厌", "討厭", "喜歡", "偏好")}
_HAN_NEGATIVE = re.compile(
    "禁止|严禁|嚴禁|避免|切勿|从不|從不|从未|從未|绝不|絕不|永不|没有|沒有|不要|不能|不可以|不可|不准|不許|不许|不得|不再|不会|不會|"
    "不用|不应该|不應該|不应|不應|不该|不該|别|別|勿|没|沒|无|無|未|不"
)
_HAN_EMPTY = re.compile(
    "请记住|請記住|记住|記住|记得|記得|请|請|务必|務必|必须|必須|一定要|一定|总是|總是|永远|永遠|一律|应该|應該|可以|需要|千万|千萬|"
    "我们|我們|已经|已經|决定|決定|以后|以後|今后|今後|允许|允許|使用|咱们|大家|[我你您他她它们們了的地得都要会會能在于於就也还還把被用是吧啊呢]"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a statement says, by its words."""

    content: frozenset[str]
    """Stems, and single Han characters, without what only denies or fills."""
    denies: bool


@cache
def _stem(word: str) -> str:
    return stem(word)


def reading(statement: str) -> Reading:
    """A statement's content words and whether it denies. Two denials take each other away."""
    text = unicodedata.normalize("NFKC", statement).casefold()
    text, denials = _han(text)
    for said, meant in _DENIED:
        text = re.sub(rf"\b{said}\b", meant, text)
    text = _CONTRACTED.sub(lambda found: f"{_WHOLE.get(found[1] or '', found[1] or found[2])} not", text)
    content = set()
    for word in _WORD.findall(text):
        if word in _NEGATIVE:
            denials += 1
        elif word in _TURNED:
            denials += 1
            content.add(_stem(_TURNED[word]))
        elif word not in _EMPTY:
            content.add(_stem(_SAME.get(word, word)))
    return Reading(frozenset(content), denials % 2 == 1)


def _han(text: str) -> tuple[str, int]:
    """The text without Han words that deny or fill, and how many of them denied."""
    if text.isascii():
        return text, 0
    kept = _HAN_KEPT.findall(text)
    text = _HAN_KEPT.sub(" \ue000 ", text)
    denials = sum(text.count(word) for word in _HAN_DENIES)
    for meant, words in _HAN_SAME.items():
        for word in words:
            text = text.replace(word, meant)
    text, count = _HAN_NEGATIVE.subn(" ", text)
    text = _HAN_EMPTY.sub(" ", text)
    return text.replace("\ue000", "") + " ".join(kept), denials + count


def are_twins(one: Reading, other: Reading) -> bool:
    """Whether one denies what the other says."""
    return one.denies != other.denies and one.content == other.content and is_about_something(one)


def is_about_something(one: Reading) -> bool:
    """Whether a statement names what it is about: "I like it" does not."""
    return bool(one.content - _MEANT)


def landmark(one: Reading) -> str:
    """A piece of text that every statement with the same content holds, ASCII letters in lower case: the longest word, or a Han
    character, that stands for no other one, without the end that a stem changes; "" if there is none."""
    plain = [word for word in one.content if word not in _MEANT and (word.isascii() or "\u3400" <= word <= "\u9fff")]
    word = max(plain, key=lambda word: (len(word), word), default="")
    return word[:-1] if word[-1:] in ("i", "e") else word


_MEANT = {_stem(word) for word in (*_TURNED.values(), *_SAME.values())} | set("".join(_HAN_SAME))
