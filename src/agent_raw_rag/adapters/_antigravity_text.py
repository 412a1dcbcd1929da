"""Taking Antigravity's wrapping off: what the human typed, what a call was given, and how it ended."""

from __future__ import annotations

import re
from typing import Any

import orjson

from agent_raw_rag.adapters.base import mapping, string
from agent_raw_rag.models import Outcome, ToolResult

UI_ARGUMENTS = ("toolAction", "toolSummary")
"""Labels for the screen that every call carries."""

_REQUEST = re.compile(r"<USER_REQUEST>(.*?)</USER_REQUEST>", re.DOTALL)
_INJECTED = re.compile(
    r"<(ADDITIONAL_METADATA|USER_SETTINGS_CHANGE|EPHEMERAL_MESSAGE|SYSTEM_MESSAGE)>.*?(?:</\1>|\Z)", re.DOTALL
)

_STAMPS = re.compile(r"\A(?:(?:Created|Completed) At: .*\n|\s*\n)+")
_EXIT = re.compile(
    r"^\s*(?:the )?command (?:failed|exited) with (?:exit )?code:? *(-?\d+)", re.IGNORECASE | re.MULTILINE
)
_SUCCESS = re.compile(r"^\s*(?:the )?command completed successfully", re.IGNORECASE | re.MULTILINE)
_OUTPUT = re.compile(r"^\s*Output:[ \t]*$", re.MULTILINE)
_REJECTED = re.compile(r"\buser (?:has )?(?:rejected|denied|declined)", re.IGNORECASE)
_CANCELLED = re.compile(r"cancel|abort|interrupt", re.IGNORECASE)


def human_words(content: str) -> str:
    """What the human typed; everything else in a prompt was put around it. A clipped prompt may lack its end."""
    requests = [words.strip() for words in _REQUEST.findall(content)]
    if requests:
        return "\n\n".join(words for words in requests if words)
    return _INJECTED.sub("", content.partition("<USER_REQUEST>")[2] or content).strip()


def tool_name(name: object) -> str:
    """The tool's name without the prefix that some models put before it."""
    return (string(name) or "tool").removeprefix("default_api:")


def arguments(args: object, twice: bool) -> dict[str, Any] | str:
    """A call's arguments. In the clipped transcript each value is JSON inside JSON (``twice``)."""
    known = _decoded(args) if isinstance(args, str) else args
    if not isinstance(known, dict):
        return known if isinstance(known, str) else {}
    return {name: _decoded(value) if twice else value for name, value in known.items() if name not in UI_ARGUMENTS}


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


def result(data: dict[str, Any], call_id: str) -> ToolResult:
    """How a call ended. A command that failed is DONE, and says so in words; ERROR means the tool itself failed."""
    content = _STAMPS.sub("", string(data.get("content")) or string(data.get("error")) or "")
    status = str(data.get("status"))
    code = _exit_code(content)
    outcome = _outcome(status, content, code)
    return ToolResult(call_id, outcome, content.strip() if outcome is Outcome.FAILED else "", code)


def _outcome(status: str, content: str, code: int | None) -> Outcome:
    if status == "RUNNING":
        return Outcome.UNKNOWN
    if _CANCELLED.search(status):
        return Outcome.INTERRUPTED
    if status == "ERROR":
        return Outcome.REJECTED if _REJECTED.search(content[:500]) else Outcome.FAILED
    return Outcome.FAILED if code else Outcome.OK


def _exit_code(content: str) -> int | None:
    """As the words before the output state it."""
    output = _OUTPUT.search(content)
    head = content[: output.start()] if output else content[:500]
    failed = _EXIT.search(head)
    if failed:
        return int(failed[1])
    return 0 if _SUCCESS.search(head) else None


def sub_agents(content: object, own: object) -> list[str]:
    """Ids of the conversations that a call to start sub-agents names."""
    found = re.findall(r'conversation ?id"?\s*[:=]\s*"?([0-9a-f]{8}-[0-9a-f-]{27})', str(content), re.IGNORECASE)
    return [conversation for conversation in dict.fromkeys(found) if conversation != own]


def sender(content: object) -> str | None:
    """The conversation that a system message comes from."""
    found = re.search(r"\bsender=\"?([0-9a-f]{8}-[0-9a-f-]{27})", str(content))
    return found[1] if found else None


def prompt_of(row: dict[str, Any]) -> str:
    """The words of a row of the prompt history, unless it is a command to the program."""
    words = string(row.get("display")) or ""
    return "" if row.get("type") == "slash_command" else words.strip()


def metadata_time(data: object) -> object:
    """When an artifact was last written, in whatever form its metadata holds it."""
    known = mapping(data)
    return known.get("updatedAt") or known.get("lastModified") or known.get("createdAt")
