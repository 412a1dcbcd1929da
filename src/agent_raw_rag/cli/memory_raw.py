"""``raw-rag capture`` and ``search-raw``: what was said and what happened, word for word. ``--json`` prints what the memory tools
give."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.cli.wording import as_commands
from agent_raw_rag.errors import BadArgumentError

ROLES = ("user", "assistant", "tool", "event")
FROM_STDIN = "-"


def capture(
    content: Annotated[
        list[str], typer.Argument(metavar="TEXT...", show_default=False, help="Word for word; - reads standard input.")
    ],
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Who tells it.")] = "cli",
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", metavar="ID", help="The conversation. Default: ext:SOURCE.", show_default=False),
    ] = None,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="user, assistant, tool or event.")] = "event",
    host_turn_id: Annotated[
        str | None, typer.Option("--host-turn-id", metavar="ID", help="Your id of the turn: a retry with it adds nothing.")
    ] = None,
    timestamp: Annotated[
        str | None, typer.Option("--timestamp", metavar="TIME", help="When it was. Default: now.", show_default=False)
    ] = None,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Record what was said or what happened, for good. Sent again, it is the same event."""
    from agent_raw_rag.models import Capture, Role

    if role not in ROLES:
        raise BadArgumentError(f"There is no role {role[:80]!r}.", hint=f"The roles are: {', '.join(ROLES)}.")
    text = sys.stdin.read() if content == [FROM_STDIN] else " ".join(content)
    memory = options.memory(config, space)
    when = memory.instant(timestamp) if timestamp else memory.store.now()
    told = Capture(text, source, session=session, role=Role(role), host_turn_id=host_turn_id, time=when)
    captured = memory.raw.capture(told, options.OWNER)
    if json:
        render.as_json(captured.as_json())
    elif captured.duplicate:
        render.line(f"Recorded before: {captured.event_id}.")
    else:
        render.line(f"Recorded as {captured.event_id}." if captured.recorded else as_commands(captured.note))
    memory.feeding.wait()


def search_raw(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="Words, in any order.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="So many at most, 1-100.")] = 10,
    session: Annotated[str | None, typer.Option("--session", "-s", metavar="ID", help="Only this session.")] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Only what this source told; an agent, for its logs.")
    ] = None,
    after: options.After = None, before: options.Before = None,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Find raw events by their words: turns of logs, and what was captured, at once."""
    from agent_raw_rag.memory.raw_search import RawQuery

    asked = RawQuery(" ".join(query), limit, session or None, source or None, after or None, before or None)
    found = options.memory(config, space).raw.search(asked)
    if json:
        render.as_json(found.as_json())
        return
    if not found.events:
        render.line("No event has these words.")
    for one in found.events:
        render.passage(
            f"{one.user} · {(one.timestamp or 'no time')[:16]}",
            f"source {one.source} · session {one.session_id} · {one.event_id}", one.content, words=list(query),
        )  # fmt: skip
