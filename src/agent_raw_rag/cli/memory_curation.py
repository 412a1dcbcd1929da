"""``raw-rag candidates``, ``promote``, ``reject``, ``sweep``, ``journal``: what becomes of what was said, and who did what.
``--json`` prints what the curation tools give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import StoreError
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.memory.results import CandidateItem, Swept

Ids = Annotated[
    list[str], typer.Argument(metavar="ID...", show_default=False, help="Candidates: c and 20 hexadecimal digits.")
]
Id = Annotated[
    str, typer.Argument(metavar="ID", show_default=False, help="The candidate: c and 20 hexadecimal digits.")
]
Why = Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why, in a few words.")]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why it is not worth a note.", show_default=False)
]
JournalLimit = Annotated[int, typer.Option("--limit", "-n", metavar="N", help="So many of the last acts.")]
Since = Annotated[str | None, typer.Option("--since", metavar="DATE", help="From this day or instant on.")]

candidates = typer.Typer(
    name="candidates", cls=options.GuardedGroup, no_args_is_help=True, help="Statements that wait to become notes."
)
journal = typer.Typer(
    name="journal", cls=options.GuardedGroup,
    help="Who wrote, decided or was denied what in a space.",
)  # fmt: skip


@candidates.command("list")
def list_candidates(
    status: Annotated[
        str | None,
        typer.Option("--status", metavar="STATUS", help="pending, conflict, promoted, rejected or all. "
                     "Default: pending and conflict."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="So many at most, 1-1000.")] = 50,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Candidates with the words they rest on, newest first."""
    found = options.memory(config, space).promotion.candidates(status, limit)
    if json:
        render.as_json(found.as_json())
        return
    for one in found.candidates:
        _show_candidate(one)
    if not found.candidates:
        render.line("No candidates.")


def promote(
    ids: Ids, note: Why = None, space: options.Space = None, json: options.Json = False, config: options.Config = None
) -> None:
    """Make notes of candidates.

    One that contradicts a note is refused the first time; promoted again, it takes that note's place.
    """
    promoted = options.memory(config, space).promotion.promote(ids, options.OWNER, note)
    if json:
        render.as_json(promoted.as_json())
        return
    for one in promoted.promoted:
        instead = f", instead of {one.superseded}" if one.superseded else ""
        render.line(f"{one.candidate_id} {'was merged into' if one.merged else 'is'} {one.node_id}{instead}.")


def reject(
    candidate: Id,
    reason: Reason,
    space: options.Space = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Hide a candidate that is not worth a note. What it rests on stays."""
    rejected = options.memory(config, space).promotion.reject(candidate, reason, options.OWNER)
    if json:
        render.as_json(rejected.as_json())
    else:
        render.line(f"{rejected.candidate_id} is rejected.")


candidates.command("promote")(promote)
candidates.command("reject")(reject)


def sweep(
    now: Annotated[
        bool, typer.Option("--now", help="Sweep now. Without it, only if the last sweep is an interval ago.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what logs told before this store was: candidates only, no notes.")
    ] = False,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Look through what was said since the last sweep for what is worth a note. No model is asked.

    The daemon and the servers do so by themselves; see `promotion` in the configuration.
    """
    from agent_raw_rag.memory.results import Swept

    memory = options.memory(config, space)
    is_due = now or everything or memory.promotion.due_in(memory.sweep_interval) == 0
    swept = (
        memory.promotion.sweep(everything=everything)
        if is_due
        else Swept(0, 0, warnings=["Not due yet; --now sweeps."])
    )
    if json:
        render.as_json(swept.as_json())
    else:
        _show_swept(swept)


@journal.callback(invoke_without_command=True)
def _journal(
    context: typer.Context, limit: JournalLimit = 50, since: Since = None, space: options.Space = None,
    json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    if context.invoked_subcommand is None:
        list_journal(limit, since, space, json, config)


@journal.command("list")
def list_journal(
    limit: JournalLimit = 50, since: Since = None, space: options.Space = None, json: options.Json = False,
    config: options.Config = None,
) -> None:  # fmt: skip
    """The last acts, oldest first."""
    shown = options.memory(config, space).journal.rows(limit, since)
    if json:
        render.as_json(shown.as_json())
    elif shown.rows:
        acts = [
            (row["id"], row["time"], row["actor"], row["transport"], row["action"], row["target"]) for row in shown.rows
        ]
        render.table(["", "time", "who", "over", "did", "what"], acts)
    else:
        render.line("Nothing is written down.")


@journal.command("verify")
def verify(space: options.Space = None, json: options.Json = False, config: options.Config = None) -> None:
    """Whether every act stands as it was written. Ends with status 1 if not."""
    verified = options.memory(config, space).journal.verify()
    if json:
        render.as_json(verified.as_json())
    elif verified.ok:
        render.line(f"{count(verified.rows, 'act')}, all as they were written.")
    if verified.ok:
        return
    if json:
        raise typer.Exit(1)
    raise StoreError(
        f"The journal was changed at row {verified.broken}.", hint="What stands from there on cannot be relied upon."
    )


def _show_candidate(one: CandidateItem) -> None:
    facts = [f"source {one.source}", f"by {one.proposer}{f' ({one.rule})' if one.rule else ''}", one.id]
    facts.append(f"evidence {', '.join(one.evidence)}")
    about = {"conflict": f"contradicts {one.note}", "promoted": f"is {one.note}", "rejected": f"because: {one.reason}"}
    render.passage(
        f"{one.kind} · {one.status} · {(one.created or '')[:10]}", " · ".join(facts), one.statement,
        footer=about.get(one.status, ""),
    )  # fmt: skip


def _show_swept(swept: Swept) -> None:
    made = f"{count(swept.created, 'new candidate')}, {swept.promoted} of them promoted, {swept.conflicts} in conflict"
    render.line(f"{count(swept.read, 'turn')} read: {made}.")
    if swept.merged:
        render.line(f"{swept.merged} merged into notes that say the same.")
    if swept.history:
        render.line(f"{count(swept.history, 'turn')} from before this store left alone; --all reads them.", "dim")
    for warning in swept.warnings:
        render.line(warning, "dim")
