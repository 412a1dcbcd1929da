"""The daemon's door: HTTP requests -> answers or errors, all of them JSON. Models and the store are asked in worker threads."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from agent_raw_rag.daemon.answers import Answers
from agent_raw_rag.daemon.bodies import counts_request, embeddings_request, parsed, rerank_request, search_request
from agent_raw_rag.daemon.patience import REQUEST_SECONDS
from agent_raw_rag.encode.daemon_address import proof
from agent_raw_rag.encode.daemon_link import MAX_REQUEST_BYTES
from agent_raw_rag.encode.daemon_states import STATES_PATH
from agent_raw_rag.encode.daemon_tokens import COUNTS_PATH
from agent_raw_rag.errors import ModelError, NotFoundError, RawRagError, StoreError, TextRefusedError, UsageError
from agent_raw_rag.log import NAME
from agent_raw_rag.runtime import expected

MODEL_THREADS = 4
SEARCH_THREADS = 4
"""Each kind has its own, so that a long batch keeps no search waiting, and no long text the question how it is."""
STATUSES: dict[type[RawRagError], int] = {
    UsageError: 400, NotFoundError: 404, TextRefusedError: 422, ModelError: 503, StoreError: 503,
    RawRagError: 500,
}  # fmt: skip
"""Error -> status; the nearest ancestor counts."""

Handler = Callable[[Request], Awaitable[Response]]
_log = logging.getLogger(NAME)


def build(answers: Answers, token: str = "", request_seconds: float = REQUEST_SECONDS) -> Starlette:
    """The application that gives these answers.

    Args:
        answers: What it answers by.
        token: Every request must show it; "": the socket's permissions suffice.
        request_seconds: For a body to come.
    """
    models, searches, counts, light = (anyio.CapacityLimiter(n) for n in (MODEL_THREADS, SEARCH_THREADS, 1, 1))

    def route(
        path: str, limiter: anyio.CapacityLimiter, answer: Callable[[bytes], dict[str, Any] | bytes], method: str
    ) -> Route:
        async def handle(request: Request) -> Response:
            try:
                _admit(request, token)
                content = await _content(request, request_seconds) if method == "POST" else b""
                found = await anyio.to_thread.run_sync(answer, content, limiter=limiter, abandon_on_cancel=True)
                return _bytes(found) if isinstance(found, bytes) else _json(200, found)
            except (HTTPException, ClientDisconnect):
                raise
            except anyio.get_cancelled_exc_class():
                # The end came, and this took longer than the grace. Nothing is left to be cancelled but the answer's way out.
                return _error(503, "ending", "The daemon ends.")
            except Exception as error:
                return _failed(request, error)

        return Route(path, handle, methods=[method])

    async def prove(request: Request) -> Response:
        return _json(200, {"proof": proof(token, request.query_params.get("challenge", ""))})

    return Starlette(
        routes=[
            *([Route("/proof", prove)] if token else []),
            route("/health", light, lambda _: answers.health(), "GET"),
            route(COUNTS_PATH, counts, lambda body: answers.token_counts(counts_request(parsed(body))), "POST"),
            route("/v1/embeddings", models, lambda body: answers.embeddings(embeddings_request(parsed(body))), "POST"),
            route(STATES_PATH, models, lambda body: answers.token_states(embeddings_request(parsed(body))), "POST"),
            route("/v1/rerank", models, lambda body: answers.rerank(rerank_request(parsed(body))), "POST"),
            route("/search", searches, lambda body: answers.search(search_request(parsed(body))), "POST"),
        ],
        exception_handlers={HTTPException: _refused, ClientDisconnect: _nobody},
    )


def _admit(request: Request, token: str) -> None:
    """Raises HTTPException for who does not show the token."""
    shown = request.headers.get("authorization", "")
    if token and not secrets.compare_digest(shown.encode(), f"Bearer {token}".encode()):
        raise HTTPException(401, "The token is missing or wrong.")


async def _content(request: Request, seconds: float) -> bytes:
    """The body, no larger than is allowed, whatever its head says. Raises HTTPException."""
    content = bytearray()
    try:
        with anyio.fail_after(seconds):
            async for piece in request.stream():
                content += piece
                if len(content) > MAX_REQUEST_BYTES:
                    raise HTTPException(413, f"The body has more than {MAX_REQUEST_BYTES:,} bytes.")
    except TimeoutError:
        raise HTTPException(408, f"The body did not come within {seconds:.0f} s.") from None
    return bytes(content)


def _json(status: int, values: dict[str, Any]) -> Response:
    content = json.dumps(values, separators=(",", ":"), allow_nan=False)
    return Response(content, status, media_type="application/json")


def _bytes(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")


def _error(status: int, code: str, message: str, hint: str = "") -> Response:
    return _json(status, {"error": {"code": code, "message": message, "hint": hint}})


_REFUSALS = {401: "wrong_token", 404: "no_such_path", 405: "wrong_method", 408: "too_slow", 413: "too_large"}


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    hint = "Paths: GET /health, POST /v1/embeddings, /v1/rerank, /search." if error.status_code in (404, 405) else ""
    return _error(error.status_code, _REFUSALS.get(error.status_code, "refused"), f"{error.detail}", hint)


async def _nobody(request: Request, error: Exception) -> Response:
    """Who asked is gone: this reaches nobody."""
    return Response(status_code=400)


def _failed(request: Request, error: Exception) -> Response:
    known = expected(error)
    if known is None:
        _log.error("a request to %s failed", request.url.path, exc_info=error)
        return _error(500, "bug", f"Unexpected: {type(error).__name__}.", "The daemon's log has the details.")
    status = next(status for kind, status in STATUSES.items() if isinstance(known, kind))
    return _error(status, known.code, known.message, known.hint)
