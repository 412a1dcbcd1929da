"""Refusals as HTTP: one shape for all, ``{error, code, message, hint}``, and one status for each kind."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from agent_raw_rag.errors import (
    ConflictError,
    ForbiddenError,
    ModelError,
    NotActiveError,
    NotConfiguredError,
    NotFoundError,
    RawRagError,
    StoreError,
    UnauthorizedError,
    UpstreamError,
    UpstreamTimeoutError,
    UsageError,
)  # fmt: skip
from agent_raw_rag.server.http.wording import as_operations

STATUSES: dict[type[RawRagError], int] = {
    UsageError: 400, UnauthorizedError: 401, ForbiddenError: 403, NotFoundError: 404, ConflictError: 409,
    NotActiveError: 409, NotConfiguredError: 503, UpstreamTimeoutError: 504, UpstreamError: 502, ModelError: 503,
    StoreError: 503, RawRagError: 500,
}  # fmt: skip
"""Error -> status; the nearest ancestor counts."""

SPACE_HEADERS = ("x-raw-rag-space", "x-octop-agent-id")
"""The first one wins; two that disagree are refused."""
TOKEN_HEADERS = ("x-raw-rag-token", "x-octop-memory-token")
"""Looked at before ``Authorization``, which may be meant for somebody further up."""


class Refused(Exception):  # noqa: N818 - it is an answer
    """A request that goes no further."""

    def __init__(
        self, status: int, code: str, message: str, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"error": code, "code": code, "message": message, "hint": hint}
        self.headers = dict(headers or {})


def wrong_host() -> Refused:
    """421: the Host header names somebody else."""
    return Refused(
        421,
        "wrong_host",
        "This server does not answer to that Host.",
        "Name it in [http] allowed_hosts, if it is yours.",
    )


def wrong_origin() -> Refused:
    """403: a page of somebody else asks."""
    return Refused(
        403, "forbidden", "This server does not answer to pages of that Origin.", "Name it in [http] allowed_origins."
    )


def unauthorized() -> Refused:
    """401: no token, a wrong, an expired or a revoked one. Nobody is told which."""
    return Refused(
        401, "unauthorized", "A token is needed, and it must be live.",
        "Send `Authorization: Bearer …`; `raw-rag token create` makes a token.", {"www-authenticate": 'Bearer realm="raw-rag"'},
    )  # fmt: skip


def used_link() -> Refused:
    """401: what was shown is no one-time code that works. Nobody is told whether it ever did."""
    return Refused(
        401, "unauthorized", "This link was used, or is too old.", "`raw-rag web` makes another: each opens the page once.",
        {"www-authenticate": 'Bearer realm="raw-rag"'},
    )  # fmt: skip


def no_space() -> Refused:
    """404: no space was named, or one that is unknown, disabled or not the token's. Nobody is told which."""
    return Refused(
        404, "not_found", "missing or unknown space (X-Raw-Rag-Space, or X-Octop-Agent-Id)",
        "Name a space that the token opens in the header X-Raw-Rag-Space.",
    )  # fmt: skip


def no_path() -> Refused:
    """404: nothing is served there."""
    return Refused(404, "not_found", "Nothing is served under this path.", "`/openapi.json` lists what is served.")


def wrong_method(allowed: Iterable[str]) -> Refused:
    """405."""
    methods = ", ".join(allowed)
    return Refused(405, "wrong_method", f"Only {methods} is served there.", headers={"allow": methods})


def too_large(limit: int) -> Refused:
    """413."""
    return Refused(413, "too_large", f"The body has more than {limit:,} bytes.", headers={"connection": "close"})


def no_json() -> Refused:
    """400: the body is said to be something else."""
    return Refused(400, "bad_argument", "The body must be JSON, with Content-Type: application/json.")


def too_slow() -> Refused:
    """408: the body does not come."""
    return Refused(408, "timeout", "The body did not arrive in time.", headers={"connection": "close"})


def of_error(error: RawRagError) -> Refused:
    """An expected error."""
    status = next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    return Refused(status, error.code, as_operations(error.message), as_operations(error.hint))


def of_bug(error: Exception) -> Refused:
    """500: a bug. Its text may hold what somebody sent, and stays here."""
    return Refused(500, "bug", f"Unexpected: {type(error).__name__}.", "The server's log has the details.")


def unavailable() -> Refused:
    """503: our own store cannot be read."""
    return Refused(503, "store", "The store cannot be read now.", "The server's log says why.")


_KINDS = {
    "unauthorized": "authentication_error", "forbidden": "permission_error", "not_found": "invalid_request_error",
    "upstream": "upstream_error", "timeout": "upstream_error", "not_configured": "upstream_error",
}  # fmt: skip
"""Code -> what the servers of models call it; the others are ``api_error``."""


def as_provider(refused: Refused) -> Refused:
    """As the clients of model servers read refusals: OpenAI's look for ``error.message``, Anthropic's for ``type`` as well."""
    code, message = refused.body["code"], f"{refused.body['message']} {refused.body['hint']}".rstrip()
    refused.body = {"type": "error", "error": {"type": _KINDS.get(code, "api_error"), "code": code, "message": message}}
    return refused


async def answer(send: Callable[[MutableMapping[str, Any]], Awaitable[None]], refused: Refused) -> None:
    """Send a refusal."""
    body = rendered(refused.body)
    headers = {"content-type": "application/json", "content-length": str(len(body)), **refused.headers}
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def rendered(body: Any) -> bytes:
    """A JSON body."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
