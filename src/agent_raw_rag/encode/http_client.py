"""JSON to an inference server and back, or a ModelError that says what it answered and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from agent_raw_rag.encode.http_bounded import within
from agent_raw_rag.encode.http_connection import Connection
from agent_raw_rag.encode.http_patience import CONNECT_SECONDS, Circuit, Patience, Timing, wait_seconds
from agent_raw_rag.encode.http_url import shown
from agent_raw_rag.errors import ModelError

if TYPE_CHECKING:
    import httpx2

MAX_ANSWER_BYTES = 64 << 20
"""64 texts of 4,096 dimensions take 6 MB as JSON."""
TRY_AGAIN = frozenset({429, 502, 503, 504})
"""Too busy, or not there for a moment. Any other refusal would be the same the next time."""
UNREACHABLE = "Start it, or correct the url in the configuration."
GRACE_SECONDS = 0.2
"""The library's own timeouts come first: they say more and leave no thread behind."""
_QUOTED_CHARS = 200


class RefusedError(ModelError):
    """The server answered with an error status."""

    def __init__(self, message: str, *, status: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class _PassingError(ModelError):
    """An attempt failed in a way that may pass."""

    def __init__(self, message: str, *, hint: str = UNREACHABLE, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.headers = headers or {}


class HttpClient:
    """One server, asked with one kind of patience; several may share a connection. Safe to use from several threads."""

    def __init__(
        self, connection: Connection, patience: Patience, *, max_bytes: int = MAX_ANSWER_BYTES,
        timing: Timing | None = None,
    ) -> None:  # fmt: skip
        self.root = connection.root
        self._connection = connection
        self._patience = patience
        self._max_bytes = max_bytes
        self._timing = timing or Timing()
        self._circuit = Circuit(self._timing.clock)

    def get(self, path: str) -> Any:
        """What the server answers. Raises as ``post``."""
        return self._ask("GET", path, None, self.deadline())

    def deadline(self) -> float:
        """On the client's clock, of a call that begins now."""
        return self._timing.clock() + self._patience.deadline_seconds

    def post(self, path: str, body: Mapping[str, Any], until: float | None = None) -> Any:
        """What the server answers to a JSON body, parsed. ``until``: the ``deadline`` of several calls together.

        Raises:
            RefusedError: it answered with an error status that a repetition would not change.
            ModelError: it cannot be reached, is not done in time, or does not answer in JSON; or the key is missing.
        """
        content = json.dumps(body, separators=(",", ":")).encode("ascii")
        return self._ask("POST", path, content, self.deadline() if until is None else until)

    # ------------------------------------------------------------ attempts

    def _ask(self, method: str, path: str, body: bytes | None, until: float) -> Any:
        dead = self._circuit.why_open()
        if dead is not None:
            raise ModelError(dead)
        try:
            answer = self._persist(method, path, body, until)
        except _PassingError as error:
            self._circuit.open(self._patience.pause_seconds, error.message)
            raise ModelError(error.message, hint=error.hint) from error
        self._circuit.close()
        return self._parsed(answer, path)

    def _persist(self, method: str, path: str, body: bytes | None, until: float) -> bytes:
        """The answer's bytes, after as many attempts as the patience allows."""
        attempt = 0
        while True:
            try:
                return self._attempt(method, path, body, until)
            except _PassingError as error:
                wait = wait_seconds(attempt, error.headers, self._timing.chance())
                if attempt == self._patience.retries or self._timing.clock() + wait >= until:
                    raise
                self._timing.wait(wait)
                attempt += 1

    def _attempt(self, method: str, path: str, body: bytes | None, until: float) -> bytes:
        import httpx2

        headers = self._connection.headers()
        left = max(0.05, until - self._timing.clock())
        timeout = httpx2.Timeout(min(self._patience.timeout_seconds, left), connect=min(CONNECT_SECONDS, left))
        try:
            request = self._connection.client().build_request(
                method, self.root + path, content=body, headers=headers, timeout=timeout
            )
            return within(left + GRACE_SECONDS, lambda: self._exchange(request, until))
        except (httpx2.TimeoutException, TimeoutError) as error:
            raise _PassingError(f"The inference server {self.root} did not answer in time.") from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise _PassingError(f"The inference server {self.root} cannot be reached: {_reason(error)}.") from error

    def _exchange(self, request: httpx2.Request, until: float) -> bytes:
        response = self._connection.client().send(request, stream=True)
        try:
            content = self._read(response, until)
        finally:
            response.close()
        self._check(response, content)
        return content

    def _read(self, response: httpx2.Response, until: float) -> bytes:
        """The whole answer, no larger and no slower than is allowed."""
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if len(content) > self._max_bytes:
                raise ModelError(
                    f"The inference server {self.root} answered with more than {self._max_bytes:,} bytes.",
                    hint="Set a smaller encoder.batch_texts, or check the url.",
                )
            if self._timing.clock() > until:
                raise _PassingError(f"The inference server {self.root} did not answer in time.")
        return bytes(content)

    def _check(self, response: httpx2.Response, content: bytes) -> None:
        """Raise what an answer's status means."""
        status, where = response.status_code, f"The inference server {self.root}"
        if status < 300:
            return
        if status in TRY_AGAIN:
            message = f"{where} is not ready: status {status}{self._quoted(content)}."
            raise _PassingError(message, hint="Try again later.", headers=response.headers)
        if status < 400:
            target = shown(response.headers.get("location", ""))
            raise RefusedError(
                f"{where} redirects to {target}, which is not followed.", status=status, hint="Configure the new url."
            )
        if status in (401, 403):
            raise RefusedError(
                f"{where} refuses the key: status {status}.", status=status, hint=self._connection.key_hint
            )
        raise RefusedError(f"{where} answered with status {status}{self._quoted(content)}.", status=status)

    def _parsed(self, content: bytes, path: str) -> Any:
        """JSON -> values. ``NaN``, which some servers write, is read, so that what is wrong can be said."""
        try:
            return orjson.loads(content)
        except orjson.JSONDecodeError:
            try:
                return json.loads(content)
            except (ValueError, RecursionError) as error:
                start = self._connection.masked(" ".join(content[:200].decode("utf-8", "replace").split()))[:60]
                message = f"The inference server {self.root} did not answer in JSON to {path}: {start!r}."
                raise ModelError(message, hint="Check that the url is that of an inference server.") from error

    def _quoted(self, content: bytes) -> str:
        """What the server said of itself, short and on one line; a key that it repeats is masked."""
        text = self._connection.masked(" ".join(_said(content).split()))
        return f" ({text[:_QUOTED_CHARS]})" if text else ""


def _said(content: bytes) -> str:
    """The message in an error's body: ``error.message``, ``error``, ``message`` or ``detail``, else its beginning."""
    text = content[:4096].decode("utf-8", "replace")
    try:
        body = orjson.loads(content)
    except orjson.JSONDecodeError:
        return "" if text.lstrip().startswith("<") else text
    found = body.get("error", body.get("message", body.get("detail"))) if isinstance(body, dict) else None
    if isinstance(found, dict):
        found = found.get("message")
    return found if isinstance(found, str) else text


def _reason(error: Exception) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__
