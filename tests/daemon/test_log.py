"""The daemon's log: a file that is turned over, so that it never fills a disk."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_raw_rag.log import FILE_BYTES, FILES, NAME, keep_in


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    """The product's own, given back as it was."""
    found = logging.getLogger(NAME)
    handlers, level, propagates = list(found.handlers), found.level, found.propagate
    found.handlers, found.propagate = [logging.NullHandler()], False
    yield found
    for one in found.handlers:
        one.close()
    found.handlers, found.propagate = handlers, propagates
    found.setLevel(level)


def test_it_is_turned_over_and_the_oldest_goes(logger: logging.Logger, tmp_path: Path) -> None:
    with keep_in(str(tmp_path / "log")) as name:
        for number in range(2 * FILES):
            logger.info("%d %s", number, "x" * (FILE_BYTES - 100))
        logger.info("the last word")
    path = Path(name)
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["daemon.log", *(f"daemon.log.{number}" for number in range(1, FILES))]
    assert all(file.stat().st_size <= FILE_BYTES for file in files)
    assert "the last word" in path.read_text(encoding="utf-8")


def test_with_a_file_what_is_told_by_the_way_is_kept_too(logger: logging.Logger, tmp_path: Path) -> None:
    with keep_in(str(tmp_path / "log")) as name:
        logger.debug("not this")
        logger.info("but this")
    text = Path(name).read_text(encoding="utf-8")
    assert "but this" in text and "not this" not in text
