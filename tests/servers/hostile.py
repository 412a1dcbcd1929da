"""An upstream that does what real servers rarely do: each answer is a list of steps, sent byte by byte as the test says.

A step is bytes to send, an event to wait for, ``GONE`` (wait until the client is gone), ``CUT`` (tear the connection) or
``CLOSE`` (end it in good order).
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

WAIT_SECONDS = 60.0
GONE: Final = "gone"
CUT: Final = "cut"
CLOSE: Final = "close"
Step = bytes | threading.Event | str


@dataclass
class Asked:
    """A request as it came."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Hostile:
    """The server. What it says is said to whoever asks, until something else is."""

    port: int
    steps: list[Step] = field(default_factory=list)
    first: list[Step] = field(default_factory=list)
    """What is said to the next request alone, if anything is."""
    asked: list[Asked] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)
    """A client went away while ``GONE`` waited."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def says(self, *steps: Step) -> None:
        self.steps = list(steps)

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    def answer(self, connection: socket.socket) -> None:
        """One connection: requests, each answered by the steps, until one of them ends it."""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("rb") as stream:
            try:
                while (asked := _read(stream)) is not None:
                    self.asked.append(asked)
                    steps, self.first = self.first or list(self.steps), []
                    if not self._take(connection, steps):
                        return
            except OSError:
                self.left.set()

    def _take(self, connection: socket.socket, steps: list[Step]) -> bool:
        for step in steps:
            if isinstance(step, bytes):
                connection.sendall(step)
            elif isinstance(step, threading.Event):
                assert step.wait(WAIT_SECONDS)
            elif step == GONE:
                while connection.recv(65_536):
                    pass
                self.left.set()
                return False
            elif step == CLOSE:
                return False
            else:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
        return True


def _read(stream: Any) -> Asked | None:
    first = stream.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers = []
    while line := stream.readline().strip().decode("latin-1"):
        name, _, value = line.partition(":")
        headers.append((name.lower(), value.strip()))
    length = next((int(value) for name, value in headers if name == "content-length"), 0)
    return Asked(first[0], first[1], headers, stream.read(length))


@contextmanager
def hostile() -> Iterator[Hostile]:
    """A server of our own, in threads."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as bound:
        server = Hostile(bound.getsockname()[1])

        def run() -> None:
            while True:
                try:
                    connection = bound.accept()[0]
                except OSError:
                    return
                threading.Thread(target=server.answer, args=(connection,), daemon=True).start()

        threading.Thread(target=run, daemon=True).start()
        try:
            yield server
        finally:
            bound.shutdown(socket.SHUT_RDWR)


def head(status: int = 200, reason: str = "OK", **headers: str) -> bytes:
    """Status line and headers; ``_`` in a name is ``-``."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status} {reason}", *lines, "", ""]).encode()


def whole(body: bytes | dict[str, Any], status: int = 200, **headers: str) -> bytes:
    """An answer that comes at once."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = {"content_type": "application/json", **headers}
    return head(status, "Said", content_length=str(len(content)), **more) + content


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


END = b"0\r\n\r\n"
STREAM = head(content_type="text/event-stream; charset=utf-8", transfer_encoding="chunked", cache_control="no-cache")


def delta(text: str | None = None, **more: Any) -> bytes:
    """A frame of OpenAI's stream."""
    told = {"content": text} if text is not None else {}
    frame = {"id": "c1", "model": "tiny", "choices": [{"index": 0, "delta": {**told, **more}, "finish_reason": None}]}
    return b"data: " + json.dumps(frame, ensure_ascii=False).encode() + b"\n\n"


DONE = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def streamed(*frames: bytes) -> list[bytes]:
    """The steps of a whole stream, a chunk for each frame."""
    return [STREAM, *(chunk(frame) for frame in frames), END]


def completion(text: str | None, **message: Any) -> dict[str, Any]:
    """OpenAI's answer at once."""
    told = {"role": "assistant", "content": text, **message}
    return {"id": "c1", "model": "tiny", "choices": [{"index": 0, "message": told, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4}}  # fmt: skip
