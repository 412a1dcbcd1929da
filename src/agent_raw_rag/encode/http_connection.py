"""The way to one inference server: its root, its key, and the connections that are kept open.

Environment variables and ``.netrc`` are not looked at (``trust_env`` off): no proxy sees the texts that was not meant to, and no
password file adds a header. Redirects are not followed, so that a key reaches only the host it was given for.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING
from weakref import finalize

from agent_raw_rag.encode.http_url import server_root
from agent_raw_rag.errors import ModelError

if TYPE_CHECKING:
    import httpx2


class Connection:
    """One server. The key is read from the named environment variable at each call and kept nowhere. Safe for threads."""

    def __init__(self, url: str, *, key_variable: str = "", environment: Mapping[str, str]) -> None:
        """Raises ConfigError for a url that is none."""
        self.root = server_root(url)
        self._key_variable = key_variable
        self._environment = environment
        self._lock = Lock()
        self._opened: httpx2.Client | None = None

    def client(self) -> httpx2.Client:
        """The library's client, made at first use."""
        import httpx2

        with self._lock:
            if self._opened is None:
                headers = {"accept-encoding": "identity"}  # so that the limit on an answer's size means what it says
                verify = True if self.root.startswith("https:") else _trusts_nobody()
                self._opened = httpx2.Client(verify=verify, trust_env=False, follow_redirects=False, headers=headers)
                finalize(self, self._opened.close)  # sockets of a connection that nobody holds any more
            return self._opened

    def close(self) -> None:
        """Give the connections back. The next call opens new ones."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def headers(self) -> dict[str, str]:
        """Of a request. Raises ModelError if the key is missing."""
        key, kind = self._key(), {"content-type": "application/json", "accept": "application/json"}
        return {**kind, "authorization": f"Bearer {key}"} if key else kind

    def masked(self, text: str) -> str:
        """A server's words without the key that it may repeat."""
        key = self._key()
        return text.replace(key, "…") if key else text

    @property
    def key_hint(self) -> str:
        """What to do when the key is refused."""
        if self._key_variable:
            return f"Check the environment variable {self._key_variable}."
        return "Set key_variable to the name of the environment variable that holds the key."

    def _key(self) -> str:
        """The key; empty: none is configured."""
        if not self._key_variable:
            return ""
        key = self._environment.get(self._key_variable, "").strip()
        if not key:
            raise ModelError(
                f"The environment variable {self._key_variable} is not set: it should hold the key of {self.root}.",
                hint="Set it where the agent or the service is started, or remove key_variable.",
            )
        if not (key.isascii() and key.isprintable()):
            raise ModelError(
                f"The environment variable {self._key_variable} holds characters that no key has.", hint="Set it again."
            )
        return key


def _trusts_nobody() -> ssl.SSLContext:
    """For a server without TLS: loading the system's certificates takes 50 ms and more, which a search would wait for."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
