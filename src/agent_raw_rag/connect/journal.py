"""What we wrote into whose file, so that undoing can give back the very bytes. Lies in our own home folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace

from agent_raw_rag.connect import files
from agent_raw_rag.errors import WiringError

NAME = "connect.json"


@dataclass(frozen=True, slots=True)
class Record:
    """One file that we changed."""

    before: str | None
    """Digest of its bytes before our first change; None: there was no file."""
    after: str
    """Digest of what we wrote last."""
    backup: str | None
    folders: list[str] = field(default_factory=list)
    """Made for it."""
    owners: list[str] = field(default_factory=list)
    """``name:part`` of everything in it that is ours."""
    was: str | None = None
    """Digest of what stood there when we wrote last: still there, if we were killed before it was replaced."""
    exact: bool = True
    """Whether ``before`` held nothing of ours that a user's change has come upon since."""

    def covers(self, data: bytes | None) -> bool:
        """Whether nobody but us has written the file since our first change."""
        return data is not None and files.digest(data) in (self.after, self.was)


class Journal:
    """The records of all files, by the path where they really lie. Whoever changes it holds the lock ``CONNECT``."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, NAME)
        self._records = self._read()

    def get(self, path: str) -> Record | None:
        """What is known of a file."""
        return self._records.get(path)

    def put(self, path: str, record: Record | None) -> None:
        """Remember it, or (None) forget it."""
        if record is None:
            self._records.pop(path, None)
        else:
            self._records[path] = record
        text = json.dumps({name: asdict(one) for name, one in self._records.items()}, indent=1) + "\n"
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        files.replace(files.read(self._path), text.encode())

    def bequeath(self, folders: list[str]) -> None:
        """Hand folders that we made on to another file of ours in them, so that the last one to go takes them along."""
        heir = next((path for path in self._records if folders and path.startswith(folders[-1] + os.sep)), None)
        if heir is not None:
            record = self._records[heir]
            self.put(heir, replace(record, folders=sorted({*folders, *record.folders}, key=len)))

    def _read(self) -> dict[str, Record]:
        content = files.read(self._path)
        if not content.data:
            return {}
        try:
            return {path: Record(**one) for path, one in json.loads(content.text).items()}
        except (ValueError, TypeError, AttributeError):
            hint = "Move it away: entries are then still removed, but files are not given back byte by byte."
            raise WiringError(f"{self._path} is damaged.", hint=hint) from None
