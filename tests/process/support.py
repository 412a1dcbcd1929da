"""Starting the product's commands as real processes, in a HOME of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent


def environment(home: Path) -> dict[str, str]:
    """What a process sees: this HOME, a store in it, and nothing of the machine's own settings."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "RAW_RAG_HOME": str(home / "store"), "LANG": "C.UTF-8"}


def run(home: Path, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    done = subprocess.run(
        [str(BIN / words[0]), *words[1:]], env=environment(home), capture_output=True, check=False,
        stdin=subprocess.DEVNULL, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    return done


def read_json(home: Path, *words: str) -> Any:
    """What a command prints, as JSON."""
    return json.loads(run(home, *words).stdout)
