"""Lays a folder of collected logs out as a HOME, so that the product finds them as it would on a person's machine.

LOGS has the folders ``claude codex omp pi antigravity opencode_json`` (any may be missing): the agents' roots, loose
Antigravity transcripts, and the two older OpenCode JSON stores.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

AGENT_VARIABLES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CODEX_SQLITE_HOME", "XDG_DATA_HOME", "OPENCODE_DB", "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR", "PI_CONFIG_DIR", "OMP_PROFILE", "PI_PROFILE", "RAW_RAG_CONFIG", "RAW_RAG_DB_PATH",
)  # fmt: skip


def lay_out(logs: Path, home: Path) -> None:
    """Copy the logs to where their agents would have written them, in a new or empty home: file modes are set there."""
    if home.is_dir() and any(home.iterdir()):
        raise SystemExit(f"{home} is not empty; give a new folder, since the modes of all its files are set")
    home.mkdir(parents=True, exist_ok=True)
    for name, place in (("claude", ".claude"), ("codex", ".codex"), ("omp", ".omp/agent"), ("pi", ".pi/agent")):
        if (logs / name).is_dir():
            shutil.copytree(logs / name, home / place, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for transcript in sorted((logs / "antigravity").glob("*.jsonl")):
        folder = home / ".gemini/antigravity-cli/brain" / transcript.stem / ".system_generated/logs"
        folder.mkdir(parents=True)
        shutil.copyfile(transcript, folder / "transcript_full.jsonl")
    data = home / ".local/share/opencode/storage"
    for generation in sorted((logs / "opencode_json").glob("storage_*")):
        shutil.copytree(generation, data, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for folder, _, files in os.walk(home):
        Path(folder).chmod(0o755)
        for file in files:
            copied = Path(folder, file)
            if not copied.is_symlink():  # chmod follows links, out of the home too
                copied.chmod(0o644)


def environment(home: Path, store: Path) -> dict[str, str]:
    """The environment of a process that sees this HOME and nothing else."""
    env = {key: value for key, value in os.environ.items() if key not in AGENT_VARIABLES}
    return {**env, "HOME": str(home), "RAW_RAG_HOME": str(store)}
