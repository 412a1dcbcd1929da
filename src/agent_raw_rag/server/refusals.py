"""The one map from expected errors to what a model reads. Everything else is a bug: the SDK masks and logs it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import ValidationError

from agent_raw_rag.errors import StoreError
from agent_raw_rag.runtime import expected


def refusal(failed: ToolError, lag: str | None = None) -> ToolError:
    """The error as the caller is to read it: what is wrong, where, and what to do.

    ``lag`` says that the store is being filled right now, which is then the better advice.
    """
    cause = failed.__cause__
    known = expected(cause) if cause is not None else None
    if isinstance(known, StoreError) and lag:
        return ToolError(f"{_clipped(known.message)} {lag} Try again in a moment. ({known.code})")
    if known is not None:
        return ToolError(f"{_clipped(str(known))} ({known.code})")
    if isinstance(cause, ValidationError) and not isinstance(failed, UnexpectedToolError):
        return ToolError("\n".join(_wrong(dict(one)) for one in cause.errors(include_url=False)) + " (bad_argument)")
    return failed


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


def unknown_arguments(given: Mapping[str, Any], known: Iterable[str]) -> ToolError | None:
    """The refusal of arguments that the tool does not have; None: all are known."""
    names = list(known)
    unknown = [name for name in given if name not in names]
    if not unknown:
        return None
    near = difflib.get_close_matches(unknown[0], names, 1, 0.5)
    hint = f"Did you mean {near[0]!r}?" if near else f"The arguments are: {', '.join(names)}."
    return ToolError(f"Unknown argument {_shown(unknown[0])}. {hint} (bad_argument)")


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
