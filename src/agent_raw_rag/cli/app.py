"""``raw-rag``: everything a person does with the history of their coding agents."""

from __future__ import annotations

from typing import Annotated

import typer

from agent_raw_rag import __version__
from agent_raw_rag.cli import (
    connect,
    demo,
    doctor,
    forget,
    hook,
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
for _command in (
    search.search, read.recent, read.show, lists.sessions, lists.projects, status.status, doctor.doctor, forget.forget,
    memory_notes.recall, memory_notes.save, memory_notes.update, memory_notes.deprecate, memory_notes.history,
    memory_curation.promote, memory_curation.reject, memory_curation.sweep, memory_raw.capture,
    memory_portable.export, memory_portable.backup, memory_portable.restore,
    memory_serve.serve, connect.connect, resume.resume, resume.handoff, hook.hook, demo.demo,
):  # fmt: skip
    app.command()(_command)
app.command("import")(memory_portable.import_)
app.command("search-raw")(memory_raw.search_raw)
app.add_typer(memory_curation.candidates)
app.add_typer(memory_curation.journal)
app.add_typer(triggers.app)
app.add_typer(measuring)
app.add_typer(spaces.app)
app.add_typer(models.app, name="models")
app.add_typer(memory_space.app)
app.add_typer(memory_token.app)


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
