"""The form of an export: JSON lines, each a record with a type, in one order; a head says what follows, an end proves it.

Pure. ``docs/reference/export-format.md`` says the same for people.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from agent_raw_rag.errors import StoreError, UsageError
from agent_raw_rag.models import Role
from agent_raw_rag.sources.kinds import FORMAT

VERSION = 1
_MOST = (1 << 63) - 1
EARLIEST, LATEST = -62_135_000_000_000, 253_402_000_000_000
"""Instants, in milliseconds since 1970: the years 1 to 9999. No calendar shows another one."""
_INSTANTS = frozenset({"time", "started", "last", "created", "changed", "decided", "expires"})
TYPES = ("source", "session", "turn", "note", "candidate", "journal")
"""The types of records, in the order in which they stand; a session's turns follow it."""
Record = dict[str, Any]

FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "source": {"number": (int,), "agent": (str,), "path": (str,), "shape": (str,), "order": (str,)},
    "session": {
        "session": (str,), "parent": (str,), "parent_kind": (str,), "cwd": (str,), "project": (str,), "remote": (str,),
        "branch": (str,), "title": (str,), "version": (str,), "started": (int,), "last": (int,), "branched": (bool,),
        "forgotten": (bool,), "kept": (bool,), "endings": (int,), "source": (int,),
    },
    "turn": {
        "id": (str,), "session": (str,), "key": (str,), "role": (str,), "time": (int,), "text": (str,), "status": (str,),
        "text_hash": (str,), "open": (bool,), "abandoned": (int,), "answers": (str,), "source": (int,), "start": (int,),
        "end": (int,), "record_ids": (list,), "trail": (str,), "redactions": (str,), "captured": (dict,),
    },
    "note": {
        "id": (str,), "kind": (str,), "statement": (str,), "topic": (str,), "source": (str,), "author": (str,),
        "importance": (str,), "confidence": (float, int), "evidence": (list,), "candidate": (str,), "status": (str,),
        "supersedes": (str,), "superseded_by": (str,), "tags": (list,), "reason": (str,), "created": (int,),
        "changed": (int,), "expires": (int,), "metadata": (dict,),
    },
    "candidate": {
        "id": (str,), "kind": (str,), "statement": (str,), "quote": (str,), "evidence": (list,), "source": (str,),
        "importance": (str,), "confidence": (float, int), "rule": (str,), "proposer": (str,), "status": (str,),
        "reason": (str,), "note": (str,), "created": (int,), "decided": (int,),
    },
    "journal": {
        "id": (int,), "time": (int,), "action": (str,), "actor": (str,), "token": (str,), "transport": (str,),
        "source": (str,), "target": (str,), "before": (str,), "after": (str,), "detail": (dict,), "chain": (str,),
    },
}  # fmt: skip
"""Type of record -> its fields and the JSON types of each. A field that is null, false or empty is missing."""
NEEDED = {
    "source": ("number", "agent", "path", "shape"),
    "session": ("session",),
    "turn": ("id", "session", "key", "role", "status"),
    "note": ("id", "kind", "source", "status", "created", "changed"),
    "candidate": ("id", "kind", "source", "proposer", "status", "created"),
    "journal": ("id", "time", "action", "actor", "transport", "chain"),
}
"""Type of record -> the fields that are always there."""

_HEX = r"(?:[0-9a-f]{2})*"
_EVENT, _NOTE, _CANDIDATE = r"e[0-9a-f]{20}", r"n[0-9a-f]{20}", r"c[0-9a-f]{20}"
PATTERNS = {
    ("session", "session"): r"[^:]+:(?s:.+)",
    ("turn", "id"): _EVENT, ("turn", "key"): r"[0-9a-f]{32}", ("turn", "answers"): _EVENT,
    ("turn", "role"): "|".join(role.value for role in Role), ("turn", "status"): "live|copy|forgotten",
    ("turn", "text_hash"): _HEX, ("turn", "trail"): _HEX,
    ("note", "id"): _NOTE, ("note", "status"): "active|superseded|deprecated",
    ("candidate", "id"): _CANDIDATE, ("candidate", "status"): "pending|conflict|promoted|rejected",
    ("journal", "before"): _HEX, ("journal", "after"): _HEX, ("journal", "chain"): _HEX,
}  # fmt: skip
"""(type of record, field) -> what its text must be like."""
_PATTERNS = {place: re.compile(pattern) for place, pattern in PATTERNS.items()}


def lines(
    generation: str, counts: Mapping[str, int], chosen: Mapping[str, Any], records: Iterable[Record]
) -> Iterator[bytes]:
    """The lines of an export, line breaks included.

    Args:
        generation: The store's own name.
        counts: Type -> how many records of it follow.
        chosen: The filters, if it is not all of the space.
        records: In their order.
    """
    hashed, number = hashlib.sha256(), 0
    head = {
        "format": FORMAT,
        "version": VERSION,
        "generation": generation,
        "filter": dict(chosen),
        "counts": dict(counts),
    }
    line = _line(head)
    hashed.update(line)
    yield line
    for record in records:
        line = _line(record)
        hashed.update(line)
        number += 1
        yield line
    yield _line({"type": "end", "records": number, "sha256": hashed.hexdigest()})


