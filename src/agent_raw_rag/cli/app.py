"""``raw-rag``: everything a person does with the history of their coding agents."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_raw_rag import __version__
from agent_raw_rag.cli import (
    chat,
    connect,
    demo,
    doctor,
    forget,
    hook,
    keep,
    lists,
    memory_curation,
    memory_notes,
    memory_portable,
    memory_raw,
    memory_serve,
    memory_space,
    memory_token,
    models,
    options,
    read,
    resume,
    search,
    spaces,
    status,
    triggers,
    web,
)
from agent_raw_rag.cli.eval import app as measuring

app = typer.Typer(
    name="raw-rag",
    cls=options.GuardedGroup,
    help="The exact past conversations of your coding agents, from their own logs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # they print the values of local variables, which may hold what is private
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _panel, _commands in {
    "History": (
        search.search, read.recent, read.show, lists.sessions, lists.projects, resume.resume, resume.handoff, keep.keep,
        forget.forget,
    ),
    "Memory": (
        memory_notes.recall, memory_notes.save, memory_notes.update, memory_notes.deprecate, memory_notes.history,
        memory_raw.capture, memory_raw.search_raw, memory_curation.sweep, memory_curation.candidates,
        memory_curation.promote, memory_curation.reject, triggers.app, memory_curation.journal,
    ),
    "Agents and servers": (
        chat.chat, connect.connect, hook.hook, memory_serve.serve, web.web, memory_space.app, memory_token.app,
    ),
    "Store": (
        status.status, doctor.doctor, memory_portable.export, memory_portable.import_, memory_portable.backup,
        memory_portable.restore,
    ),
    "Models": (models.app, spaces.app, measuring),
    "Try it": (demo.demo,),
}.items():  # fmt: skip
    for _command in _commands:
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, rich_help_panel=_panel)
        else:
            app.command(_command.__name__.strip("_").replace("_", "-"), rich_help_panel=_panel)(_command)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"raw-rag {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of ``raw-rag``."""
    app(prog_name="raw-rag")
