"""Real processes of the product, in an environment that holds nothing but what they are given."""

from __future__ import annotations

import os
import subprocess
import sys

SERVER = "import sys; from agent_raw_rag.server.stdio import main; sys.exit(main())"
RAW_RAG = "from agent_raw_rag.cli.app import main; main()"
INGEST = "from agent_raw_rag.cli.ingest import main; main()"


def environment_of(given: dict[str, str]) -> dict[str, str]:
    """The given variables, and the few that any process needs."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PYTHONUTF8": "1", **given}


def run(program: str, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """A program to its end."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment_of(environment), text=True,
        encoding="utf-8", capture_output=True, stdin=subprocess.DEVNULL, timeout=110, check=False,
    )  # fmt: skip


def loaded_after(program: str, environment: dict[str, str]) -> set[str]:
    """The modules that a program has loaded when it ends."""
    shown = run(f"{program}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)", environment)
    assert shown.returncode == 0, shown.stderr
    return set(shown.stderr.split())
