"""Servers of models: one for chats with a home that asks it, one behind the proxy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.proxying import Proxied, proxied
from tests.servers.memory_http import Home, home_in
from tests.servers.talking import Talk, talking_server


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with talking_server() as url:
        yield url


@pytest.fixture
def talk(root: str) -> Talk:
    return Talk(root)


@pytest.fixture
def home(tmp_path: Path, talk: Talk) -> Home:
    made = home_in(tmp_path)
    made.configure(talk.config())
    return made


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with proxied(
        tmp_path_factory.mktemp("proxy"), 'key_variable = "STUB_KEY"\n', more={"STUB_KEY": "k" * 24}
    ) as running:
        yield running
