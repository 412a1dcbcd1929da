"""Foreign SQLite databases: the sessions in them and when each last changed, and the rows of one session.

The SQL is the adapter's (``Family``); here it is run. What keeps guests safe:

- nothing is written, neither to the database nor beside it (``_guest`` has the how and why);
- an authorizer lets statements read the family's own tables and nothing else, so that a table with secrets cannot be
  read by mistake;
- a session is read in one short read transaction, so that a writer's log can be folded in again soon.

A column whose name ends in ``_json`` holds JSON and comes decoded; a row in which it does not decode is a bad record.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from agent_raw_rag.adapters.base import Family
from agent_raw_rag.errors import SourceError
from agent_raw_rag.models import BadRecord, Record, Source
from agent_raw_rag.sources._guest import Guest, MovedError, open_guest
from agent_raw_rag.sources.document import read_companions
from agent_raw_rag.sources.lines import LINE_LIMIT_BYTES, parse_line

JSON_SUFFIX = "_json"
ATTEMPTS = 4
"""How often a read begins anew because the database was checkpointed under it."""

Found = TypeVar("Found")


def foreign_sessions(source: Source, families: Sequence[Family]) -> Iterator[tuple[str, str, str]]:
    """(family, session, stamp) of every session; one that several families hold comes from the first of them alone.

    A family without an id for its only session gives "", and the source's own id stands in.

    Raises:
        SourceError: the database cannot be read, or (after all other sessions came) the tables of a family have
            another shape than expected.
    """
    found, odd = _steadily(source, lambda guest: _all_sessions(guest, families))
    seen = set()
    for family, session, stamp in found:
        session = session or source.session or ""
        if session and session not in seen:
            seen.add(session)
            yield family, session, stamp
    if odd:
        raise SourceError(f"{source.path}: {odd}.", hint="Its format may be newer than this version knows.")


def read_session(source: Source, families: Sequence[Family], family: str, session: str) -> list[Record | BadRecord]:
    """The rows of one session in the order of the family's queries, then the records of the source's companions.

    The origin of a row is the family's name.

    Raises:
        SourceError: the database cannot be read.
    """
    row = next(one for one in families if one.name == family)
    return _steadily(source, lambda guest: _rows(guest, row, session)) + read_companions(source)


def _steadily(source: Source, read: Callable[[Guest], Found]) -> Found:
    for _ in range(ATTEMPTS):
        try:
            with open_guest(source.path) as guest:
                return read(guest)
        except MovedError:
            continue
        except sqlite3.Error as error:
            hint = "If its agent is running, try again; if it is damaged, its agent can tell."
            raise SourceError(f"Cannot read {source.path}: {error}.", hint=hint) from error
    raise SourceError(f"{source.path} keeps changing while it is read.", hint="It will be tried again.")


# ---------------------------------------------------------------- sessions


def _all_sessions(guest: Guest, families: Sequence[Family]) -> tuple[list[tuple[str, str, str]], str]:
    """What all families that are there say, and what is odd about one."""
    found: list[tuple[str, str, str]] = []
    odd = ""
    tables = guest.tables()
    for family in families:
        if not tables.issuperset(family.tables):
            continue
        guest.allow(family.tables)
        try:
            rows = guest.connection.execute(family.sessions).fetchall()
        except sqlite3.OperationalError as error:
            if not str(error).startswith("no such"):
                raise
            odd = f"the tables of generation {family.name!r} are not as expected: {error}"
            continue
        found += [(family.name, str(session or ""), str(stamp)) for session, stamp in rows]
    return found, odd


# ---------------------------------------------------------------- rows


def _rows(guest: Guest, family: Family, session: str) -> list[Record | BadRecord]:
    guest.allow(family.tables)
    entries: list[Record | BadRecord] = []
    guest.connection.execute("BEGIN")
    for query in family.records:
        entries += _query(guest.connection, query, session, family.name)
    guest.connection.execute("COMMIT")
    return entries


def _query(connection: sqlite3.Connection, query: str, session: str, origin: str) -> Iterator[Record | BadRecord]:
    cursor = connection.execute(query, {"session": session})
    names = [column[0] for column in cursor.description]
    while True:
        try:
            row = cursor.fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # A damaged page: what stood before it is good.
            yield BadRecord("damaged", 0, 0)
            return
        if row is None:
            return
        yield _record(dict(zip(names, row, strict=True)), origin)


def _record(columns: dict[str, Any], origin: str) -> Record | BadRecord:
    for name, value in columns.items():
        if name.endswith(JSON_SUFFIX) and value is not None:
            decoded = _decode(value)
            if isinstance(decoded, BadRecord):
                return decoded
            columns[name] = decoded.data
    return Record(columns, origin=origin)


def _decode(value: object) -> Record | BadRecord:
    content = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    if len(content) > LINE_LIMIT_BYTES:
        return BadRecord("too-long", 0, 0)
    return parse_line(content, 0, 0) or BadRecord("json", 0, 0)
