"""What the proxy says itself, in the form of whoever asks: errors as the clients of models know them."""

from __future__ import annotations

from agent_raw_rag.errors import NotFoundError, RawRagError
from agent_raw_rag.gateway.forms import ANTHROPIC, OPENAI, Form
from agent_raw_rag.server.http.guard import Receive, Scope, Send
from agent_raw_rag.server.http.refusals import of_error, rendered
from agent_raw_rag.server.http.visit import visit_of

_NOBODY = (
    "No server of models is set up, so nothing is handed on. Name one in the configuration: a section "
    "[proxy.upstreams.NAME] with its url, such as http://127.0.0.1:1234/v1."
)


def worded(error: RawRagError) -> str:
    """An error in one line."""
    return f"{error.message} {error.hint}".strip()


async def say(send: Send, form: Form, error: RawRagError) -> None:
    """Answer with an error of ours."""
    kind = "invalid_request_error" if isinstance(error, NotFoundError) else "upstream_error"
    await _say(send, form, of_error(error).status, worded(error), kind)


async def nobody(scope: Scope, receive: Receive, send: Send) -> None:
    """The answer where no upstream is set up."""
    target: bytes = scope["raw_path"]
    form = ANTHROPIC if target.startswith(ANTHROPIC.path.encode()) else OPENAI
    visit_of(scope).admitted()
    await _say(send, form, 503, _NOBODY, "upstream_error")


async def _say(send: Send, form: Form, status: int, message: str, kind: str) -> None:
    outer = {"type": "error"} if form is ANTHROPIC else {}
    body = rendered({**outer, "error": {"message": message, "type": kind}})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
