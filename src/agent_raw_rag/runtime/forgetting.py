"""The journal's row of a forgetting, as part of its transaction."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_raw_rag.ingest.forget import Forgotten
    from agent_raw_rag.models import Actor
    from agent_raw_rag.store.connection import Connection


def written_down(
    actor: Actor, reason: str | None, target: str | None, *, redacting: bool
) -> Callable[[Connection, Forgotten], None]:
    """What is to be done in the transaction that forgets: say who did it, why, and how much it was. No word of it.

    Raises:
        BadArgumentError: the reason is too long.
    """
    from agent_raw_rag.memory.taken import Taker
    from agent_raw_rag.store.journal import Journal

    why = Taker(redacting=redacting).reason(reason)
    now = time.time_ns() // 1_000_000

    def write(connection: Connection, forgotten: Forgotten) -> None:
        counts = {"sessions": forgotten.sessions, "turns": forgotten.turns}
        if forgotten.shielded:
            counts["shielded"] = forgotten.shielded
        Journal(connection).add(
            actor, "forget", time=now, target=target, detail=counts | ({"reason": why} if why else {})
        )

    return write
