"""``raw-rag-ingest``: read what is new in the agents' logs, once or all the time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag import __version__
from agent_raw_rag.cli import daemon, options, render
from agent_raw_rag.cli.status import show_status_of
from agent_raw_rag.errors import UsageError
from agent_raw_rag.runtime import heartbeat
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.ingest.run import AgentCounts, IngestReport, Note

    OnNote = Callable[[Note], None]

LINE_EVERY_SECONDS = 5.0
SCAN_SECONDS = 60.0
DAEMON = "Always on"

app = typer.Typer(
    name="raw-rag-ingest",
    pretty_exceptions_enable=False,  # they print the values of local variables, which may hold what is private
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"raw-rag-ingest {__version__}")
        raise typer.Exit


@app.command(cls=options.GuardedCommand)
def ingest(
    agent: Annotated[
        list[str] | None, typer.Option("--agent", "-a", metavar="NAME", help="Only this agent; may be repeated.")
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="Show what is stored, and read nothing.")] = False,
    json: options.Json = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Read everything that can still be read again; nothing stored is lost.")
    ] = False,
    no_embed: Annotated[bool, typer.Option("--no-embed", help="Make no vectors now; they stay a backlog.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=options.OUTPUT)] = False,
    config: options.Config = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on: read what the agents write as they write it.", rich_help_panel=DAEMON)
    ] = False,
    interval: Annotated[
        float,
        typer.Option("--interval", metavar="SECONDS", min=1, max=86400, rich_help_panel=DAEMON,
                     help="With --watch: how often to look everywhere, besides following events."),
    ] = SCAN_SECONDS,
    install_daemon: Annotated[
        bool, typer.Option("--install-daemon", help="Have the system run --watch, from now on and at each login.",
                           rich_help_panel=DAEMON)
    ] = False,
    uninstall_daemon: Annotated[
        bool, typer.Option("--uninstall-daemon", help="Stop and remove that service.", rich_help_panel=DAEMON)
    ] = False,
    daemon_status: Annotated[
        bool, typer.Option("--daemon-status", help="Show the service, the daemon, its lag and its last error.",
                           rich_help_panel=DAEMON)
    ] = False,
    print_: Annotated[
        bool, typer.Option("--print", help="With --install-daemon: show the service's description and install nothing.",
                           rich_help_panel=DAEMON)
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:  # fmt: skip
    """Read what is new in the agents' logs.

    Exit status: 0; 1 if a log could not be read or somebody else is writing; 2 for wrong use.
    """
    _one_of(
        {"--status": status, "--watch": watch, "--install-daemon": install_daemon,
         "--uninstall-daemon": uninstall_daemon, "--daemon-status": daemon_status},
        {"--agent": bool(agent) and not status, "--rebuild": rebuild, "--no-embed": no_embed},
    )  # fmt: skip
    if print_ and not install_daemon:
        raise UsageError("--print shows what --install-daemon would install.", hint="Give both.")
    if watch:
        daemon.watch(config, interval)
    elif install_daemon:
        daemon.install(config, interval, only_print=print_)
    elif uninstall_daemon:
        daemon.uninstall()
    elif daemon_status:
        daemon.show(config, json=json)
    elif status:
        _status(agent or [], json, config)
    else:
        _once(agent, json=json, rebuild=rebuild, no_embed=no_embed, quiet=quiet, config=config)


def _one_of(acts: dict[str, bool], of_reading: dict[str, bool]) -> None:
    """Each call does one thing, and takes only options that mean something to it."""
    asked = [name for name, is_asked in acts.items() if is_asked]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} do not go together.")
    idle = [name for name, is_asked in of_reading.items() if is_asked]
    if asked and idle:
        raise UsageError(f"{', '.join(idle)} means nothing with {asked[0]}.")


def _once(
    agent: list[str] | None, *, json: bool, rebuild: bool, no_embed: bool, quiet: bool, config: str | None
) -> None:
    runtime = options.load(config)
    with _progress(shown=not (quiet or json)) as on_note:
        report = runtime.ingest(agent or None, again=rebuild, embed=not no_embed, on_note=on_note)
    if json:
        render.as_json(report.as_json())
    else:
        show_report(report)
    if report.failed:
        raise typer.Exit(1)


def main() -> None:
    """Entry point of ``raw-rag-ingest``."""
    app(prog_name="raw-rag-ingest")


def show_report(report: IngestReport) -> None:
    """What a run did, for people."""
    for name, one in report.agents.items():
        if one.sources or one.failed_sources:
            _show_agent(name, one)
    if not any(one.sources for one in report.agents.values()):
        render.line("No logs found. Looked in:")
        for name, folders in report.looked_in.items():
            render.line(f"  {name}: {', '.join(render.short_path(folder) for folder in folders) or 'nowhere'}")
    backlog = f", {count(report.backlog, 'chunk')} to go" if report.backlog > 0 else ""
    render.line(f"{count(report.embedded, 'vector')} made{backlog}, {report.seconds:.1f} s", "dim")
    for note in report.notes:
        render.line(note, "dim")
    if report.encoder_problem:
        render.finding(
            "warn", report.encoder_problem, "Until this is mended search goes by words, and by the vectors there are."
        )


def _show_agent(name: str, one: AgentCounts) -> None:
    new = f"{count(one.new_turns, 'new turn')} in {count(one.new_sessions, 'new session')}"
    stored = f"{count(one.turns, 'turn')}, {count(one.sessions, 'session')}"
    render.line(f"{name}: {new}; stored: {stored} of {count(one.sources, 'source')}")
    for path, why in one.failed_sources.items():
        render.finding("error", f"{path} could not be read: {why}", "")
    if one.new_unknown_records:
        kinds = ", ".join(f"{kind} ({number})" for kind, number in one.new_unknown_records.items())
        render.finding("warn", f"{name}: records of types not known before were passed over: {kinds}", "")


def _status(agents: list[str], json: bool, config: str | None) -> None:
    if len(agents) > 1:
        raise UsageError("--status shows one agent or all.", hint="Give --agent once, or not at all.")
    runtime = options.load(config)
    report = runtime.status(agents[0] if agents else None)
    show_status_of(report, heartbeat.state(runtime.home), next(iter(agents), None), json=json)


@contextmanager
def _progress(*, shown: bool) -> Iterator[OnNote]:
    if not shown:
        yield lambda note: None
    elif sys.stderr.isatty():
        with _bar() as on_note:
            yield on_note
    else:
        yield said_in_lines()


def said_in_lines() -> OnNote:
    """A line at each stage's beginning, and every few seconds from then on."""
    stage, told_at = "", 0.0

    def on_note(note: Note) -> None:
        nonlocal stage, told_at
        now, current = time.monotonic(), note.stage + note.text
        if current != stage or now - told_at >= LINE_EVERY_SECONDS:
            stage, told_at = current, now
            render.aside(_said(note))

    return on_note


@contextmanager
def _bar() -> Iterator[OnNote]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks = {}

        def on_note(note: Note) -> None:
            key = (note.stage, note.text)
            if key not in tasks:
                tasks[key] = progress.add_task(note.text or "vectors", total=note.total)
            progress.update(tasks[key], completed=note.done, total=note.total)

        yield on_note


def _said(note: Note) -> str:
    if note.stage == "read":
        return f"{note.text}: source {min(note.done + 1, note.total)} of {note.total}"
    return f"vectors: {note.done} of {note.total} chunks"
