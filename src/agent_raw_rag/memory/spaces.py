"""Spaces: what is kept apart. Each is a store of its own, so that no question can ever reach across."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.errors import BadArgumentError, ConflictError, NotFoundError
from agent_raw_rag.memory.results import stamp
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.durable import durable_transaction
from agent_raw_rag.store.homes import DEFAULT_SPACE, checked_slug
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.memory_spaces import MemorySpaceRow, MemorySpaceTable

MOST_TITLE = 200

Opening = Callable[[], AbstractContextManager[Connection]]
"""Opens the home's store for writing."""


@dataclass(frozen=True)
class SpaceItem:
    """A space as it is listed."""

    space: str
    title: str
    enabled: bool
    created: str | None

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"space": self.space, "title": self.title, "enabled": self.enabled, "created": self.created}


class SpaceRegistry:
    """The spaces of one home. Safe to use from several threads, and by several processes."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    def items(self) -> list[SpaceItem]:
        """All spaces, ``default`` first."""
        with self._opening() as connection:
            return [_item(row) for row in MemorySpaceTable(connection).rows()]

    def create(self, slug: str, *, title: str = "", actor: Actor, now: Millis) -> SpaceItem:
        """Make a space. It can be used at once.

        Raises:
            BadArgumentError: the name breaks the rule.
            ConflictError: there is one of this name.
        """
        checked_slug(slug)
        if len(title) > MOST_TITLE or not title.isprintable():
            raise BadArgumentError(f"A title is one line of at most {MOST_TITLE} characters.")
        with self._opening() as connection, durable_transaction(connection):
            table = MemorySpaceTable(connection)
            if table.row(slug) is not None:
                raise ConflictError(f"There is a space {slug!r} already.", hint="`raw-rag space list` shows them.")
            row = table.add(slug, title, now)
            Journal(connection).add(actor, "space_create", time=now, target=slug)
        return _item(row)

    def enable(self, slug: str, enabled: bool, *, actor: Actor, now: Millis) -> SpaceItem:
        """Let a space be used again, or no longer. What it holds stays.

        Raises:
            NotFoundError: there is none of this name.
            BadArgumentError: ``default`` cannot be disabled.
        """
        if slug == DEFAULT_SPACE and not enabled:
            raise BadArgumentError("The space 'default' cannot be disabled.", hint="Give tokens other spaces instead.")
        with self._opening() as connection, durable_transaction(connection):
            table = MemorySpaceTable(connection)
            row = table.row(slug)
            if row is None:
                raise no_space(slug)
            if row.enabled != enabled:
                table.enable(slug, enabled)
                Journal(connection).add(actor, "space_enable" if enabled else "space_disable", time=now, target=slug)
        return _item(MemorySpaceRow(row.slug, row.title, enabled, row.created))


def no_space(slug: str) -> NotFoundError:
    """The error of a name that no space has."""
    return NotFoundError(f"There is no space {slug[:80]!r}.", hint=f"`raw-rag space create {slug[:80]}` makes it.")


def _item(row: MemorySpaceRow) -> SpaceItem:
    return SpaceItem(row.slug, row.title, row.enabled, stamp(row.created))
