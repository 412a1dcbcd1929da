"""The servers of generation models that requests are handed on to: which one, under what address, with which headers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agent_raw_rag.encode.http_url import server_root
from agent_raw_rag.errors import NotFoundError, UpstreamError
from agent_raw_rag.memory.token_terms import MARK

Headers = Sequence[tuple[bytes, bytes]]
"""(name in lower case, value)."""
_task = re.compile(r"/(?:chat/completions|completions|messages)/*$")
_HOP = frozenset(
    b"connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
"""What concerns one connection, and not what travels over it."""
_SECRETS = frozenset(b"authorization x-api-key api-key x-goog-api-key cookie".split())
TOKEN_MARK = MARK.encode()
"""How each token of ours begins: none may go up, whoever's it is."""
_OURS = (b"x-raw-rag-", b"x-octop-", b"x-ragger-")
_CALLER = (b"x-forwarded-", b"access-control-", b"sec-fetch-")
_NOT_UP = _HOP | frozenset(b"host content-length accept-encoding expect origin referer forwarded via x-real-ip".split())
"""What says who asks us, and from where."""
_ORIGIN = frozenset(b"set-cookie set-cookie2 alt-svc strict-transport-security clear-site-data".split())
"""What a server says to browsers about itself: here it would be said about us."""
_NOT_DOWN = _HOP | _ORIGIN | frozenset((b"x-session-id", b"x-accel-buffering"))


@dataclass(frozen=True, slots=True)
class Upstream:
    """One of them."""

    name: str
    url: str
    """With or without ``/v1``."""
    form: str = "openai"
    key_variable: str = ""
    passthrough: bool = False
    """The caller's own key goes up, and none of ours."""
    models: tuple[str, ...] = ()
    """Patterns; none: whatever no other names."""
    connect_seconds: float = 10.0
    read_seconds: float = 600.0

    @property
    def root(self) -> str:
        """Its address without ``/v1``. Raises ConfigError: it is none."""
        return server_root(_task.sub("", self.url))

    def key(self, environment: Mapping[str, str]) -> str:
        """Its key; empty: it needs none.

        Raises:
            UpstreamError: the variable that should hold it is not set, or holds no key. The key is not in the message.
        """
        if not self.key_variable or self.passthrough:
            return ""
        key = environment.get(self.key_variable, "").strip()
        if not key or not (key.isascii() and key.isprintable()):
            wrong = "holds characters that no key has" if key else "is not set"
            raise UpstreamError(
                f"The environment variable {self.key_variable} {wrong}: it should hold the key of {self.name}.",
                hint="Set it where the server is started.",
            )
        return key


def chosen(upstreams: Sequence[Upstream], form: str, model: str, named: str | None = None) -> Upstream:
    """Whom a request goes to: whoever it names, else the first of its form whose patterns fit the model, else the first of its
    form without patterns, else the first of its form.

    Raises:
        NotFoundError: it names nobody that there is, or nobody speaks its form.
    """
    if named:
        found = next((one for one in upstreams if one.name == named), None)
        if found is None:
            raise NotFoundError(f"There is no upstream {named[:80]!r}.", hint=f"There are: {_names(upstreams)}.")
        return found
    fitting = [one for one in upstreams if one.form == form]
    if not fitting:
        raise NotFoundError(
            f"No upstream speaks the form {form!r}.",
            hint=f"Name one in the header X-Raw-Rag-Upstream ({_names(upstreams)}), or set one up under [proxy.upstreams].",
        )
    matching = (one for one in fitting if model and any(fnmatchcase(model, pattern) for pattern in one.models))
    return next(matching, next((one for one in fitting if not one.models), fitting[0]))


def headers_up(upstream: Upstream, sent: Headers, key: str, token: str) -> list[tuple[bytes, bytes]]:
    """The headers of a request that is handed on. ``token``: ours, which the caller showed; it never goes up."""
    dropped = _NOT_UP | _named(sent) | (frozenset((b"cookie",)) if upstream.passthrough else _SECRETS)
    secret = token.encode("latin-1", "replace") or TOKEN_MARK
    kept = [
        (name, value) for name, value in sent
        if name not in dropped and not name.startswith(_OURS + _CALLER) and secret not in value and TOKEN_MARK not in value
    ]  # fmt: skip
    kept.append((b"accept-encoding", b"identity"))
    kept += [(name.encode(), value.encode()) for name, value in key_headers(upstream.form, key).items()]
    return kept


def key_headers(form: str, key: str) -> dict[str, str]:
    """How a key is shown to a server that speaks this form."""
    if not key:
        return {}
    return {"x-api-key": key} if form == "anthropic" else {"authorization": f"Bearer {key}"}


def headers_down(sent: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer that is handed on."""
    lower = [(name.lower(), value) for name, value in sent]
    dropped = _NOT_DOWN | _named(lower)
    chunked = any(name == b"transfer-encoding" for name, _ in lower)
    if chunked:
        dropped |= {b"content-length"}
    return [pair for pair in lower if pair[0] not in dropped and not pair[0].startswith(b"access-control-")]


def _named(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    """What ``Connection`` names is for this connection only."""
    named = b",".join(value for name, value in headers if name == b"connection")
    return frozenset(one.strip().lower() for one in named.split(b",")) - {b"", b"content-length", b"content-type"}


def _names(upstreams: Sequence[Upstream]) -> str:
    return ", ".join(one.name for one in upstreams)
