"""Letting a person into the page: a one-time code that a link carries becomes a token that lives for some hours.

The code is a row of the tokens' table like any other, so that there is one way to be let in. Its scope ``login`` opens one door.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from agent_raw_rag.errors import ForbiddenError, UnauthorizedError
from agent_raw_rag.memory.spaces import Opening
from agent_raw_rag.memory.token_terms import ALL_SPACES, digest
from agent_raw_rag.memory.tokens import NewToken, added, item_of, journalled
from agent_raw_rag.models import Actor, Millis
from agent_raw_rag.store.durable import durable_transaction
from agent_raw_rag.store.tokens import LOGIN, TokenRow, TokenTable

SCOPES = ("read", "write", "curate", "chat", "admin")
"""What the page's token allows."""
CODE_LABEL = "link-"
PAGE_LABEL = "page-"


@dataclass(frozen=True)
class Logins:
    """The one-time codes of one home, and the tokens made for them. Safe in several threads and processes."""

    opening: Opening
    """Opens the home's store for writing."""

    def code(self, lasting: Millis, *, actor: Actor, now: Millis) -> NewToken:
        """A code that may be used once, within ten minutes. ``lasting``: how long the token lives that is made for it then."""
        with self.opening() as connection, durable_transaction(connection):
            secret, row = added(
                TokenTable(connection), f"{CODE_LABEL}{secrets.token_hex(4)}", spaces=(ALL_SPACES,),
                scopes=(LOGIN, *SCOPES), created=now, expires=now + lasting,
            )  # fmt: skip
            journalled(connection, actor, "login_code", row, now)
        return NewToken(secret, item_of(row, now))

    def exchange(self, number: int, *, actor: Actor, now: Millis) -> NewToken:
        """The token for a code, which nobody can use again. Of several that use one at once a single one is given a token.

        Args:
            number: Of the code's row.

        Raises:
            UnauthorizedError: it is no code, or no longer one.
        """
        with self.opening() as connection, durable_transaction(connection):
            table = TokenTable(connection)
            code = _live(table, number, now)
            if code is None or not code.is_code:
                raise UnauthorizedError(
                    "This link was used, or is too old.", hint="`raw-rag web` makes another: each opens the page once."
                )
            table.revoke(code.id, now)
            secret, row = added(
                table, f"{PAGE_LABEL}{secrets.token_hex(4)}", spaces=code.spaces,
                scopes=tuple(scope for scope in code.scopes if scope != LOGIN), created=now, expires=_end(code, now),
            )  # fmt: skip
            journalled(connection, actor, "login", row, now, replaces=code.prefix)
        return NewToken(secret, item_of(row, now))

    def waits(self, secret: str, *, now: Millis) -> bool:
        """Whether this code may be used still."""
        wanted = digest(secret)
        with self.opening() as connection:
            return any(row.hash == wanted and row.is_code and row.is_live(now) for row in TokenTable(connection).rows())

    def end(self, number: int | None, *, actor: Actor, now: Millis) -> None:
        """Take a page's token no longer.

        Raises:
            ForbiddenError: the token is of another kind, and somebody else may rely on it.
        """
        with self.opening() as connection, durable_transaction(connection):
            table = TokenTable(connection)
            row = _live(table, number, now)
            if row is None or not row.label.startswith(PAGE_LABEL):
                raise ForbiddenError(
                    "Only a token that was made by a link ends this way.", hint="`raw-rag token revoke` ends any token."
                )
            table.revoke(row.id, now)
            journalled(connection, actor, "logout", row, now)


def _end(code: TokenRow, now: Millis) -> Millis | None:
    """When a token ends that is made now: it lives as long as its code says, however late the code is used."""
    return None if code.expires is None else now + code.expires - code.created


def _live(table: TokenTable, number: int | None, now: Millis) -> TokenRow | None:
    """Its row; None: there is none, or it was ended. Of two who come at once the later may have looked at the clock first, so
    that it is not enough to ask whether it is live at that instant."""
    rows = (row for row in table.rows() if row.id == number and row.revoked is None)
    return next((row for row in rows if row.is_live(now)), None)
