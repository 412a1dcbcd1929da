"""The models on this machine: which there are, whether their bytes are sound, and taking one away."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_raw_rag.encode.hub_cache import cache_folder, cached_models, cached_repo, checksum, recorded_checksum
from agent_raw_rag.encode.hub_client import explained, hub
from agent_raw_rag.encode.known_models import KNOWN, Kind, full_name, known
from agent_raw_rag.encode.weights import INDEX, absent, find, is_folder, locate, weights_present
from agent_raw_rag.errors import ModelError, UsageError

State = Literal["present", "incomplete", "absent"]
Verdict = Literal["ok", "damaged", "missing", "unrecorded"]
_PLAIN = ("config.json", "tokenizer.json")


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that is known by name, or lies in the cache."""

    model: str
    kind: Kind
    dim: int
    """0 where it is not known, and for a reranker."""
    download_megabytes: int
    default: bool
    state: State
    folder: str | None
    bytes: int
    """On disk."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One file of a model. ``unrecorded``: it is there, and nobody noted which checksum it should have."""

    file: str
    bytes: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Verified:
    """All files of a model, and what else keeps it from being used."""

    model: str
    folder: str
    files: tuple[Checked, ...]
    problem: str

    @property
    def sound(self) -> bool:
        """Nothing is missing or damaged."""
        return not self.problem and all(one.verdict in ("ok", "unrecorded") for one in self.files)


def listed() -> list[Listed]:
    """The known models, then other Qwen3 models in the cache."""
    names = [row.model for row in KNOWN]
    return [
        _listed(name) for name in [*names, *(name for name in cached_models() if name not in names and _kind(name))]
    ]


def verify(model: str, on_bytes: Callable[[int, int], None] = lambda done, total: None) -> Verified:
    """Read every file of a model and compare its checksum with the one it had on the hub.

    Raises:
        ModelError: nothing of the model is here, or a file cannot be read.
    """
    name, folder = locate(model)
    if folder is None:
        raise absent(name)
    files = _files(folder)
    total, done, checked = sum(_size(file) for file in files), 0, []
    for file in files:
        checked.append(_check(file))
        done += checked[-1].bytes
        on_bytes(done, total)
    try:
        find(model)
    except ModelError as error:
        return Verified(name, str(folder), tuple(checked), str(error))
    return Verified(name, str(folder), tuple(checked), "")


def remove(model: str) -> int:
    """Take a model of the hub out of the cache, and nothing else; the bytes that it held.

    Raises:
        UsageError: a folder was given.
        ModelError: it is not in the cache, or a file cannot be removed.
    """
    if is_folder(model):
        raise UsageError(f"{model} is a folder of yours.", hint="Delete it yourself, if it is to go.")
    name = full_name(model)
    repo = cached_repo(name)
    if not repo.folder.is_dir():
        raise absent(name)
    held = _disk_usage(repo.folder)
    try:
        _remove_revisions(name)  # files that several models share stay as long as one of them does
        for folder in (repo.folder, cache_folder() / ".locks" / repo.folder.name):
            if folder.is_dir():
                shutil.rmtree(folder)
    except OSError as error:
        raise explained(error, name) or error from error
    return held


def _remove_revisions(name: str) -> None:
    for repo in hub().scan(cache_folder()).repos:
        if repo.repo_id == name and repo.repo_type == "model":
            commits = [revision.commit_hash for revision in repo.revisions]
            if commits:
                hub().scan(cache_folder()).delete_revisions(*commits).execute()


def _listed(name: str) -> Listed:
    row, repo = known(name), cached_repo(name)
    there = repo.folder.is_dir()
    state: State = "absent" if not there else "present" if weights_present(name) else "incomplete"
    return Listed(
        name, row.kind if row else _kind(name) or "embed", row.dim if row else 0, row.megabytes if row else 0,
        bool(row and row.default), state, str(repo.snapshot or repo.folder) if there else None, _disk_usage(repo.folder),
    )  # fmt: skip


def _kind(name: str) -> Kind | None:
    low = name.lower()
    return "embed" if "qwen3-embedding" in low else "rerank" if "qwen3-reranker" in low else None


def _files(folder: Path) -> list[Path]:
    """The files that are there, broken links too, and those that must be."""
    names = {path.name for path in folder.iterdir() if path.is_file() or path.is_symlink()}
    return [folder / name for name in sorted({*names, *_PLAIN, *_shards(folder)}) if not name.startswith(".")]


def _shards(folder: Path) -> Iterator[str]:
    try:
        yield from map(str, json.loads((folder / INDEX).read_bytes())["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # `find` says what is wrong with it


def _check(file: Path) -> Checked:
    expected = recorded_checksum(file)
    if not file.exists():
        return Checked(file.name, 0, "missing")
    if expected is None:
        return Checked(file.name, _size(file), "unrecorded")
    try:
        found = checksum(file, expected)
    except OSError as error:
        raise ModelError(
            f"{file} cannot be read: {error.strerror}.", hint="Check its permissions and the disk."
        ) from error
    return Checked(file.name, _size(file), "ok" if found == expected else "damaged")


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _disk_usage(folder: Path) -> int:
    """Bytes of all files below, each once; links are followed, for files that models share."""
    found: dict[tuple[int, int], int] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                facts = os.stat(os.path.join(parent, name))
            except OSError:
                continue  # a link to nothing
            found[facts.st_dev, facts.st_ino] = facts.st_size
    return sum(found.values())
