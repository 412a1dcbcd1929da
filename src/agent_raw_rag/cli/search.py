"""``raw-rag search``: a question in, the exact past turns out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.search.result import Passage, SearchResult


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="What you want to know.", show_default=False)],
    project: options.Project = None, agent: options.Agent = None, after: options.After = None,
    before: options.Before = None, branch: options.Branch = None, role: options.Role = None,
    session: options.Session = None,
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", "-k", metavar="N", help="Passages at most.", rich_help_panel=options.OUTPUT),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show each stage's rank and score.", rich_help_panel=options.OUTPUT),
    ] = False,
    max_tokens: options.MaxTokens = None, space: options.Space = None, json: options.Json = False,
    config: options.Config = None,
) -> None:  # fmt: skip
    """Find what was said and done in past sessions.

    Without --project: in the current folder's project if it has any history, else in all projects.
    """
    runtime = options.room(config, space)
    where = options.here_or_all(runtime, project, agent)
    ask = options.ask(where, agent, after=after, before=before, branch=branch, role=role, session=session)
    result = runtime.search(" ".join(query), ask, top_k=top_k, max_tokens=max_tokens)
    if json:
        render.as_json({"project": where, **result.as_json(explain=explain)})
    else:
        show_result(result, where, explain=explain)


def show_result(result: SearchResult, where: str, *, explain: bool = False) -> None:
    """Passages for people; ``explain``: each followed by a table of the stages that ranked it."""
    if not result.passages:
        render.line(f"Nothing in {options.in_words(where)} answers this.")
        render.projects_with_history(result.projects)
    for one in result.passages:
        show_passage(one, result.query)
        if explain:
            show_stages(one)
    if result.passages:
        stages = "; ".join(result.stages)
        render.line(f"{count(len(result.passages), 'passage')} from {options.in_words(where)}. {stages}", "dim")
    for note in result.notes:
        render.line(note, "dim")


def show_passage(one: Passage, query: str = "") -> None:
    """A passage for people: where it is from, why it was found, what was said, how to go back there."""
    turns = str(one.first_turn) if one.first_turn == one.last_turn else f"{one.first_turn}-{one.last_turn}"
    scores = {"words": one.scores.lexical, "meaning": one.scores.dense, "rerank": one.scores.rerank}
    parts = ", ".join(f"{name} {value:.2f}" for name, value in scores.items() if value is not None)
    facts = [f"session {one.session}", f"turns {turns}", f"{one.ranked_by} {one.scores.fused:.2f} ({parts})"]
    if one.branch:
        facts.append(f"branch {one.branch}")
    if one.also:
        facts.append(f"also: {len(one.also)}")
    if one.source_gone:
        facts.append("its log is gone")
    render.passage(
        f"#{one.rank} {one.agent} · {render.short_path(one.project)} · {render.when(one.time)}",
        " · ".join(facts), one.text, footer=_footer(one), words=_telling(query),
    )  # fmt: skip


def show_stages(one: Passage) -> None:
    """A passage's way through the funnel, and what was folded into it."""
    rows = [(mark.stage, mark.rank, f"{mark.score:.4f}") for mark in one.explain]
    render.table(("stage", "rank", "score"), rows)
    for other in one.also:
        turns = f"{other.first_turn}-{other.last_turn}"
        render.line(f"also: session {other.session}, turns {turns}, {render.when(other.time)}", "dim")
    render.line()


def _telling(query: str) -> list[str]:
    """The words of a query that are worth marking."""
    from agent_raw_rag.lexical.queries import STOPWORDS

    words = (word.strip(".,;:?!\"'()[]") for word in query.split())
    return [word for word in words if word and word.lower() not in STOPWORDS]


def _footer(one: Passage) -> str:
    rest = f"cut; all of it: raw-rag show {one.session} --turn {one.turn}" if one.truncated else ""
    return "\n".join(text for text in (rest, one.resume) if text)
