"""What stands beside a backup: whose it is, what is in it, and the checksums that prove it whole."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agent_raw_rag.errors import NotFoundError, StoreError
from agent_raw_rag.store.backup import StoreFacts, sync

FORMAT, VERSION = "raw-rag-backup", 1
SUFFIX, NAME = ".manifest.json", "manifest.json"
"""Of the manifest of one file, and of that in a folder of several."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class CopyFacts:
    """One store in a backup."""

    space: str
    file: str
    """Its name, beside the manifest."""
    bytes: int
    sha256: str
    schema: tuple[str, ...]
    """The migrations it has had, in their order."""
    generation: str
    counts: dict[str, int]
    """Table -> rows."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A backup."""

    made: str
    """When, in ISO 8601, UTC."""
    program: str
    """Version of the program that made it."""
    stores: tuple[CopyFacts, ...]

    def as_json(self) -> dict[str, Any]:
        """JSON values only, as in the file."""
        return {"format": FORMAT, "version": VERSION, **asdict(self), "stores": [asdict(one) for one in self.stores]}


def described(path: str, space: str, facts: StoreFacts, name: str) -> CopyFacts:
    """A copy of a store, for the manifest. ``name``: what its file will be called."""
    return CopyFacts(
        space, name, os.path.getsize(path), sha256_of(path), facts.schema, facts.generation, dict(facts.counts)
    )


def sha256_of(path: str) -> str:
    """A file's checksum, in hex."""
    hashed = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            hashed.update(block)
    return hashed.hexdigest()


def write_manifest(path: str, manifest: Manifest) -> None:
    """Write a manifest (0600), on the disk when this returns."""
    handle = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(manifest.as_json(), file, indent=2, sort_keys=True)
        file.write("\n")
    sync(path)


def read_manifest(backup: str) -> tuple[str, Manifest]:
    """(folder of its files, manifest) of a backup: the file of one store, or the folder of several.

    Raises:
        NotFoundError: there is no such file, or no manifest with it.
        StoreError: the manifest says nothing that this program understands.
    """
    folder, path = (backup, os.path.join(backup, NAME)) if os.path.isdir(backup) else (
        os.path.dirname(backup), backup + SUFFIX
    )  # fmt: skip
    if not os.path.exists(backup):
        raise NotFoundError(f"There is no backup {backup}.")
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except FileNotFoundError:
        raise NotFoundError(
            f"There is no manifest {path}.", hint="`raw-rag backup` writes one with every backup; bring both."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"The manifest {path} cannot be read: {error}.") from error
    return folder, _understood(path, content)


def _understood(path: str, content: object) -> Manifest:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StoreError(f"{path} is no manifest of a backup.")
    if content.get("version") != VERSION:
        raise StoreError(f"The backup of {path} was made by a newer version of this program.", hint="Update this one.")
    try:
        stores = tuple(_copy(one) for one in content["stores"])
        return Manifest(str(content["made"]), str(content["program"]), stores)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise StoreError(f"The manifest {path} is damaged: {error}.") from error


def _copy(one: Mapping[str, Any]) -> CopyFacts:
    name = str(one["file"])
    if os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError(f"{name!r} is no name of a file")
    counts = {str(table): int(number) for table, number in one["counts"].items()}
    return CopyFacts(
        str(one["space"]), name, int(one["bytes"]), str(one["sha256"]), tuple(map(str, one["schema"])),
        str(one["generation"]), counts,
    )  # fmt: skip
