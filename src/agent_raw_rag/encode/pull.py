"""Fetch a model's weights into the Hugging Face cache: only when asked, resumable, every byte checked.

The hub's client downloads into a file that it deletes when it is interrupted, and does not compare checksums. So large files are
fetched here, with its own functions, to ``blobs/CHECKSUM.incomplete``, which a later call continues, and become
``blobs/CHECKSUM`` only when they have that checksum; then the client finds them there and does all the rest.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, BinaryIO

from agent_raw_rag.encode.hub_cache import (
    CachedRepo,
    cache_folder,
    cached_repo,
    checksum,
    is_checksum,
    recorded_checksum,
)
from agent_raw_rag.encode.hub_client import explained, hub
from agent_raw_rag.encode.known_models import full_name
from agent_raw_rag.encode.weights import find, is_folder, read_config
from agent_raw_rag.errors import ModelError, RawRagError, UsageError

WANTED = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "model*.safetensors", "model.safetensors.index.json",
    "README.md", "LICENSE*",
)  # fmt: skip
"""Files of a repository that are fetched; others repeat them in another format."""
OnBytes = Callable[[int, int], None]
"""Called with the bytes that are there and the bytes of all."""


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a pull did."""

    model: str
    folder: str
    bytes: int
    """Of the whole model."""
    fetched_bytes: int
    """Of these, fetched just now."""


def pull(model: str, on_bytes: OnBytes = lambda done, total: None) -> Pulled:
    """Make a model complete in the cache. What is there and sound is kept, what is damaged is fetched again.

    Raises:
        UsageError: a folder was given.
        ModelError: no such model, no connection, no room, another architecture, or bytes with another checksum.
    """
    if is_folder(model):
        raise UsageError(f"{model} is a folder.", hint="Only a model of the hub can be fetched: owner/model.")
    name = full_name(model)
    try:
        return _Pull(name, on_bytes).run()
    except RawRagError:
        raise
    except Exception as error:  # the hub, its network library and the disk have families of their own
        known = explained(error, name)
        if known is None:
            raise
        raise known from error


class _Pull:
    """One model being fetched."""

    def __init__(self, model: str, on_bytes: OnBytes) -> None:
        self._model, self._on_bytes = model, on_bytes
        self._repo: CachedRepo = cached_repo(model)
        self._hub = hub()
        self._done = self._total = self._fetched = 0

    def run(self) -> Pulled:
        """Small files, then a look at what kind of model it is, then the large ones."""
        commit = str(self._hub.api().model_info(self._model, revision="main").sha)
        entries = [one for one in self._hub.api().list_repo_tree(self._model, revision=commit) if _wanted(one)]
        large = [one for one in entries if one.lfs is not None]
        self._check_names(commit, large)
        if not any(one.path.endswith(".safetensors") for one in large):
            raise ModelError(
                f"{self._model} has no safetensors files.", hint="`raw-rag models list` shows models that do."
            )
        self._total = sum(one.lfs.size for one in large)
        self._check_room(large)
        self._link([one.path for one in entries if one.lfs is None], commit)
        read_config(self._repo.folder / "snapshots" / commit)
        for entry in large:
            self._fetch(entry, commit)
        self._link([one.path for one in entries], commit)
        weights = find(self._model)
        return Pulled(self._model, str(weights.folder), self._total, self._fetched)

    def _check_names(self, commit: str, large: list[Any]) -> None:
        """What the hub says becomes names of files, and of files that are removed: nothing but checksums may."""
        if not is_checksum(commit, 40) or not all(is_checksum(str(one.lfs.sha256), 64) for one in large):
            raise ModelError(f"The hub's list of the files of {self._model} is not sound.", hint="Check HF_ENDPOINT.")

    def _check_room(self, large: list[Any]) -> None:
        need = sum(max(0, one.lfs.size - _size(self._blob(one)) - _size(_part(self._blob(one)))) for one in large)
        cache = cache_folder()
        cache.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(cache).free
        if need > free:
            raise ModelError(
                f"{cache} has room for {free / 1e9:.1f} GB, and {need / 1e9:.1f} GB are to be fetched.",
                hint="Make room, or move the cache with HF_HOME.",
            )

    def _link(self, files: list[str], commit: str) -> None:
        """Have the client fetch small files, and put every file's name in its place. A small file with another checksum than its
        name says is fetched anew."""
        for name in files:
            file = self._repo.folder / "snapshots" / commit / name
            expected = recorded_checksum(file) if file.exists() else None
            if expected and len(expected) == 40 and checksum(file, expected) != expected:
                file.resolve().unlink()
                file.unlink(missing_ok=True)
        self._hub.snapshot(self._model, revision="main", cache_dir=str(cache_folder()), allow_patterns=files)

    def _fetch(self, entry: Any, commit: str) -> None:
        blob = self._blob(entry)
        before = self._done
        if not _sound(blob, entry.lfs.sha256):
            locks = cache_folder() / ".locks" / self._repo.folder.name
            locks.mkdir(parents=True, exist_ok=True)
            try:
                with self._hub.FileLock(str(locks / f"{blob.name}.lock"), timeout=0):
                    self._download(entry, commit, blob)
            except self._hub.Timeout as error:
                raise ModelError(
                    f"Another process fetches {entry.path} of {self._model}.", hint="Wait until it is done."
                ) from error
        self._at(before + int(entry.lfs.size))

    def _download(self, entry: Any, commit: str, blob: Path) -> None:
        blob.unlink(missing_ok=True)
        blob.parent.mkdir(parents=True, exist_ok=True)
        part, size, before = _part(blob), int(entry.lfs.size), self._done
        if _size(part) > size:
            part.unlink()
        with part.open("ab") as stream:
            begin = stream.tell()
            self._hub.http_get(
                self._hub.url(self._model, entry.path, revision=commit),
                _Counted(stream, lambda there: self._at(before + there)),
                resume_size=begin, headers=self._hub.headers(), expected_size=size,
            )  # fmt: skip
            stream.flush()
            os.fsync(stream.fileno())
        self._fetched += size - begin
        if not _sound(part, entry.lfs.sha256):
            part.unlink()
            raise ModelError(
                f"{entry.path} of {self._model} came with another checksum than the hub says.", hint="Fetch it again."
            )
        part.replace(blob)

    def _blob(self, entry: Any) -> Path:
        return self._repo.blobs / str(entry.lfs.sha256)

    def _at(self, done: int) -> None:
        self._done = done
        self._on_bytes(done, self._total)


class _Counted:
    """A file that says how long it is after every write."""

    def __init__(self, stream: BinaryIO, on_length: Callable[[int], None]) -> None:
        self._stream, self._on_length = stream, on_length
        self.seek, self.tell, self.truncate = stream.seek, stream.tell, stream.truncate

    def write(self, piece: bytes) -> int:
        """As the file's."""
        written = self._stream.write(piece)
        self._on_length(self._stream.tell())
        return written


def _wanted(entry: Any) -> bool:
    return hasattr(entry, "size") and "/" not in entry.path and any(fnmatch(entry.path, pattern) for pattern in WANTED)


def _part(blob: Path) -> Path:
    return blob.with_name(f"{blob.name}.incomplete")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sound(path: Path, sha256: str) -> bool:
    return path.exists() and checksum(path, sha256) == sha256
