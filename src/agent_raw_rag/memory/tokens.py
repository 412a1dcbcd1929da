"""Labelled tokens: making, listing, revoking and rotating them. A secret is shown once, and only its hash is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agent_raw_rag.errors import ConflictError, NotFoundError, UsageError
from agent_raw_rag.memory import token_terms as terms
from agent_raw_rag.memory.results import stamp
from agent_raw_rag.memory.spaces import Opening
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store.connection import Connection
from agent_raw_rag.store.durable import durable_transaction
from agent_raw_rag.store.journal import Journal
from agent_raw_rag.store.tokens import LOGIN, TokenRow, TokenTable

USED_EVERY_MS = 60_000
"""A use is noted at most so often."""


@dataclass(frozen=True)
class TokenItem:
    """A token as it is listed: neither secret nor hash."""

    label: str
    prefix: str
    spaces: tuple[str, ...]
    scopes: tuple[str, ...]
    created: str | None
    expires: str | None
    last_used: str | None
    revoked: str | None
    live: bool

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {
            "label": self.label, "prefix": self.prefix, "spaces": list(self.spaces), "scopes": list(self.scopes),
            "created": self.created, "expires": self.expires, "last_used": self.last_used, "revoked": self.revoked,
            "live": self.live,
        }  # fmt: skip


@dataclass(frozen=True)
class NewToken:
    """A token that was just made, with the secret that nobody is shown again."""

    secret: str
    token: TokenItem

    def as_json(self) -> dict[str, Any]:
        """JSON values only."""
        return {"secret": self.secret, **self.token.as_json()}


class Tokens:
    """The tokens of one home. Safe to use from several threads, and by several processes."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    def items(self, now: Millis) -> list[TokenItem]:
        """All there ever were, oldest first, but for one-time codes that are used or too old."""
        with self._opening() as connection:
            rows = TokenTable(connection).rows()
        return [item_of(row, now) for row in rows if not row.is_code or row.is_live(now)]

    def any_live(self, now: Millis) -> bool:
        """Whether any token opens anything; a one-time code does not."""
        return any(item.live and LOGIN not in item.scopes for item in self.items(now))

    def create(
        self, label: str, *, spaces: Iterable[str], scopes: Iterable[str], expires_in: Millis | None = None,
        actor: Actor, now: Millis,
    ) -> NewToken:  # fmt: skip
        """Make a token.

        Raises:
            BadArgumentError: a label, space or scope that cannot be.
            ConflictError: a token of this label is live.
        """
        label, opened, allowed = terms.checked_label(label), terms.checked_spaces(spaces), terms.checked_scopes(scopes)
        ends = None if expires_in is None else now + expires_in
        with self._opening() as connection, durable_transaction(connection):
            table = TokenTable(connection)
            for row in (one for one in table.rows() if one.label == label and one.revoked is None):
                if row.is_live(now):
                    raise ConflictError(
                        f"There is a token {label!r} already.",
                        hint="Take another label, or `raw-rag token rotate` or `revoke` that one.",
                    )
                assert row.expires is not None
                table.revoke(row.id, row.expires)  # it ended by itself, and its label is free again
            secret, row = added(table, label, spaces=opened, scopes=allowed, created=now, expires=ends)
            journalled(connection, actor, "token_create", row, now)
        return NewToken(secret, item_of(row, now))

    def revoke(self, name: str, *, actor: Actor, now: Millis) -> list[TokenItem]:
        """Take the tokens of a label, or the one of a prefix, no longer.

        Raises:
            NotFoundError: no live token has this name.
            UsageError: the prefix is that of several.
        """
        with self._opening() as connection, durable_transaction(connection):
            table = TokenTable(connection)
            ended = _named(table, name, now)
            for row in ended:
                table.revoke(row.id, now)
                journalled(connection, actor, "token_revoke", row, now)
            numbers = {row.id for row in ended}
            return [item_of(row, now) for row in table.rows() if row.id in numbers]

    def rotate(self, name: str, *, grace: Millis = 0, actor: Actor, now: Millis) -> NewToken:
        """A new secret for a token; the old one ends now, or after a time of grace.

        Raises:
            NotFoundError: no live token has this name.
            UsageError: the prefix is that of several.
        """
        with self._opening() as connection, durable_transaction(connection):
            table = TokenTable(connection)
            old = max(_named(table, name, now), key=lambda row: row.id)
            if old.revoked is not None:
                raise _unknown(name)  # its successor is the one to rotate
            table.revoke(old.id, now + grace)
            secret, row = added(
                table, old.label, spaces=old.spaces, scopes=old.scopes, created=now, expires=old.expires
            )
            journalled(connection, actor, "token_rotate", row, now, replaces=old.prefix)
        return NewToken(secret, item_of(row, now))

    def note_use(self, number: int, now: Millis) -> None:
        """Write down when a token was used last."""
        with self._opening() as connection, durable_transaction(connection):
            TokenTable(connection).used(number, now)


def added(table: TokenTable, label: str, **facts: Any) -> tuple[str, TokenRow]:
    """A secret whose prefix is nobody else's, and its row."""
    taken = {row.prefix for row in table.rows()}
    secret = next(one for one in iter(terms.new_secret, "") if terms.prefix(one) not in taken)
    return secret, table.add(label, terms.prefix(secret), terms.digest(secret), **facts)


def _named(table: TokenTable, name: str, now: Millis) -> list[TokenRow]:
    live = [row for row in table.rows() if row.is_live(now)]
    found = [row for row in live if row.label == name]
    if not found and len(name) > len(terms.MARK):
        found = [row for row in live if row.prefix.startswith(name) or name == row.prefix]
        if len(found) > 1:
            raise UsageError(
                f"{name!r} may be any of {len(found)} tokens.", hint="Give the whole prefix, or the label."
            )
    if not found:
        raise _unknown(name)
    return found


def _unknown(name: str) -> NotFoundError:
    shown = f"{terms.prefix(name)}…" if name.startswith(terms.MARK) else name[:64]  # somebody may have pasted a secret
    return NotFoundError(f"There is no live token {shown!r}.", hint="`raw-rag token list` shows labels and prefixes.")


def journalled(
    connection: Connection, actor: Actor, action: str, row: TokenRow, now: Millis, *, replaces: str | None = None
) -> None:
    """Write down what was done to a token."""
    detail = {"prefix": row.prefix, "spaces": list(row.spaces), "scopes": list(row.scopes), "expires": row.expires}
    if replaces is not None:
        detail["replaces"] = replaces
    Journal(connection).add(actor, action, time=now, target=row.label, detail=detail)


def item_of(row: TokenRow, now: Millis) -> TokenItem:
    """A token as it is listed."""
    return TokenItem(
        row.label, row.prefix, row.spaces, row.scopes, stamp(row.created), stamp(row.expires), stamp(row.used),
        stamp(row.revoked), row.is_live(now),
    )  # fmt: skip
