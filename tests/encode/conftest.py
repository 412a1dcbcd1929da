from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.running import inference_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The root of our own inference server, a process of its own."""
    with inference_server() as root:
        yield root
