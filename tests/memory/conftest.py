from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.notebook import Notebook


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    """Notes of a new store."""
    return Notebook(tmp_path)
