"""``raw-rag forget``: a session, a project or a stretch of time, for good."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import UsageError
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.ingest.forget import Forgotten

Project = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="PATH", rich_help_panel=options.FILTERS,
                 help="Only this project: any folder of it. '*', all of them, with --after or --before only."),
]  # fmt: skip


def forget(
    session: options.Session = None, project: Project = None, after: options.After = None,
    before: options.Before = None, agent: options.Agent = None, branch: options.Branch = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be forgotten, and keep it.")] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why; it stands in the journal.")
    ] = None,
    kept: Annotated[bool, typer.Option("--kept", help="Also what is kept on purpose: see `raw-rag keep`.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Forget a session, a project or a stretch of time.

    A session goes with its sub-agents. Kept sessions are passed over.

    The agents' own logs are not touched, and what was forgotten never comes back from them.
    """
    if not (session or after or before or agent or branch or (project and project != options.ALL_PROJECTS)):
        hint = "Give --session, --project, --agent, --branch, --after or --before."
        if project:
            hint = "All projects, for all time, is everything: give --after or --before as well, or delete the home folder."
        raise UsageError("Forget what?", hint=hint)
    runtime = options.room(config, space)
    scope = runtime.forget_scope(
        options.ask(project, agent, session=session, after=after, before=before, branch=branch)
    )
    planned = runtime.forget(scope, dry_run=True, kept=kept)
    if dry_run or not planned.turns:
        _say(planned, json, done=False)
        return
    if not yes:
        _confirm(planned)
    _say(runtime.forget(scope, reason=reason, target=session or project, kept=kept), json, done=True)


def _confirm(planned: Forgotten) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "Standard input is no terminal, so that nobody can be asked. Nothing was forgotten.",
            hint="Give --yes to forget without asking, or --dry-run.",
        )
    typer.confirm(f"Forget {_counted(planned)} for good?", abort=True, err=True)


def _say(result: Forgotten, json: bool, *, done: bool) -> None:
    if json:
        render.as_json({"forgotten": done, **asdict(result)})
        return
    if not result.turns:
        render.line("Nothing there to forget.")
    else:
        render.line(f"{'Forgot' if done else 'Would forget'} {_counted(result)}.")
    if result.shielded:
        render.line(f"{count(result.shielded, 'session')} kept on purpose: left as it was.", "dim")


def _counted(result: Forgotten) -> str:
    return f"{count(result.turns, 'turn')} of {count(result.sessions, 'session')}"
