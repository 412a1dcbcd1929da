"""One line for a tool call: ``[Tool] target (exit n)``; after a failure the end of its output."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_raw_rag.models import Action, Outcome, Role, ToolResult
from agent_raw_rag.sanitize.arguments import as_mapping, first_text, text_of
from agent_raw_rag.sanitize.commands import command_of
from agent_raw_rag.sanitize.echoes import is_own
from agent_raw_rag.sanitize.edits import PATH_KEYS, edit_of, is_patch, patch_edit
from agent_raw_rag.sanitize.options import Options
from agent_raw_rag.sanitize.tail import PREFIX, error_tail
from agent_raw_rag.sanitize.tools import Category, category_of, shown_name

Mask = Callable[[str], str]
Args = Mapping[str, Any]

_ACTION_LINE = re.compile(r"\[([A-Za-z][\w.:/-]{1,79})\](?: \S.*)?").fullmatch
_NO_TOOL = ("redacted:", "image")
"""What stands in brackets for something else: a masked secret, a picture."""
MAX_TARGET = 120
MAX_COMMAND = 200
MAX_PROMPT = 200
_MARGIN = 2_000
"""Characters of a target that are masked before it is cut: half a secret would not be known as one."""

_PATTERN_KEYS = ("pattern", "query", "regex", "glob", "searchterm", "q", "queries", "includes")
_PLACE_KEYS = (
    *PATH_KEYS,
    "searchpath",
    "searchdirectory",
    "directorypath",
    "directory",
    "dir",
    "folder",
    "paths",
    "files",
)
_WEB_KEYS = ("query", "url", "uri", "q", "searchterm", "queries", "urls", "href")
_PROMPT_KEYS = ("prompt", "message", "task", "instructions", "assignment", "content", "text", "input")
_TASK_KEYS = ("description", *_PROMPT_KEYS, "title", "taskname", "name")
_TODO_KEYS = ("content", "step", "subject", "title", "text", "task", "description", "id")


def action_lines(action: Action, mask: Mask, options: Options) -> list[str]:
    """The line of a tool call and, if it failed, the last lines of its output. Nothing for a call of our own memory."""
    args, category = as_mapping(action.call.args), category_of(action.call.name)
    if is_own(action.call.name, args, category, options):
        return []
    words = [f"[{shown_name(action.call.name)}]", target_of(category, args, mask), ending(action.result)]
    line = " ".join(word for word in words if word)
    if action.result is None or action.result.outcome is not Outcome.FAILED:
        return [line]
    return [line, *error_tail(action.result.output, options.error_tail_lines, mask)]


def said_and_done(role: str, text: str) -> tuple[str, list[str]]:
    """A stored turn's text -> what was said, byte for byte, and the actions that follow it, each with the end of its output.

    The way back of ``action_lines``, by the form of the lines at the text's end. Only an assistant's turn has actions: what
    anybody else said is said, whatever it looks like. ``unsplit`` is the way back again: no byte is lost between them.
    """
    lines = text.split("\n")
    first = _first_action(lines) if role == Role.ASSISTANT else len(lines)
    said = "\n".join(lines[:first])
    if first and not said:
        return text, []  # an empty line before an action: nobody could tell it from none
    actions: list[str] = []
    for line in lines[first:]:
        if line.startswith(PREFIX):
            actions[-1] += f"\n{line}"
        else:
            actions.append(line)
    return said, actions


def unsplit(said: str, actions: Sequence[str]) -> str:
    """The stored text of what ``said_and_done`` told apart: one line break before each action, none where nothing was said."""
    return "\n".join([said, *actions] if said else actions)


def target_of(category: Category, args: Args, mask: Mask) -> str:
    """What the call was about, on one line. Arguments that are not the category's show their first text."""
    return _TARGETS[category](args, mask) or _other(args, mask)


