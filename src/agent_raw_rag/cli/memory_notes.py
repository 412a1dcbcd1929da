"""``raw-rag recall``, ``save``, ``update``, ``deprecate`` and ``history``: what is kept on purpose. ``--json`` prints what the
memory tools give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render

if TYPE_CHECKING:
    from agent_raw_rag.memory.results import Memory, NoteItem

Words = Annotated[list[str], typer.Argument(metavar="TEXT...", show_default=False, help="The statement.")]
NoteId = Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The note: n and 20 characters.")]
Source = Annotated[str, typer.Option("--source", metavar="NAME", help="Where it comes from.")]
Topic = Annotated[str | None, typer.Option("--topic", metavar="LABEL", help="A label.")]
KINDS = "rule, fact, decision, preference, lesson or task."


def recall(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="What you want to know.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="So many at most, 1-100.")] = 5,
    include_raw: Annotated[
        bool | None,
        typer.Option("--include-raw/--no-include-raw", help="Raw events too, after the notes.", show_default=False),
    ] = None,
    topic: Annotated[str | None, typer.Option("--topic", metavar="LABEL", help="Only notes with this label.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help=f"Only {KINDS}")] = None,
    exclude_session: Annotated[
        str | None, typer.Option("--exclude-session", metavar="ID", help="No raw events of this session.")
    ] = None,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Recall what was kept on purpose: rules first, then facts, decisions and preferences."""
    from agent_raw_rag.memory.recall import RecallAsk

    memory = options.memory(config, space)
    raw = memory.include_raw if include_raw is None else include_raw
    found = memory.notes.recall(RecallAsk(" ".join(query), limit, raw, topic, kind, exclude_session))
    if json:
        render.as_json(found.as_json())
        return
    if not found.memories:
        render.line("Nothing is remembered about this.")
    for one in found.memories:
        show_memory(one)
    if found.degraded:
        render.line(f"Not run: {', '.join(found.degraded)}.", "dim")


def save(
    content: Words,
    source: Source = "cli",
    topic: Topic = None,
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help=f"One of {KINDS}")] = "rule",
    importance: Annotated[
        str, typer.Option("--importance", metavar="HOW", help="low, medium or high.")
    ] = "medium",
    evidence: Annotated[
        list[str] | None, typer.Option("--evidence", metavar="ID", help="An event it rests on; may be repeated.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="keep: it cannot be retired; may be repeated.")
    ] = None,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Keep a statement that holds from now on."""
    from agent_raw_rag.memory.notes import Save

    ask = Save(" ".join(content), source, topic, kind, importance, tuple(evidence or ()), tuple(tag or ()))
    saved = options.memory(config, space).notes.save(ask, options.OWNER)
    if json:
        render.as_json(saved.as_json())
    else:
        render.line(f"Saved as {saved.kind} {saved.node_id}." if saved.created else f"Already kept: {saved.node_id}.")


def update(
    note_id: NoteId,
    content: Words,
    source: Source = "cli",
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Why, in a few words.")] = None,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Put a new statement in the place of a note that no longer holds."""
    updated = options.memory(config, space).notes.update(note_id, " ".join(content), source, options.OWNER, note)
    if json:
        render.as_json(updated.as_json())
    else:
        render.line(f"{updated.new_node_id} replaces {updated.deprecated_atom_id}.")


def deprecate(
    note_id: NoteId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it no longer holds.", show_default=False)],
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Retire a note without another in its place. Its history stays."""
    done = options.memory(config, space).notes.deprecate(note_id, reason, options.OWNER)
    if json:
        render.as_json(done.as_json())
    else:
        render.line(f"{done.id} is recalled no more.")


def history(
    note_id: NoteId, space: options.Space = None, json: options.Json = False, config: options.Config = None
) -> None:
    """What a note was before and what became of it, oldest first."""
    found = options.memory(config, space).notes.history(note_id)
    if json:
        render.as_json(found.as_json())
        return
    for one in found.notes:
        _show_note(one)


def show_memory(one: Memory) -> None:
    """One of what is recalled."""
    facts = [f"source {one.source}", *([f"by {one.author}"] if one.author else []), one.source_id]
    if one.evidence and one.layer == "atom":
        facts.append(f"evidence {', '.join(one.evidence)}")
    topic = f" · {one.topic}" if one.topic else ""
    title = f"{one.kind}{topic} · {(one.timestamp or 'no time')[:10]}"
    render.passage(title, " · ".join(facts), one.text)


def _show_note(one: NoteItem) -> None:
    facts = [f"source {one.source}", *([f"by {one.author}"] if one.author else []), one.id]
    if one.superseded_by:
        facts.append(f"superseded by {one.superseded_by}")
    reason = f"because: {one.reason}" if one.reason else ""
    render.passage(
        f"{one.kind} · {one.status} · {(one.created or '')[:10]}", " · ".join(facts), one.statement, footer=reason
    )
