"""``raw-rag hook`` as the other commands see it: help, and putting hooks into an agent's settings. What agents run is answered by
``start`` before this module is imported."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options
from agent_raw_rag.errors import UsageError

if TYPE_CHECKING:
    from agent_raw_rag.connect.wire import Outcome, Place, Wirer

INSTALL, UNINSTALL = "install", "uninstall"


def hook(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="session-start, pre-compact or stop; install or uninstall.")
    ],
    program: Annotated[str | None, typer.Argument(metavar="[AGENT]", help="install, uninstall: which agent's.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Which agent runs it.")] = None,
    variables: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A variable, where the shell sets none.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="install, uninstall: show the difference, and write nothing.")
    ] = False,
    json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Answer an agent's hook: its JSON on stdin, the answer on stdout.

    session-start prints the last turns of the project as additional context; pre-compact starts an ingest; stop takes in the
    turn that has just ended, and may be written AGENT-stop. It never
    takes longer than 300 ms (after a turn 900), and its exit status is always 0.

    `raw-rag hook install AGENT` writes the hooks into the agent's settings, with a dated backup; `raw-rag hook uninstall AGENT`
    takes them out again. `raw-rag connect --hooks` writes them together with the rest.
    """
    if event in (INSTALL, UNINSTALL):
        _edit(event, program, dry_run, json, config)
        return
    from agent_raw_rag.connect.hook import main

    given = [("--agent", agent), ("--config", config), *(("--set", one) for one in variables or ())]
    main([event, *(word for name, value in given if value for word in (name, value))])


def _edit(how: str, program: str | None, dry_run: bool, json: bool, config: str | None) -> None:
    from agent_raw_rag.cli.connect import LOCK_SECONDS, commands_of, machine_of, show
    from agent_raw_rag.connect.journal import Journal
    from agent_raw_rag.connect.plan import Plan, Scope, chosen, wirings
    from agent_raw_rag.connect.wire import Wirer
    from agent_raw_rag.store.lock import CONNECT, lock

    if program is None:
        raise UsageError("Which agent's hooks?", hint=f"Name one: {', '.join(wirings())}.")
    runtime = options.load(config)
    [(agent, wiring)] = chosen([program])
    commands, notes = commands_of(runtime.environment, config)
    plan = Plan(machine_of(runtime.environment), Scope.USER, commands)
    if how == INSTALL:
        places = plan.to_write(agent, wiring, hooks=True, instructions=False, server=False)
    else:
        places = plan.to_undo(agent, wiring, hooks_only=True)
    home = runtime.settings.home
    with nullcontext() if dry_run else lock(home, CONNECT, wait_seconds=LOCK_SECONDS, purpose="connect"):
        outcomes = _done(places, Wirer(Journal(home), datetime.now, dry_run), how)
    show(outcomes, notes if how == INSTALL else [], as_json=json, dry_run=dry_run)
    if any(one.change == "failed" for one in outcomes):
        raise typer.Exit(1)


def _done(places: list[Place], wirer: Wirer, how: str) -> list[Outcome]:
    from agent_raw_rag.connect.wire import attempted

    return [attempted(place, wirer.connect if how == INSTALL else wirer.undo) for place in places]
