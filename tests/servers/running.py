"""Starting a server as a process, and what it saw."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.request import urlopen

_visits = count(1)


@dataclass(frozen=True)
class Visit:
    """One test's visit to the server: its url, and the requests made there."""

    root: str
    mode: str
    name: str = field(default_factory=lambda: f"visit{next(_visits)}")

    @property
    def url(self) -> str:
        return f"{self.root}/{self.mode}/{self.name}"

    def seen(self, path: str = "") -> list[dict[str, Any]]:
        """The requests so far, those to one path if it is given."""
        with urlopen(f"{self.root}/ok/{self.name}/seen") as response:
            return [one for one in json.load(response) if path in ("", one["path"])]


@contextmanager
def inference_server(script: str = "inference.py") -> Iterator[str]:
    """The root url of a server of our own, a process for itself."""
    command = [sys.executable, str(Path(__file__).with_name(script))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def dead_url() -> str:
    """Of a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return f"http://127.0.0.1:{bound.getsockname()[1]}"