def ending(result: ToolResult | None) -> str:
    """``(exit n)`` only where the log states the code; success without a code and an unknown outcome say nothing."""
    if result is None:
        return ""
    code, outcome = result.exit_code, result.outcome
    if code is not None and (code != 0 or outcome in (Outcome.OK, Outcome.UNKNOWN)):
        return f"(exit {code})"
    return f"({outcome.value})" if outcome in (Outcome.FAILED, Outcome.REJECTED, Outcome.INTERRUPTED) else ""


# ---------------------------------------------------------------- targets by category


def _read(args: Args, mask: Mask) -> str:
    pattern, place = text_of(args, _PATTERN_KEYS), text_of(args, _PLACE_KEYS)
    return _line(f"{_first_line(pattern)} in {place}" if pattern and place else pattern or place, MAX_TARGET, mask)


def _edit(args: Args, mask: Mask) -> str:
    edit = edit_of(args)
    return f"{_line(edit.target, MAX_TARGET, mask)} {edit.counts}".strip() if edit.target else ""


def _shell(args: Args, mask: Mask) -> str:
    command = command_of(args)
    if is_patch(command) and "apply_patch" in command[:40]:
        edit = patch_edit(command)
        return f"apply_patch {_line(edit.target, MAX_TARGET, mask)} {edit.counts}"
    more = command.count("\n")
    return _line(command, MAX_COMMAND, mask) + (f" …(+{more} lines)" if more else "")


def _task(args: Args, mask: Mask) -> str:
    tasks = args.get("tasks")
    if isinstance(tasks, list):
        return _line("; ".join(_entries(tasks, _TASK_KEYS)), MAX_PROMPT, mask)
    return _line(" ".join(text_of(args, _TASK_KEYS)[:_MARGIN].split()), MAX_PROMPT, mask)


def _todo(args: Args, mask: Mask) -> str:
    for key in ("todos", "plan", "items", "tasks", "ops"):
        entries = args.get(key)
        if isinstance(entries, list) and entries:
            first = next(iter(_entries(entries, _TODO_KEYS)), "")
            return _line(f"{len(entries)} items: {first}" if first else f"{len(entries)} items", MAX_TARGET, mask)
    return _line(text_of(args, ("subject", "taskid", "content", "todos")), MAX_TARGET, mask)


def _web(args: Args, mask: Mask) -> str:
    return _line(text_of(args, _WEB_KEYS), MAX_TARGET, mask)


def _other(args: Args, mask: Mask) -> str:
    """The first text among the arguments. It is masked together with its name: ``password`` tells what it is."""
    name, words = first_text(args)
    before = f'{name}="'
    masked = mask(f'{before}{_first_line(words)[:_MARGIN]}"')
    return _line(masked.removeprefix(before).removesuffix('"'), MAX_TARGET, mask)


_TARGETS: dict[Category, Callable[[Args, Mask], str]] = {
    Category.READ: _read,
    Category.EDIT: _edit,
    Category.SHELL: _shell,
    Category.TASK: _task,
    Category.TODO: _todo,
    Category.WEB: _web,
    Category.OTHER: _other,
}


def _first_action(lines: Sequence[str]) -> int:
    first = len(lines)
    for place in range(len(lines) - 1, -1, -1):
        if _is_action_line(lines[place]):
            first = place
        elif not lines[place].startswith(PREFIX):
            break
    return first


def _is_action_line(line: str) -> bool:
    found = _ACTION_LINE(line)
    return found is not None and not found[1].startswith(_NO_TOOL)


def _entries(entries: list[Any], keys: tuple[str, ...]) -> list[str]:
    """The words of each entry of a list of objects or texts."""
    texts = (text_of(as_mapping(entry), keys) if isinstance(entry, Mapping | str) else "" for entry in entries[:20])
    return [text for text in texts if text]


def _first_line(text: str) -> str:
    return text.lstrip().partition("\n")[0].partition("\r")[0].rstrip()


def _line(text: str, most: int, mask: Mask) -> str:
    """The first line, masked, then cut: ``…`` says that it was longer."""
    masked = mask(_first_line(text)[:_MARGIN]).strip()
    return masked if len(masked) <= most else f"{masked[: most - 1]}…"
