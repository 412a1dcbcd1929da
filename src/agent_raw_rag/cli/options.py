"""Options that several commands share, and what is made of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from agent_raw_rag.cli import render
from agent_raw_rag.cli.wording import as_commands
from agent_raw_rag.models import DOORS, Actor, Ask
from agent_raw_rag.runtime import Runtime, expected

if TYPE_CHECKING:
    from agent_raw_rag.runtime.memory import Memory

ALL_PROJECTS = "*"
OWNER = Actor("owner", "cli")
"""Whoever runs a command has the machine's user."""
_JSON = "agent_raw_rag.json"


def _remember_json(context: typer.Context, asked: bool) -> bool:
    """So that an error comes as JSON too."""
    context.meta[_JSON] = asked or context.meta.get(_JSON, False)
    return asked


FILTERS, OUTPUT = "Which part of the history", "Output"
Config = Annotated[str | None, typer.Option("--config", metavar="PATH", help="The configuration file to use.")]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON value and nothing else.", callback=_remember_json,
                 rich_help_panel=OUTPUT),
]  # fmt: skip
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        "-a",
        metavar="NAME",
        help="Only this agent; mcp, http, chat, proxy or import: only what was captured.",
        rich_help_panel=FILTERS,
    ),
]
Project = Annotated[
    str | None,
    typer.Option("--project", "-p", metavar="PATH", rich_help_panel=FILTERS,
                 help="Only this project: any folder of it, or '*' for all."),
]  # fmt: skip
After = Annotated[
    str | None,
    typer.Option("--after", metavar="DATE", rich_help_panel=FILTERS,
                 help="From this day, month, year or instant on: 2026-11-30, 2026-11, 2026, yesterday, 7d, 'last week'."),
]  # fmt: skip
Before = Annotated[
    str | None,
    typer.Option("--before", metavar="DATE", rich_help_panel=FILTERS,
                 help="Up to and including this day, month, year or instant."),
]  # fmt: skip
Branch = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="Only this git branch.", rich_help_panel=FILTERS)
]
Role = Annotated[
    str | None,
    typer.Option(
        "--role", metavar="ROLE", help="user, assistant, task, summary, event or tool.", rich_help_panel=FILTERS
    ),
]
Session = Annotated[
    str | None,
    typer.Option("--session", "-s", metavar="ID", rich_help_panel=FILTERS,
                 help="Only this session: its id, or an unambiguous beginning."),
]  # fmt: skip
Space = Annotated[
    str | None,
    typer.Option("--space", metavar="NAME", help="The memory space. Default: $RAW_RAG_SPACE, else default.",
                 rich_help_panel=FILTERS),
]  # fmt: skip
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", metavar="N", help="Token budget of the answer.", rich_help_panel=OUTPUT)
]


def load(config: str | None) -> Runtime:
    """The runtime of the options."""
    from agent_raw_rag.log import set_up

    os.umask(0o077)  # whatever is made from here on is the user's alone, files of libraries included
    set_up()
    return Runtime.load(config)


def memory(config: str | None, space: str | None) -> Memory:
    """The memory of the options' space. Raises BadArgumentError or NotFoundError: there is no such space."""
    return room(config, space).memory


def room(config: str | None, space: str | None) -> Runtime:
    """The runtime of the options' space. Raises BadArgumentError or NotFoundError: there is no such space."""
    runtime = load(config)
    return runtime.open_space(space_name(runtime, space))


def space_name(runtime: Runtime, space: str | None) -> str:
    """The space asked for; else the environment's; else the default one."""
    from agent_raw_rag.config import SPACE_VARIABLE
    from agent_raw_rag.store.homes import DEFAULT_SPACE

    return space or runtime.environment.get(SPACE_VARIABLE, "").strip() or DEFAULT_SPACE


def ask(project: str | None = None, agent: str | None = None, **filters: str | None) -> Ask:
    """The filters of the options; "" means absent."""
    return Ask(project=project or None, agent=agent or None, **{name: text or None for name, text in filters.items()})


def here_or_all(runtime: Runtime, project: str | None, agent: str | None = None) -> str:
    """The project asked for; else the current folder's if it has any history; else all. What came through a door is seldom of
    any project."""
    if project or agent in DOORS:
        return project or ALL_PROJECTS
    try:
        here = os.getcwd()
    except OSError:  # it was deleted under us
        return ALL_PROJECTS
    return here if runtime.sessions(ask(here), limit=1) else ALL_PROJECTS


def in_words(project: str) -> str:
    """A project for people."""
    return "all projects" if project == ALL_PROJECTS else render.short_path(project)


def _guarded(invoke: Callable[[Any], Any], context: Any) -> Any:
    """Expected errors end a command with one message and their own exit status; never with a traceback."""
    try:
        return invoke(context)
    except Exception as error:
        known = expected(error)
        if known is None:
            raise
        known.message, known.hint = as_commands(known.message), as_commands(known.hint)
        render.complain(known, as_json=bool(context.meta.get(_JSON)))
        raise typer.Exit(known.exit_status) from None


class GuardedGroup(typer.core.TyperGroup):
    """A group of commands."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was chosen."""
        return _guarded(super().invoke, ctx)


class GuardedCommand(typer.core.TyperCommand):
    """A command on its own."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        return _guarded(super().invoke, ctx)
