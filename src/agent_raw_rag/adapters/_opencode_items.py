"""What an OpenCode message consists of, of both generations: things said, thought and done, and a prompt's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.adapters._opencode_tools import SETTLED, tool_call, tool_result
from agent_raw_rag.adapters.base import mapping, sequence, string
from agent_raw_rag.models import Image, ToolCall, ToolResult, Unknown

IGNORED_PARTS = frozenset({"file", "patch", "snapshot", "step-start", "step-finish", "agent", "retry", "compaction"})
"""Known parts of an answer that say nothing. An edit's files stand in its call already."""

_UNAVAILABLE = re.compile(r"\[Attachment unavailable after migration: (.*) \([^()]*\)\]", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"]|(?<=\\)")*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the assistant; ``hidden`` ones were put in by the harness and only count."""

    text: str
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """A tool call with its native id."""

    call: ToolCall
    result: ToolResult | None
    native: str | None


Item = Said | Thought | Used | Unknown


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a human, or a parent agent, put in."""

    text: str
    images: tuple[Image, ...]


# ---------------------------------------------------------------- answers


def old_items(parts: list[Any], message: str) -> Iterator[Item]:
    """The parts of a 1.x answer."""
    for number, part in enumerate(mapping(part) for part in parts):
        kind = string(part.get("type"))
        if kind == "text":
            yield from _said(part.get("text"), bool(part.get("synthetic") or part.get("ignored")))
        elif kind == "reasoning":
            yield from _thought(part.get("text"))
        elif kind == "tool":
            yield _used(part.get("tool"), part.get("state"), part.get("callID"), f"{message}/{number}")
        elif kind not in IGNORED_PARTS:
            yield Unknown(f"part {kind}")


def new_items(content: object, message: str, unfinished: bool) -> Iterator[Item]:
    """The content of a 2.x answer; of one that is still being written, up to its last call that has ended."""
    items = [mapping(item) for item in sequence(content)]
    if unfinished:
        items = items[: max((number + 1 for number, item in enumerate(items) if _settled(item)), default=0)]
    for number, item in enumerate(items):
        kind = string(item.get("type"))
        if kind == "text":
            yield from _said(item.get("text"), hidden=False)
        elif kind == "reasoning":
            yield from _thought(item.get("text"))
        elif kind == "tool":
            yield _used(item.get("name"), item.get("state"), item.get("id"), f"{message}/{number}")
        else:
            yield Unknown(f"content {kind}")


def _settled(item: dict[str, Any]) -> bool:
    return item.get("type") == "tool" and string(mapping(item.get("state")).get("status")) in SETTLED


def _said(text: object, hidden: bool) -> Iterator[Said]:
    if isinstance(text, str) and text.strip():
        yield Said(text, hidden)


def _thought(text: object) -> Iterator[Thought]:
    if isinstance(text, str) and text.strip():
        yield Thought(text)


def _used(name: object, state: object, native: object, call_id: str) -> Used:
    # Native call ids repeat with some models, so results go by the place of the call.
    known = mapping(state)
    return Used(tool_call(name, known, call_id), tool_result(name, known, call_id), string(native))


# ---------------------------------------------------------------- prompts


def old_prompt(parts: list[Any]) -> Prompt:
    """A 1.x prompt: its texts, but not those that the harness put in, joined as the upgrade to 2.x joins them."""
    known = [mapping(part) for part in parts]
    texts = [
        text
        for part in known
        if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
        and (text := string(part.get("text")))
    ]  # fmt: skip
    files = [part.get("filename") or part.get("mime") for part in known if part.get("type") == "file"]
    return _prompt("\n\n".join(texts), files)


def new_prompt(info: dict[str, Any]) -> Prompt:
    """A 2.x prompt, without the notices that the upgrade put in place of attachments."""
    text = string(info.get("text")) or ""
    files = [mapping(file).get("name") or mapping(file).get("mime") for file in sequence(info.get("files"))]
    if "[Attachment unavailable" in text:
        kept = []
        for piece in text.split("\n\n"):
            notice = _UNAVAILABLE.fullmatch(piece)
            if notice:
                files.append(notice[1])
            else:
                kept.append(piece)
        text = "\n\n".join(kept)
    return _prompt(text, files)


def _prompt(text: str, files: list[Any]) -> Prompt:
    """A file that the words name already is not named again."""
    words = unquoted(text)
    names = [name if isinstance(name, str) else "file" for name in files]
    return Prompt(words, tuple(Image(name) for name in names if name not in words))


def unquoted(text: str) -> str:
    """``opencode run`` puts a prompt with blanks into quotes and escapes the quotes in it, and nothing else."""
    quoted = _QUOTED.fullmatch(text.strip())
    return quoted[1].replace('\\"', '"') if quoted else text
