"""The page: its files, as they were built, to anybody. What they show is asked for with a token.

Every file is read once, at the start, and a request is only looked up among their names: no path is ever made of what is asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.responses import Response

from agent_raw_rag.server.http.doors import Door
from agent_raw_rag.server.http.guard import App, Receive, Scope, Send
from agent_raw_rag.server.http.refusals import no_path
from agent_raw_rag.server.http.routes import Part, Route
from agent_raw_rag.server.http.visit import headers_of, visit_of

INDEX = "index.html"
PAGE = Door("/", ("GET", "HEAD"), needs_token=False, needs_space=False)
ASSET = Door("/assets/{file}", ("GET", "HEAD"), needs_token=False, needs_space=False)
TYPES = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml", "png": "image/png", "ico": "image/x-icon", "woff2": "font/woff2",
    "webmanifest": "application/manifest+json", "json": "application/json", "txt": "text/plain; charset=utf-8",
}  # fmt: skip
"""A file of another kind is not served."""
POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
    "font-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
))  # fmt: skip
"""Nothing from elsewhere, nothing inline, and no text that becomes markup: what is stored may hold any of it."""
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_HASHED = re.compile(r"-[A-Z0-9]{8}\.")
"""A name that changes with the content, as the bundler makes them."""
_NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>agent-raw-rag</title>
<h1>The page was not built</h1><p>This copy of the product is a checkout. Build the page, and start the server again:</p>
<pre>cd web &amp;&amp; npm ci &amp;&amp; npm run build</pre></html>
"""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, ready to be sent."""

    content: bytes
    headers: Mapping[str, str]

    @property
    def tag(self) -> str:
        """Its ETag."""
        return self.headers["etag"]


def web_part(folder: Traversable | None = None) -> Part:
    """The part of the application that serves the page. ``folder``: of its files; None: the package's."""
    assets = read_assets(folder or files("agent_raw_rag.server.http") / "assets")
    index = assets.pop(INDEX, None) or _asset(INDEX, _NOT_BUILT)
    return Part([Route(PAGE, _answering({"": index})), Route(ASSET, _answering(assets))])


def read_assets(folder: Traversable) -> dict[str, Asset]:
    """Name -> file, of every file of a folder that may be served; none if there is no such folder."""
    if not folder.is_dir():
        return {}
    found = [one for one in folder.iterdir() if one.is_file() and one.name.rpartition(".")[2] in TYPES]
    return {one.name: _asset(one.name, one.read_bytes()) for one in found}


def _asset(name: str, content: bytes) -> Asset:
    lasting = "public, max-age=31536000, immutable" if _HASHED.search(name) else "no-cache"
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    kind = TYPES[name.rpartition(".")[2]]
    return Asset(content, {**HEADERS, "content-type": kind, "cache-control": lasting, "etag": tag})


def _answering(assets: Mapping[str, Asset]) -> App:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        asset = assets.get(visit_of(scope).match.path.get("file", ""))
        if asset is None:
            raise no_path()
        known = ",".join(headers_of(scope).get("if-none-match", ()))
        if asset.tag in known or known.strip() == "*":
            await Response(status_code=304, headers=dict(asset.headers))(scope, receive, send)
            return
        content = b"" if scope["method"] == "HEAD" else asset.content
        length = {"content-length": str(len(asset.content))}
        await Response(content, headers={**asset.headers, **length})(scope, receive, send)

    return answer
