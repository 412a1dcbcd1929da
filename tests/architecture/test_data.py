"""The data files in the package are the ones that their note describes."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "src" / "agent_raw_rag" / "data"
NOTE = (DATA / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)`(, unpacked)? \|.*\| `([0-9a-f]{64})` \|$", NOTE, re.MULTILINE)


@pytest.mark.parametrize(("name", "unpacked", "checksum"), ROWS, ids=[row[0] for row in ROWS])
def test_a_data_file_has_the_documented_checksum(name: str, unpacked: str, checksum: str) -> None:
    data = (DATA / name).read_bytes()
    assert hashlib.sha256(gzip.decompress(data) if unpacked else data).hexdigest() == checksum


def test_every_data_file_has_a_row_with_its_origin_and_licence() -> None:
    files = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file()}
    ours = {name for name in files if name == "README.md" or name.startswith("sample_logs/")}
    assert files - ours == {name for name, _, _ in ROWS}
