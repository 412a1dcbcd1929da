"""Where the store is and what a project is called, found out without the settings' own machinery: a hook cannot wait for it.

A test holds ``store_path`` against ``config.load``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def store_path(config: str | None, environment: Mapping[str, str]) -> str:
    """Absolute path of the SQLite file that the settings mean.

    Raises:
        OSError: the configuration cannot be read.
        ValueError: it is not TOML, or nobody knows where the home folder is.
    """
    named_home = os.path.expanduser(environment.get("RAW_RAG_HOME") or "~/.agent-raw-rag")
    if named_home.startswith("~"):
        raise ValueError(f"{named_home}: no such home folder")
    home = os.path.abspath(named_home)
    named = environment.get("RAW_RAG_DB_PATH") or _in_file(config or environment.get("RAW_RAG_CONFIG"), home)
    return os.path.abspath(os.path.expanduser(named or os.path.join(home, "raw_rag.db")))


def project_folders(folder: str) -> tuple[str, ...]:
    """What the sessions of a folder's project may say: the repository's root, the folder itself, and both as written."""
    from agent_raw_rag.sources.projects import Projects, normal_path

    real = normal_path(folder)
    return tuple(dict.fromkeys((Projects().of(real).path, real, os.path.abspath(folder))))


def _in_file(asked: str | None, home: str) -> str:
    file = os.path.abspath(os.path.expanduser(asked)) if asked else os.path.join(home, "config.toml")
    if not asked and not os.path.exists(file):
        return ""
    import tomllib

    with open(file, "rb") as stream:
        store = tomllib.load(stream).get("store")
    path = store.get("path") if isinstance(store, dict) else None
    return path if isinstance(path, str) else ""
