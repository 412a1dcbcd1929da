"""Which words in a Codex rollout a human typed. Pure text rules, no state.

Messages with ``role: user`` mix what was typed with what the harness put in (instructions, environment, images' labels,
notifications). New versions label each content item (``content_item_kinds``); older ones are told apart by how
their texts begin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.adapters.base import mapping, sequence, string

HARNESS_OPENINGS = (
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<hook_prompt",
    "<user_action>",
    "<codex_internal_context",
    "<goal_context>",
    "<recommended_plugins>",
    "<external_",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<image>",
    "<image name=",
    "</image>",
    "<audio>",
    "</audio>",
    "Another language model started to solve this problem",
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
)
"""How the harness's own texts under ``role: user`` begin."""

_EDITOR_HEADINGS = ("# Context from my IDE setup:", "# Files mentioned by the user:")
_REQUEST_HEADING = "## My request for Codex:"
_SHELL = re.compile(r"<user_shell_command>\s*<command>\n?(.*?)\n?</command>(.*)", re.DOTALL)
_EXIT = re.compile(r"\bExit code: (-?\d+)")
_CWD = re.compile(r"<cwd>\s*(.*?)\s*</cwd>|Current working directory: ([^\n]+)")
_UNTOLD = ("", "unknown")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a human sent: the text as typed, and labels of the pictures that came with it."""

    text: str
    images: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Neither text nor picture."""
        return not self.text.strip() and not self.images


def is_harness(text: str) -> bool:
    """True for a text under ``role: user`` that the harness wrote."""
    return text.lstrip().startswith(HARNESS_OPENINGS)


def prompt_in_item(item: dict[str, Any]) -> Prompt:
    """The typed part of a ``response_item`` message with ``role: user``."""
    content = item.get("content")
    if isinstance(content, str):
        return Prompt("" if is_harness(content) else without_editor(content))
    texts, images = [], []
    for part, kind in zip(sequence(content), _kinds(item), strict=False):
        text = string(mapping(part).get("text"))
        if not (kind.startswith("user.") or kind in _UNTOLD):
            continue
        if text is not None and not is_harness(text):
            texts.append(text)
        elif mapping(part).get("type") == "input_image" and string(mapping(part).get("image_url")):
            images.append("image")
    return Prompt(without_editor("".join(texts)), tuple(images))


def prompt_in_event(event: dict[str, Any]) -> Prompt:
    """What a legacy ``user_message`` event says: only what the human sent. The oldest ones also told what was put in, by
    a ``kind``."""
    if event.get("kind") in ("user_instructions", "environment_context"):
        return Prompt("")
    images = ["image" for image in sequence(event.get("images")) if string(image)]
    images += [_name(path) for path in sequence(event.get("local_images")) if string(path)]
    return Prompt(without_editor(string(event.get("message")) or ""), tuple(images))


def prompt_in_turn_item(item: dict[str, Any]) -> Prompt:
    """What a completed ``UserMessage`` item of a paginated rollout says."""
    texts, images = [], []
    for part in map(mapping, sequence(item.get("content"))):
        kind = part.get("type")
        if kind == "text":
            texts.append(string(part.get("text")) or "")
        elif kind == "image":
            images.append("image")
        elif kind in ("local_image", "localImage"):
            images.append(_name(part.get("path")))
    return Prompt(without_editor("".join(texts)), tuple(images))


def without_editor(text: str) -> str:
    """The request alone, where an editor's extension put its open files before it under a fixed heading."""
    if text.lstrip().startswith(_EDITOR_HEADINGS):
        _, found, request = text.partition(_REQUEST_HEADING)
        return request.strip() if found else text
    return text


def shell_command(text: str) -> str | None:
    """The human's ``!`` command as ``! command``, with its exit code if it failed; None if the text is something else."""
    found = _SHELL.match(text.lstrip())
    if found is None:
        return None
    command, result = found.groups()
    code = _EXIT.search(result[:400])
    return f"! {command}" + (f" (exit {code[1]})" if code and code[1] != "0" else "")


def cwd_in(text: str) -> str | None:
    """The working directory that an ``<environment_context>`` names."""
    if not text.lstrip().startswith("<environment_context>"):
        return None
    found = _CWD.search(text[:4000])
    return (found[1] or found[2]) if found else None


def texts_of(item: dict[str, Any]) -> list[str]:
    """All texts of a message's content, human or not."""
    content = item.get("content")
    if isinstance(content, str):
        return [content]
    return [text for part in sequence(content) if (text := string(mapping(part).get("text"))) is not None]


def _kinds(item: dict[str, Any]) -> list[str]:
    """One label a content item; "" where the log gives none. A list that does not fit its content says nothing unless
    none of its labels is the human's."""
    content = sequence(item.get("content"))
    kinds = sequence(mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds"))
    told = [kind if isinstance(kind, str) else "" for kind in kinds]
    if len(told) == len(content):
        return told
    human = not told or any(kind.startswith("user.") or kind in _UNTOLD for kind in told)
    return ["" if human else "harness"] * len(content)


def _name(path: object) -> str:
    """A picture's file name."""
    return (string(path) or "image").replace("\\", "/").rsplit("/", 1)[-1] or "image"
