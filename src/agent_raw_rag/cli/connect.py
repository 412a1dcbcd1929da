"""``raw-rag connect``: wire the agents to this program, in their own files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import UsageError

if TYPE_CHECKING:
    from agent_raw_rag.adapters.wiring import Wiring
    from agent_raw_rag.connect.plan import Commands, Machine, Plan
    from agent_raw_rag.connect.survey import Wired
    from agent_raw_rag.connect.wire import Outcome, Wirer

    Chosen = list[tuple[str, Wiring]]

WHAT = "What is done"
LOCK_SECONDS = 10.0
"""Editing a handful of small files takes less."""
_SAID = {
    "added": "connected", "updated": "updated", "unchanged": "already connected", "removed": "taken out",
    "restored": "as it was before", "absent": "not connected", "kept": "kept",
}  # fmt: skip

_WOULD = {**_SAID, "added": "would be connected", "updated": "would be updated", "removed": "would be taken out",
          "restored": "would be as it was before"}  # fmt: skip


def connect(
    agents: Annotated[list[str] | None, typer.Argument(metavar="[AGENT]...", help="Which agents.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every agent that is used on this machine.")] = False,
    scope: Annotated[
        str, typer.Option("--scope", metavar="SCOPE", help="user: all projects. project: the current one's own files.")
    ] = "user",
    hooks: Annotated[
        bool, typer.Option("--hooks", help="Also run us at starts, at compactions and after turns.", rich_help_panel=WHAT)
    ] = False,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Also say when to search.", rich_help_panel=WHAT)
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take everything out again.", rich_help_panel=WHAT)] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show who is connected; start each command once.", rich_help_panel=WHAT)
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the difference, and write nothing.", rich_help_panel=WHAT)
    ] = False,
    json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Connect agents to this program, each in its own configuration file.

    Only our entry changes: comments, order and form of the file stay. A dated backup is made beside it.
    Exit status: 0; 1 if a file could not be edited, or with --status if a connected command does not answer.
    """
    from agent_raw_rag.connect.journal import Journal
    from agent_raw_rag.connect.plan import Plan, Scope, chosen, wirings
    from agent_raw_rag.connect.wire import Wirer
    from agent_raw_rag.store.lock import CONNECT, lock

    if scope not in tuple(Scope):
        raise UsageError(f"{scope!r} is no scope.", hint="Scopes: user, project.")
    if status and (undo or dry_run or hooks or instructions):
        raise UsageError("--status changes nothing, and goes with no option that would.", hint="Give it alone.")
    if agents and every:
        raise UsageError("Name agents or give --all, not both.")
    runtime = options.load(config)
    machine = machine_of(runtime.environment)
    if status:
        _status(chosen(agents or wirings()), machine, json)
        return
    if not agents and not every:
        here = " ".join(name for name, (_, one) in wirings().items() if machine.has(one))
        raise UsageError("Which agents?", hint=f"Name them, or give --all. On this machine: {here or 'none found'}.")
    known = chosen(agents or wirings())
    if every and not undo:
        known = [(agent, one) for agent, one in known if machine.has(one)]
    commands, notes = commands_of(runtime.environment, config)
    plan = Plan(machine, Scope(scope), commands)
    home = runtime.settings.home
    with nullcontext() if dry_run else lock(home, CONNECT, wait_seconds=LOCK_SECONDS, purpose="connect"):
        wirer = Wirer(Journal(home), datetime.now, dry_run)
        outcomes = _undone(plan, known, wirer) if undo else _wired(plan, known, wirer, hooks, instructions)
    show(outcomes, [] if undo else notes, as_json=json, dry_run=dry_run)
    if any(one.change == "failed" for one in outcomes):
        raise typer.Exit(1)


def _wired(plan: Plan, known: Chosen, wirer: Wirer, hooks: bool, instructions: bool) -> list[Outcome]:
    from agent_raw_rag.connect.wire import attempted

    outcomes = []
    for agent, wiring in known:
        for place in plan.to_write(agent, wiring, hooks=hooks, instructions=instructions):
            done = attempted(place, wirer.connect)
            new = done.change in ("added", "updated")
            outcomes.append(replace(done, note=plan.note(place, wiring)) if new else done)
    return outcomes


def _undone(plan: Plan, known: Chosen, wirer: Wirer) -> list[Outcome]:
    from agent_raw_rag.connect.wire import attempted

    return [attempted(place, wirer.undo) for agent, wiring in known for place in plan.to_undo(agent, wiring)]


def show(outcomes: list[Outcome], notes: list[str], *, as_json: bool, dry_run: bool) -> None:
    """Print what was done to files."""
    if as_json:
        render.as_json({"agents": [asdict(one) for one in outcomes], "notes": notes})
        return
    for one in outcomes:
        if one.change == "failed":
            render.finding("error", f"{one.name}, {one.part}: {one.error}", one.note)
            continue
        render.line(
            f"{one.name}, {one.part}: {(_WOULD if dry_run else _SAID)[one.change]} ({render.short_path(one.file)})"
        )
        if one.backup:
            render.line(f"  backup: {render.short_path(one.backup)}", "dim")
        if one.note:
            render.line(f"  {one.note}", "dim")
        if one.diff:
            render.line(one.diff)
    if not outcomes:
        render.line("Nothing to do: none of them is used here, or the current folder is no project.")
    for note in notes:
        render.aside(note)


def _status(known: list[tuple[str, Wiring]], machine: Machine, as_json: bool) -> None:
    from agent_raw_rag.connect.plan import Scope
    from agent_raw_rag.connect.probe import probe
    from agent_raw_rag.connect.survey import survey

    found = survey(known, machine, tuple(Scope), probe)
    if as_json:
        render.as_json([asdict(one) for one in found])
    else:
        for one in found:
            _show_wired(one)
    if any(one.answers is False or one.error for one in found):
        raise typer.Exit(1)


def _show_wired(one: Wired) -> None:
    if one.error:
        render.finding("error", f"{one.name}, {one.scope}: {one.error}", "Mend the file.")
    elif one.file is not None:
        more = [word for word, there in (("hooks", one.hooks), ("instructions", one.instructions)) if there]
        level = "ok" if one.answers else "error"
        said = f"{one.name}, {one.scope}: {one.command} ({'; '.join([render.short_path(one.file), *more])})"
        render.finding(level, f"{said}: {one.server}", f"raw-rag connect {one.name} writes it anew")
    elif one.scope == "user":
        render.line(f"{one.name}: {'not connected' if one.here else 'not used here'}", "dim")


def machine_of(environment: Mapping[str, str]) -> Machine:
    """Where the agents' files are looked for: in this home, and in the project of the current folder."""
    from agent_raw_rag.config import user_home
    from agent_raw_rag.connect.plan import Machine, project_root

    home = user_home(environment)
    return Machine(environment, home, project_root(_here(home)))


def _here(home: str) -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted under us
        return home


def commands_of(environment: Mapping[str, str], config: str | None) -> tuple[Commands, list[str]]:
    """How this installation is started, and what there is to say about that."""
    from agent_raw_rag.connect.command import EPHEMERAL_NOTE, Installation
    from agent_raw_rag.connect.plan import Commands

    running = Installation.running(environment)
    commands = Commands(running.server(config), running.hook(config))
    return commands, [EPHEMERAL_NOTE] if running.ephemeral else []
