from __future__ import annotations

import pytest

from agent_raw_rag.runtime import Runtime
from tests.samples import sample_runtime


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """A store with the sample logs. Tests only read it."""
    return sample_runtime(tmp_path_factory.mktemp("samples"))
