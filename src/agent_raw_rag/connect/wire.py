"""Use cases: put a part into an agent's file, take it out again, look whether it is there."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from agent_raw_rag.connect import files
from agent_raw_rag.connect.files import Content
from agent_raw_rag.connect.journal import Journal, Record
from agent_raw_rag.connect.parts import CANNOT, Part
from agent_raw_rag.errors import WiringError

CHANGED_SINCE = "The file was changed since it was connected, so only our part was taken out."


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part goes."""

    name: str
    """Of the wiring."""
    part: Part
    path: str

    @property
    def owner(self) -> str:
        """What the journal calls it."""
        return f"{self.name}:{self.part.kind}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done to a file, or (dry run) would be."""

    name: str
    part: str
    file: str
    change: str
    """added, updated, unchanged, removed, restored, absent, kept or failed."""
    backup: str | None = None
    diff: str = ""
    note: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Wirer:
    """Edits agents' files, and remembers what it did."""

    journal: Journal
    now: Callable[[], datetime]
    dry_run: bool = False

    def connect(self, place: Place) -> Outcome:
        """Put a part into its file. Twice is the same as once.

        Raises:
            WiringError: the file cannot be read, parsed or written. It is as it was.
        """
        old = files.read(place.path)
        new = old.encoded(_edited(place, old, place.part.into))
        if old.data is not None and new == old.data:
            self._own(place, old)
            return Outcome(place.name, place.part.kind, place.path, "unchanged")
        change = "updated" if _has(place, old) else "added"
        if self.dry_run:
            return Outcome(place.name, place.part.kind, place.path, change, diff=_diff(place.path, old, new))
        record = self._written(place, old, new)
        return Outcome(place.name, place.part.kind, place.path, change, record.backup)

    def undo(self, place: Place) -> Outcome:
        """Take a part out of its file: the very bytes of before where nobody changed it since.

        Raises:
            WiringError: the file cannot be read, parsed or written. It is as it was.
        """
        old = files.read(place.path)
        record = self.journal.get(old.path)
        others = [one for one in record.owners if one != place.owner] if record else []
        if old.data is None or not _has(place, old):
            return Outcome(place.name, place.part.kind, place.path, "absent")
        if record and place.part.shared and others:
            return self._kept(place, old, record, others)
        before = None if others else self._before(old, record)
        if record is not None and before is not None:
            return self._restored(place, old, record, before)
        return self._taken_out(place, old, record, others)

    # ------------------------------------------------------------ writing

    def _own(self, place: Place, old: Content) -> None:
        record = self.journal.get(old.path)
        if record is not None and place.owner not in record.owners and not self.dry_run:
            self.journal.put(old.path, replace(record, owners=[*record.owners, place.owner]))

    def _written(self, place: Place, old: Content, new: bytes) -> Record:
        """Write the file. The journal knows of every step before it is made: whenever we are killed, the next run and undoing
        find their way."""
        known = self.journal.get(old.path)
        record = self._record(place, old, new, known)
        fresh = record.backup if known is None or record.backup != known.backup else None
        made = files.make_folders(old)
        try:
            self.journal.put(old.path, replace(record, folders=made or record.folders))
            if fresh:
                files.back_up(old, fresh)
            files.replace(old, new)
        except BaseException:
            if fresh:
                files.discard(fresh)
            self.journal.put(old.path, known)
            files.remove_folders(made)
            raise
        return replace(record, backup=fresh)

    def _record(self, place: Place, old: Content, new: bytes, known: Record | None) -> Record:
        """What the journal is to say, with the place of a backup where the file is not only ours."""
        after, owners = files.digest(new), sorted({*(known.owners if known else []), place.owner})
        if known is not None and known.covers(old.data):
            return replace(known, after=after, was=files.digest(old.data or b""), owners=owners)
        if old.data is None:
            return Record(None, after, None, known.folders if known else [], [place.owner])
        before, exact = files.digest(old.data), known is None or not _has(place, old)
        backup = self._unused(known, before) or files.backup_place(old, self.now())
        return Record(before, after, backup, owners=[place.owner] if exact else owners, exact=exact)

    def _unused(self, known: Record | None, before: str) -> str | None:
        """The backup that was made for a change that was then not made, as we were killed; half a one is removed."""
        if known is None or known.before != before or not known.backup:
            return None
        if self._saved(known) is None:
            files.discard(known.backup)
            return None
        return known.backup

    def _kept(self, place: Place, old: Content, record: Record, others: list[str]) -> Outcome:
        if not self.dry_run and place.owner in record.owners:
            self.journal.put(old.path, replace(record, owners=others))
        users = ", ".join(sorted({one.partition(":")[0] for one in others}))
        return Outcome(place.name, place.part.kind, place.path, "kept", note=f"{users} reads it too.")

    def _before(self, old: Content, record: Record | None) -> bytes | None:
        """The bytes of before, if they can be given back; empty where there was no file."""
        if record is None or not record.exact or not record.covers(old.data):
            return None
        return b"" if record.before is None else self._saved(record)

    def _saved(self, record: Record) -> bytes | None:
        """What its backup holds, if that is still there and as it was made."""
        saved = files.read(record.backup).data if record.backup else None
        return saved if saved is not None and files.digest(saved) == record.before else None

    def _restored(self, place: Place, old: Content, record: Record, before: bytes) -> Outcome:
        if self.dry_run:
            diff = _diff(place.path, old, before)
            return Outcome(place.name, place.part.kind, place.path, "restored", diff=diff)
        if record.before is None:
            left = files.remove(old, record.folders)
        else:
            files.replace(old, before)
            left = []
        if record.backup:
            files.discard(record.backup)
        self.journal.put(old.path, None)
        self.journal.bequeath(left)
        return Outcome(place.name, place.part.kind, place.path, "restored")

    def _taken_out(self, place: Place, old: Content, record: Record | None, others: list[str]) -> Outcome:
        new = old.encoded(_edited(place, old, place.part.out_of))
        ours = record is not None and record.covers(old.data)
        note = "" if ours else CHANGED_SINCE
        if self.dry_run:
            diff = _diff(place.path, old, new)
            return Outcome(place.name, place.part.kind, place.path, "removed", diff=diff, note=note)
        backup = None if ours else files.backup_place(old, self.now())
        if backup:
            files.back_up(old, backup)
        if new or not place.part.whole:
            files.replace(old, new)
        else:
            files.remove(old, record.folders if record else [])
        kept = replace(record, owners=others, after=files.digest(new), exact=record.exact and ours) if record else None
        self.journal.put(old.path, kept if others else None)
        return Outcome(place.name, place.part.kind, place.path, "removed", backup, note=note)


def attempted(place: Place, act: Callable[[Place], Outcome]) -> Outcome:
    """What an act did with a place, or why it could not; others go on."""
    try:
        return act(place)
    except WiringError as error:
        return Outcome(place.name, place.part.kind, place.path, "failed", error=error.message, note=error.hint)


def _edited(place: Place, old: Content, edit: Callable[[str], str]) -> str:
    try:
        return edit(old.text)
    except CANNOT as error:
        raise _unfit(place, error) from error


def _has(place: Place, old: Content) -> bool:
    try:
        return old.data is not None and place.part.is_in(old.text)
    except CANNOT as error:
        raise _unfit(place, error) from error


def _unfit(place: Place, error: Exception) -> WiringError:
    hint = "Nothing was changed. Mend the file and try again."
    return WiringError(f"{place.path} cannot be edited: {error}.", hint=hint)


def _diff(path: str, old: Content, new: bytes) -> str:
    """A unified diff with little around it: these files hold secrets of others."""
    before, after = ((data or b"").decode("utf-8").splitlines() for data in (old.data, new))
    return "\n".join(difflib.unified_diff(before, after, path, path, lineterm="", n=1))
