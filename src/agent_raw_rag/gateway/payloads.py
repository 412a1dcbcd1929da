"""What went over the wire, as files for whoever wants to look: ``request_1``, ``response_1`` and so on, keys masked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

SECRET_HEADERS = frozenset({"authorization", "x-api-key", "cookie", "set-cookie", "proxy-authorization"})


class Payloads:
    """Writes into one folder. Several processes may write there: each exchange has a number of its own."""

    def __init__(self, folder: str) -> None:
        """Raises OSError: there can be no such folder."""
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder = folder

    def request(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """Write a request down. Returns its number. Raises OSError."""
        number = 1
        while not self._write(f"request_{number}.json", {"url": url, "headers": _masked(headers), "body": _body(body)}):
            number += 1
        return number

    def response(self, number: int, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Write down what of an answer came. Raises OSError."""
        told = {"status": status, "headers": _masked(headers), "body": _body(body)}
        self._write(f"response_{number}.json", told)

    def _write(self, name: str, told: object) -> bool:
        """Whether there was no such file."""
        try:
            handle = os.open(os.path.join(self._folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return False
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            json.dump(told, file, ensure_ascii=False, indent=2)
        return True


def _masked(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: "***" if name.lower() in SECRET_HEADERS else value for name, value in headers.items()}


def _body(body: bytes) -> object:
    """As JSON if it is, else as text: an event stream."""
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
