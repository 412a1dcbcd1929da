"""The one map from expected errors to what a model reads. Everything else is a bug: the SDK masks and logs it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent
from pydantic import ValidationError

from agent_raw_rag.errors import BadArgumentError, NotFoundError, RawRagError, StoreError
from agent_raw_rag.runtime import expected


def refusal(failed: ToolError, lag: str | None = None) -> RawRagError | None:
    """The error as the caller is to read it: what is wrong, where, and what to do. None: it is no expected one.

    ``lag`` says that the store is being filled right now, which is then the better advice.
    """
    cause = failed.__cause__
    known = expected(cause) if cause is not None else None
    if isinstance(known, StoreError) and lag:
        known.hint = f"{lag} Try again in a moment."
    if known is None and isinstance(cause, ValidationError) and not isinstance(failed, UnexpectedToolError):
        return BadArgumentError("\n".join(_wrong(dict(one)) for one in cause.errors(include_url=False)))
    return known


def error_result(error: RawRagError) -> CallToolResult:
    """An expected error as a tool's result: words for a model, the one error shape for programs."""
    told = f"{_clipped(str(error))} ({error.code})"
    shape = {**error.as_json(), "message": _clipped(error.message)}
    return CallToolResult(content=[TextContent(type="text", text=told)], structured_content=shape, is_error=True)


@contextmanager
def refused_as_protocol_error() -> Iterator[None]:
    """Prompts and resources have no error result: an expected error becomes the protocol's own, with its words."""
    try:
        yield
    except Exception as error:
        known = expected(error)
        if known is None:
            raise
        raise MCPError(code=INVALID_PARAMS, message=f"{_clipped(str(known))} ({known.code})") from error


def unknown_tool(name: str) -> RawRagError:
    """The refusal of a tool that is not offered, or not there."""
    return NotFoundError(f"Unknown tool {_shown(name)}.", hint="tools/list names those that are offered.")


def unknown_arguments(given: Mapping[str, Any], known: Iterable[str]) -> RawRagError | None:
    """The refusal of arguments that the tool does not have; None: all are known."""
    names = list(known)
    unknown = [name for name in given if name not in names]
    if not unknown:
        return None
    near = difflib.get_close_matches(unknown[0], names, 1, 0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"The arguments are: {', '.join(names)}."
    return BadArgumentError(f"Unknown argument {_shown(unknown[0])}.", hint=hint)


def _wrong(error: dict[str, Any]) -> str:
    name = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"{name} is missing."
    return f"{name} is {_shown(error['input'])}. {error['msg']}."


def _clipped(message: str) -> str:
    """A message without the middle of what was passed, if that was very long: its end says what to do."""
    return message if len(message) <= 1000 else f"{message[:400]}…{message[-400:]}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
