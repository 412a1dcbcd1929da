"""Questions to the daemon of a home folder, over its socket. It may end at any moment: then there is no answer, and no error.

Whoever asks has a model of its own to turn to, so nothing here is tried twice, and nothing waits longer than that model's load.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from agent_raw_rag import __version__
from agent_raw_rag.encode.daemon_address import Address, find, proof
from agent_raw_rag.encode.daemon_presence import Health, Presence, read_health

if TYPE_CHECKING:
    import httpx2

LOOK_SECONDS = 1.0
"""A daemon that does not say within this time how it is, hangs."""
MAX_REQUEST_BYTES = 16 << 20
"""What the daemon takes. A larger request is not sent."""
MAX_ANSWER_BYTES = 64 << 20

_log = logging.getLogger("agent_raw_rag")


class Link:
    """The daemon of one home folder. Safe to use from several threads.

    A daemon of another version is not used, since its vectors may differ in their last bits; nor does one ask itself.
    """

    def __init__(
        self, home: str, clock: Callable[[], float] = time.monotonic, when_lost: Callable[[], None] = lambda: None
    ) -> None:
        """``when_lost`` is called when a request failed, from the thread that asked: a good moment to get ready without it."""
        self._home = home
        self._when_lost = when_lost
        self._lock = Lock()
        self._opened: tuple[Address, httpx2.Client] | None = None
        self._closing: finalize[[], Link] | None = None
        """Closes the sockets of a link that nobody holds any more."""
        self._presence = Presence(self._look, clock)
        self._known: int | None = None
        self._is_cut = False

    def cut(self) -> None:
        """Ask nobody from now on."""
        self._is_cut = True

    def health(self) -> Health | None:
        """Of the daemon that can be asked now; None: there is none."""
        return None if self._is_cut else self._presence.health()

    def ask(self, path: str, body: Mapping[str, Any], seconds: float) -> Any:
        """What the daemon answers to a JSON body, parsed; None: it does not, or refuses."""
        answer = self.ask_bytes(path, body, seconds)
        return None if answer is None else _parsed(answer)

    def ask_bytes(self, path: str, body: Mapping[str, Any], seconds: float) -> bytes | None:
        """The same, as it came."""
        content = json.dumps(body, separators=(",", ":")).encode("ascii")  # any text, lone surrogates too
        if len(content) > MAX_REQUEST_BYTES:
            return None
        answer = self._exchange("POST", path, content, seconds)
        if answer is None:
            self.lost()
        return answer

    def lost(self) -> None:
        """It did not answer, or with what cannot be used."""
        self._presence.lost()
        self._when_lost()

    def _look(self) -> Health | None:
        health = read_health(self._get("/health")) if self._is_proven() else None
        if health is not None and (health.version != __version__ or health.pid == os.getpid()):
            health = None
        pid = health.pid if health else None
        if pid != self._known:
            _log.info("the daemon (process %s) serves the models", pid) if pid else _log.info("the daemon is away")
            self._known = pid
        return health

    def _is_proven(self) -> bool:
        """Whether who listens at a port is who wrote the token down: after its end anybody may listen there."""
        address = find(self._home)
        if address is None or not address.token:
            return address is not None
        challenge = secrets.token_hex(16)
        answer = self._get(f"/proof?challenge={challenge}", with_token=False)
        said = answer.get("proof") if isinstance(answer, dict) else None
        return isinstance(said, str) and secrets.compare_digest(said.encode(), proof(address.token, challenge).encode())

    def _get(self, path: str, *, with_token: bool = True) -> Any:
        """The JSON of an answer; None: anything else."""
        answer = self._exchange("GET", path, None, LOOK_SECONDS, with_token=with_token)
        return None if answer is None else _parsed(answer)

    def _exchange(
        self, method: str, path: str, content: bytes | None, seconds: float, *, with_token: bool = True
    ) -> bytes | None:
        """The bytes of an answer with status 200; None: anything else."""
        address = find(self._home)
        if address is None:
            return None
        import httpx2

        client, timeout = self._client(address), httpx2.Timeout(seconds)
        headers = {"authorization": f"Bearer {address.token}"} if address.token and with_token else {}
        try:
            with client.stream(method, path, content=content, headers=headers, timeout=timeout) as response:
                return _read(response)
        except (httpx2.HTTPError, OSError, RuntimeError):  # RuntimeError: another thread closed the client
            return None

    def _client(self, address: Address) -> httpx2.Client:
        with self._lock:
            if self._opened is None or self._opened[0] != address:
                if self._closing is not None:
                    self._closing()  # a port changes with each daemon: the client of the one before is not kept
                self._opened = (address, _opened(address))
                self._closing = finalize(self, self._opened[1].close)
            return self._opened[1]


def _opened(address: Address) -> httpx2.Client:
    import ssl

    import httpx2

    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # there is no TLS here; loading certificates takes 50 ms
    transport = httpx2.HTTPTransport(verify=nobody, trust_env=False, uds=address.path or None)
    root = "http://daemon" if address.path else f"http://127.0.0.1:{address.port}"
    headers = {"content-type": "application/json", "accept-encoding": "identity"}
    return httpx2.Client(base_url=root, transport=transport, trust_env=False, headers=headers)


def _read(response: httpx2.Response) -> bytes | None:
    if response.status_code != 200:
        return None
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > MAX_ANSWER_BYTES:
            return None
    return bytes(content)


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
