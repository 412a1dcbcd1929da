from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Environment, run_ingest
from tests.samples import sample_environment


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A home with the sample logs, read. Tests only read its store."""
    environment = sample_environment(tmp_path_factory.mktemp("cli"))
    assert run_ingest(environment, "--quiet").exit_code == 0
    return environment


@pytest.fixture
def own(tmp_path: Path) -> Environment:
    """The same for one test alone, to write to."""
    environment = sample_environment(tmp_path)
    assert run_ingest(environment, "--quiet").exit_code == 0
    return environment


@pytest.fixture
def unread(tmp_path: Path) -> Environment:
    """A home with the sample logs that nobody has read."""
    return sample_environment(tmp_path)


@pytest.fixture
def bare(tmp_path: Path) -> Environment:
    """A home without any logs."""
    return sample_environment(tmp_path, logs=False)
