"""Which project a call without one means: the client's first root where it offers roots, else our working directory."""

from __future__ import annotations

import re
import sys
from urllib.parse import unquote, urlsplit

from anyio import from_thread
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, ListRootsResult
from pydantic import ValidationError

ANSWER_WITHIN_SECONDS = 2.0


class Surroundings:
    """Where the client works. A client that names roots but does not tell them is asked once."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._silent = False

    def project(self, context: Context) -> str:
        """The folder of the client's work. Called from a tool's worker thread."""
        capabilities = context.client_capabilities
        if self._silent or capabilities is None or capabilities.roots is None or not context.session.can_send_request:
            return self.folder
        return from_thread.run(self._first_root, context) or self.folder

    async def _first_root(self, context: Context) -> str | None:
        try:
            answer = await context.session.send_request(
                ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=ANSWER_WITHIN_SECONDS
            )
        except (MCPError, ValidationError):
            self._silent = True
            return None
        return next((path for root in answer.roots if (path := local_path(str(root.uri)))), None)


def local_path(uri: str, *, windows: bool = sys.platform == "win32") -> str | None:
    """The path of a ``file:`` URI on this machine; None: it is none."""
    parts = urlsplit(uri)
    server, path = parts.netloc, unquote(parts.path)
    if parts.scheme != "file" or not path or (server not in ("", "localhost") and not windows):
        return None
    if not windows:
        return path
    if server not in ("", "localhost"):
        path = f"//{server}{path}"
    return (path[1:] if re.match(r"/[A-Za-z]:", path) else path).replace("/", "\\")
