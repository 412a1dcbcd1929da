"""The server of generation models that chats are tested with, and what it saw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.request import urlopen

from tests.servers.running import inference_server

_visits = count(1)
WAIT_SECONDS = 60


@dataclass(frozen=True)
class Talk:
    """One test's visit to the server."""

    root: str
    name: str = field(default_factory=lambda: f"visit{next(_visits)}")

    @property
    def url(self) -> str:
        return f"{self.root}/{self.name}"

    def seen(self, path: str = "") -> list[dict[str, Any]]:
        """The requests so far, those to one path if it is given."""
        return [one for one in self._ask("seen") if path in ("", one["path"])]

    def asked(self) -> list[list[dict[str, str]]]:
        """The messages of each question, without the system's."""
        return [[one for one in body["messages"] if one["role"] != "system"] for body in self.bodies()]

    def bodies(self) -> list[dict[str, Any]]:
        """The questions."""
        return [one["body"] for one in self.seen() if one["body"]]

    def systems(self) -> list[str]:
        """What the system says in each question."""
        return [
            "\n".join(one["content"] for one in body["messages"] if one["role"] == "system") for body in self.bodies()
        ]

    def release(self) -> None:
        """Let held answers go on."""
        self._ask("release")

    def wait_held(self) -> None:
        """Until an answer is held."""
        self._ask("held")

    def wait_left(self) -> None:
        """Until a client has left an answer."""
        self._ask("left")

    def config(self, model: str = "echo", more: str = "", llm: str = "") -> str:
        """The sections of a configuration that asks here."""
        return f'[llm]\nurl = "{self.url}"\nmodel = "{model}"\n{llm}\n{more}\n'

    def _ask(self, what: str) -> Any:
        with urlopen(f"{self.url}/{what}", timeout=WAIT_SECONDS) as response:
            return json.load(response)


@contextmanager
def talking_server() -> Iterator[str]:
    """Its root url."""
    with inference_server("llm.py") as root:
        yield root