def _line(record: Record) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def compact(kind: str, values: Mapping[str, Any]) -> Record:
    """A record of a type, without what says nothing."""
    kept = {name: values[name] for name in FIELDS[kind] if name in NEEDED[kind] or _says(values.get(name))}
    return {"type": kind, **kept}


def _says(value: object) -> bool:
    return value is not None and value is not False and value != "" and value != []


class Reading:
    """Reads an export's lines, and refuses the first that is not of this form."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.generation = ""
        self.counts: dict[str, int] = {}
        self.sha256 = ""
        self._hashed = hashlib.sha256()
        self._seen: dict[str, int] = dict.fromkeys(TYPES, 0)
        self._place = 0
        self._session: str | None = None
        self._ended = False

    def records(self, given: Iterable[bytes]) -> Iterator[Record]:
        """The records between head and end, checked. The checksum and the counts are checked with the end, which raises.

        Raises:
            UsageError: it is no export.
            StoreError: it was made by a newer version of this program, is cut, or was changed.
        """
        for number, line in enumerate(given, start=1):
            record = self._parsed(number, line)
            if number == 1:
                self._head(record)
            elif self._ended:
                raise self._damaged(number, "something follows the end")
            elif record.get("type") == "end":
                self._end(record, number)
                continue
            else:
                self._check(number, record)
                yield record
            self._hashed.update(line)
        if not self._ended:
            raise StoreError(f"{self.name} is cut: its end is missing.", hint="Nothing was imported. Export it again.")

    def _parsed(self, number: int, line: bytes) -> Record:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise self._damaged(number, str(error)) from error
        if not isinstance(record, dict):
            raise self._damaged(number, "no record")
        return record

    def _head(self, record: Record) -> None:
        if record.get("format") != FORMAT:
            raise UsageError(f"{self.name} is no export of raw-rag.")
        if record.get("version") != VERSION:
            raise StoreError(
                f"{self.name} has version {record.get('version')} of the format; this program knows {VERSION}.",
                hint="Update this one.",
            )
        generation, counts = record.get("generation"), record.get("counts")
        if not isinstance(generation, str) or not isinstance(counts, dict):
            raise self._damaged(1, "no head")
        self.generation, self.counts = generation, counts

    def _check(self, number: int, record: Record) -> None:
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in FIELDS:
            raise self._damaged(number, f"a record of type {kind!r}")
        place = TYPES.index(kind) if kind != "turn" else TYPES.index("session")
        if place < self._place:
            raise self._damaged(number, f"a {kind} out of its place")
        self._place = place
        known = FIELDS[kind]
        for name, value in record.items():
            if name != "type" and (name not in known or not _is(value, known[name]) or not _fits(kind, name, value)):
                raise self._damaged(number, f"a {kind} with {name} {str(value)[:40]!r}")
        lacking = [name for name in NEEDED[kind] if name not in record]
        if lacking:
            raise self._damaged(number, f"a {kind} without {lacking[0]}")
        if kind == "turn" and record["id"] != f"e{record['key'][:20]}":
            raise self._damaged(number, "a turn whose id is not its key's")
        if kind == "session":
            self._session = record["session"]
        elif kind == "turn" and record["session"] != self._session:
            raise self._damaged(number, "a turn that does not follow its session")
        self._seen[kind] += 1

    def _end(self, record: Record, number: int) -> None:
        self._ended, self.sha256 = True, self._hashed.hexdigest()
        if record.get("sha256") != self.sha256 or record.get("records") != number - 2:
            raise self._damaged(number, "its checksum is another")
        if any(self.counts.get(kind) != seen for kind, seen in self._seen.items()):
            raise self._damaged(number, "its head counts other records")

    def _damaged(self, number: int, why: str) -> StoreError:
        return StoreError(
            f"{self.name} was cut or changed after it was made: line {number}: {why}.",
            hint="Nothing was imported. Export it again.",
        )


def _is(value: object, allowed: tuple[type, ...]) -> bool:
    if isinstance(value, int) and not -_MOST <= value <= _MOST:
        return False
    return isinstance(value, allowed) and (bool in allowed or not isinstance(value, bool))


def _fits(kind: str, name: str, value: object) -> bool:
    if name in _INSTANTS:
        return isinstance(value, int) and EARLIEST <= value <= LATEST
    if isinstance(value, list):
        return all(isinstance(one, str) for one in value)
    if name == "captured":
        return isinstance(value, dict) and _is_captured(value)
    pattern = _PATTERNS.get((kind, name))
    return pattern is None or (isinstance(value, str) and pattern.fullmatch(value) is not None)


def _is_captured(value: Record) -> bool:
    texts = isinstance(value.get("source"), str) and isinstance(value.get("author"), str | None)
    return texts and isinstance(value.get("partial"), bool) and len(value) == 3
