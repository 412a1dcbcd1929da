"""``raw-rag sessions`` and ``raw-rag projects``: what there is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render

if TYPE_CHECKING:
    from agent_raw_rag.search.browse import SessionItem


def sessions(
    project: options.Project = None, agent: options.Agent = None, after: options.After = None,
    before: options.Before = None, branch: options.Branch = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, metavar="N", help="Sessions at most; default: all.",
                     rich_help_panel=options.OUTPUT),
    ] = None,
    space: options.Space = None, json: options.Json = False,
    config: options.Config = None,
) -> None:  # fmt: skip
    """Sessions, the one last spoken in first.

    Of all projects, unless --project says otherwise.
    """
    ask = options.ask(project, agent, after=after, before=before, branch=branch)
    items = options.room(config, space).sessions(ask, -1 if limit is None else limit)
    if json:
        render.as_json([asdict(item) for item in items])
        return
    if not items:
        render.aside(f"No sessions in {options.in_words(project or options.ALL_PROJECTS)} with these filters.")
    if render.is_terminal():
        for item in items:
            _show(item)
        return
    rows = [(item.last, item.turns, item.session, item.project, item.branch, item.title) for item in items]
    render.table(["last", "turns", "session", "project", "branch", "title"], rows)


def _show(item: SessionItem) -> None:
    """Two lines: an id is too long for a column, and is there to be copied."""
    facts = [render.minute(item.last), f"{item.turns:>5} turns", render.short_path(item.project), item.branch]
    render.line("  ".join(fact for fact in facts if fact))
    render.line(f"  {item.session}{f'  {item.title}' if item.title else ''}", "dim")


def projects(space: options.Space = None, json: options.Json = False, config: options.Config = None) -> None:
    """Projects that have history, the one last spoken in first."""
    items = options.room(config, space).projects()
    if json:
        render.as_json([asdict(item) for item in items])
        return
    if not items:
        render.aside("No projects have history yet.")
    rows = [(render.minute(item.last), item.sessions, render.short_path(item.project)) for item in items]
    render.table(["last turn", "sessions", "project"], rows)
