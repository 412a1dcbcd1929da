"""Where the Hugging Face cache is and how it is laid out. Reading it needs none of the hub's code.

Layout (huggingface_hub, "Understand caching"): ``models--OWNER--NAME/refs/main`` holds a commit, ``snapshots/COMMIT/FILE`` links
to ``blobs/CHECKSUM``. The checksum is the SHA-256 of a large file, the git blob id (SHA-1) of a small one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40}")
_CHECKSUM = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The cache that every program of Hugging Face's uses: ``HF_HUB_CACHE``, else ``HF_HOME``/hub, else below ``~/.cache``."""
    found = environment.get("HF_HUB_CACHE") or environment.get("HUGGINGFACE_HUB_CACHE")
    if not found:
        home = environment.get("HF_HOME") or os.path.join(
            environment.get("XDG_CACHE_HOME") or os.path.join("~", ".cache"), "huggingface"
        )
        found = os.path.join(home, "hub")
    return Path(os.path.expanduser(os.path.expandvars(found)))


@dataclass(frozen=True, slots=True)
class CachedRepo:
    """One repository's folder in the cache, whether it exists or not."""

    model: str
    folder: Path

    @property
    def commit(self) -> str | None:
        """The commit that ``main`` was at when it was fetched last; else the only one there."""
        try:
            text = (self.folder / "refs" / "main").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            text = ""
        if _COMMIT.fullmatch(text):
            return text
        snapshots = self.folder / "snapshots"
        names = [one.name for one in snapshots.iterdir() if _COMMIT.fullmatch(one.name)] if snapshots.is_dir() else []
        return names[0] if len(names) == 1 else None

    @property
    def snapshot(self) -> Path | None:
        """The folder with the files of that commit."""
        folder = self.folder / "snapshots" / self.commit if self.commit else None
        return folder if folder is not None and folder.is_dir() else None

    @property
    def blobs(self) -> Path:
        """The folder of the files by checksum."""
        return self.folder / "blobs"


def cached_repo(model: str, environment: Mapping[str, str] = os.environ) -> CachedRepo:
    """The place of a repository, ``owner/name``, in the cache."""
    return CachedRepo(model, cache_folder(environment) / ("models--" + model.replace("/", "--")))


def cached_models(environment: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Names of the repositories of models that have a folder in the cache."""
    cache = cache_folder(environment)
    for folder in sorted(cache.glob("models--*--*")) if cache.is_dir() else ():
        yield folder.name.removeprefix("models--").replace("--", "/", 1)


def recorded_checksum(file: Path) -> str | None:
    """The checksum that a file had on the hub, as far as the cache tells: the name of the blob that it links to; else what
    was noted when the file was copied into a folder (``hf download --local-dir``) or a cache without links."""
    if file.is_symlink():
        name = file.readlink().name
        return name if _CHECKSUM.fullmatch(name) else None
    return _noted_for_copy(file) or _noted_for_snapshot(file)


def is_checksum(text: str, digits: int) -> bool:
    """Whether a text is a checksum of so many digits, and so can be a file's name and no path."""
    return len(text) == digits and _CHECKSUM.fullmatch(text) is not None


def checksum(file: Path, like: str) -> str:
    """A file's checksum of the kind of another: SHA-256 (64 digits), else git's blob id (40 digits).

    Raises:
        OSError: the file cannot be read.
    """
    with file.open("rb") as stream:
        if len(like) == 64:
            return hashlib.file_digest(stream, "sha256").hexdigest()
        size = os.fstat(stream.fileno()).st_size
        digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        while piece := stream.read(1 << 20):
            digest.update(piece)
        return digest.hexdigest()


def _noted_for_copy(file: Path) -> str | None:
    note = file.parent / ".cache" / "huggingface" / "download" / f"{file.name}.metadata"
    try:
        name = note.read_text(encoding="utf-8").split("\n")[1].strip()
    except (OSError, UnicodeDecodeError, IndexError):
        return None
    return name if _CHECKSUM.fullmatch(name) else None


def _noted_for_snapshot(file: Path) -> str | None:
    note = file.parent.parent.parent / "trees" / f"{file.parent.name}.json"
    try:
        facts = json.loads(note.read_bytes())["files"][file.name]
        name = str(facts.get("lfs_sha256") or facts["blob_id"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return name if _CHECKSUM.fullmatch(name) else None
