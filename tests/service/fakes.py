"""Programs of the system, written for a test: real processes that note how they were called, and answer as told."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

PROGRAM = """\
#!{python}
import json, sys
from pathlib import Path
here = Path({folder!r})
with (here / "calls").open("a") as stream:
    stream.write(json.dumps(sys.argv[1:]) + "\\n")
for beginning, answer in json.loads((here / "answers").read_text()):
    if sys.argv[1:][: len(beginning)] == beginning:
        if answer.get("once") and (here / "said").exists():
            continue
        if answer.get("once"):
            (here / "said").touch()
        sys.stdout.write(answer.get("out", ""))
        sys.stderr.write(answer.get("err", ""))
        sys.exit(answer.get("code", 0))
"""


class Fake:
    """One program on a PATH of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder / f"{name}-facts"
        self.folder.mkdir(parents=True)
        self.bin = folder / "bin"
        self.bin.mkdir(exist_ok=True)
        program = self.bin / name
        program.write_text(PROGRAM.format(python=sys.executable, folder=str(self.folder)), encoding="utf-8")
        program.chmod(0o755)
        self.answer()

    def answer(self, *answers: tuple[list[str], dict[str, Any]]) -> None:
        """What it says to calls that begin with these words, the first that fits; to all others nothing, with success."""
        (self.folder / "answers").write_text(json.dumps(answers), encoding="utf-8")

    def calls(self) -> list[list[str]]:
        """How it was called since the last time this was asked."""
        path = self.folder / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]

    def environment(self, home: Path) -> dict[str, str]:
        return {"HOME": str(home), "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}
