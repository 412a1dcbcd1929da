"""``raw-rag hook`` as the other commands see it: help. ``start`` runs it before this module is imported."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_raw_rag.cli import options


def hook(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="session-start or pre-compact.")],
    agent: Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Which agent runs it.")] = None,
    variables: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A variable, where the shell sets none.")
    ] = None,
    config: options.Config = None,
) -> None:
    """Answer an agent's hook: its JSON on stdin, the answer on stdout.

    session-start prints the last turns of the project as additional context; pre-compact starts an ingest. It never waits
    longer than 300 ms, and its exit status is always 0. `raw-rag connect --hooks` writes it into an agent's settings.
    """
    from agent_raw_rag.connect.hook import main

    given = [("--agent", agent), ("--config", config), *(("--set", one) for one in variables or ())]
    main([event, *(word for name, value in given if value for word in (name, value))])
