"""``raw-rag export``, ``import``, ``backup`` and ``restore``: a space goes elsewhere, or comes back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import UsageError
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.memory.portable.restore import Restored
    from agent_raw_rag.runtime.portable import OnNote, Portable


def export(
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="FORM", help="jsonl, to be imported again, or md, to be read.")
    ] = "jsonl",
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", rich_help_panel=options.FILTERS,
                     help="Only from this day or instant on: 2026-11-30, yesterday, 7d."),
    ] = None,
    session: options.Session = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to this file, for you alone. Default: stdout."),
    ] = None,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Write out what a space holds: sessions, turns, notes, candidates and journal, with their ids.

    Vectors and indexes are not part of it: they are made anew where it is imported. For an exact copy see backup.
    """
    if json and output is None:
        raise UsageError("--json and the export would both go to stdout.", hint="Give --output FILE.")
    exported = _portable(config, space).export(output or sys.stdout.buffer, form, session, since)
    if json:
        render.as_json(exported.as_json())
    elif output is not None:
        render.line(f"Wrote {_counted(exported.counts)} to {output}.")
    else:
        sys.stdout.buffer.flush()


def import_(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", show_default=False,
            help="An export of raw-rag (JSONL); of a chat service (its zip, folder or conversations.json); "
                 "an agent's log (JSONL).",
        ),
    ],
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="NAME", help="Whose log it is. Default: told by what it says.")
    ] = None,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Make no vectors now; the next ingest does.")
    ] = False,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Store what a file tells. Importing it again adds nothing; what was forgotten does not come back.

    An export of raw-rag is checked whole before anything is written. Any import that was interrupted is simply run again.
    """
    portable = _portable(config, space)
    on_note = _progress() if sys.stderr.isatty() and not json else _silent
    result = portable.import_file(file, agent, embed=not no_embed, on_note=on_note)
    if json:
        render.as_json(result)
    else:
        _show_import(result)


def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="The file, or with --all-spaces the folder.")],
    all_spaces: Annotated[bool, typer.Option("--all-spaces", help="Every space, each a file of the folder.")] = False,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Copy a space's store, vectors included, while it is in use.

    FILE is an SQLite database; FILE.manifest.json beside it holds its checksum, schema and counts. Keep both.
    """
    if all_spaces and space:
        raise UsageError("--all-spaces and --space do not go together.")
    portable = _portable(config, space)
    done = portable.backup_all(file) if all_spaces else portable.backup(file)
    if json:
        render.as_json(done.as_json())
        return
    for one in done.stores:
        render.line(f"{one.space}: {render.size(one.bytes)}, {_rows(one.counts)}")
    render.line(f"Backed up to {done.path}; its manifest is {done.manifest}.")


def restore(
    file: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="What `raw-rag backup` wrote.")],
    space: Annotated[
        str | None,
        typer.Option("--space", metavar="NAME", help="Into this space; of a folder, only this one. Default: as it was."),
    ] = None,
    json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Put a backup back. What it replaces is kept, dated, beside the store.

    The manifest is checked first. Nothing may use the store meanwhile: end the daemon, servers, and agents that run one.
    """
    done = options.load(config).portable().restore(file, space or None)
    if json:
        render.as_json([one.as_json() for one in done])
        return
    for one in done:
        _show_restored(one)


def _show_restored(one: Restored) -> None:
    render.line(f"{one.space}: restored {_rows(one.counts)}.")
    if one.kept:
        render.line(f"What it replaced is kept in {one.kept}.", "dim")
    if one.returned:
        render.finding(
            "warn", f"{count(one.returned, 'turn')} that had been forgotten since the backup was made are back.",
            "`raw-rag forget` forgets them again; the backup itself still holds them.",
        )  # fmt: skip


def _portable(config: str | None, space: str | None) -> Portable:
    runtime = options.load(config)
    return runtime.portable(options.space_name(runtime, space))


def _progress() -> OnNote:
    """Vectors take long: how far they are, on stderr."""
    from agent_raw_rag.cli.ingest import said_in_lines

    return said_in_lines()


def _silent(note: object) -> None:
    """Nobody waits at a terminal."""


def _show_import(result: dict[str, Any]) -> None:
    added = {name: number for name, number in result["added"].items() if number}
    render.line(f"{result['kind']}: added {_counted(added) if added else 'nothing'}.")
    for name, words in _NOTED.items():
        if result.get(name):
            render.line(f"{result[name]:,} {words}", "dim")
    for reason, number in result.get("malformed", {}).items():
        render.finding("warn", f"{number} passed over: {reason}", "")
    for name in result.get("named", []):
        render.line(f"  {name}", "dim")
    if result.get("unknown"):
        kinds = ", ".join(f"{kind} ({number})" for kind, number in result["unknown"].items())
        render.finding("warn", f"Content of unknown kinds: {kinds}", "")
    if result.get("encoder_problem"):
        render.finding("warn", result["encoder_problem"], "Until this is mended search goes by words.")
    elif result["backlog"] > 0:
        render.line(f"{count(result['backlog'], 'chunk')} without a vector; `raw-rag-ingest` makes them.", "dim")


_NOTED = {
    "forgotten": "turns were forgotten here, and stay so.",
    "kept": "turns that were forgotten there are kept here.",
    "files_left_out": "attached files are kept by their name only; what stands in them was left out.",
    "masked": "texts held a secret, which was masked.",
    "updated": "notes and candidates were decided as in the file.",
    "journal_left_out": "rows of another journal were left out: this space has one of its own.",
}


def _counted(counts: dict[str, int]) -> str:
    shown = {"journal": "journal row", "sessions": "session", "turns": "turn"}
    return ", ".join(count(number, shown.get(name, name)) for name, number in counts.items() if number) or "nothing"


def _rows(counts: dict[str, int]) -> str:
    return f"{count(counts.get('turns', 0), 'turn')}, {count(counts.get('notes', 0), 'note')}"
