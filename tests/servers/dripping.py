"""A server that begins an answer and never ends it: one byte of a header, then the next, before any read times out."""

from __future__ import annotations

import select
import socket
from threading import Thread


def drip(connection: socket.socket) -> None:
    """Until the client leaves."""
    with connection:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while True:
            readable, _, _ = select.select([connection], [], [], 0.05)
            if readable and not connection.recv(65_536):
                return
            connection.sendall(b"x")


def main() -> None:
    """Bind any free port, say which, serve until killed."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        print(bound.getsockname()[1], flush=True)
        while True:
            Thread(target=drip, args=(bound.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main()
