"""``raw-rag recent`` and ``raw-rag show``: turns in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import NotFoundError
from agent_raw_rag.runtime.counted import count

if TYPE_CHECKING:
    from agent_raw_rag.search.browse import ReadTurn, SessionItem

_STYLES = {
    "user": "green",
    "assistant": "cyan",
    "task": "magenta",
    "summary": "yellow",
    "event": "blue",
    "tool": "blue",
}


def recent(
    project: options.Project = None, agent: options.Agent = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="Turns at most.", rich_help_panel=options.OUTPUT)
    ] = 30,
    max_tokens: options.MaxTokens = None, space: options.Space = None, json: options.Json = False,
    config: options.Config = None,
) -> None:  # fmt: skip
    """The last turns of a project, oldest first.

    Across all agents. Without --project: of the current folder's project if it has any history, else of all projects.
    """
    runtime = options.room(config, space)
    where = options.here_or_all(runtime, project, agent)
    result = runtime.recent(options.ask(where, agent), limit=limit, max_tokens=max_tokens)
    if json:
        render.as_json({"project": where, **result.as_json()})
        return
    for turn in result.turns:
        show_turn(turn, with_session=True)
    if not result.turns:
        render.line(f"No turns in {options.in_words(where)}.")
        render.projects_with_history(result.projects)
    for note in result.notes:
        render.line(note, "dim")


def show(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Its id, or an unambiguous beginning.")],
    turn: Annotated[
        int | None, typer.Option("--turn", "-t", metavar="N", help="Only this turn.", rich_help_panel=options.OUTPUT)
    ] = None,
    space: options.Space = None, json: options.Json = False,
    config: options.Config = None,
) -> None:  # fmt: skip
    """All turns of a session, whole."""
    result = options.room(config, space).show(session)
    turns = [one for one in result.turns if turn in (None, one.turn)]
    if turn is not None and not turns:
        last = result.turns[-1].turn if result.turns else 0
        raise NotFoundError(f"The session has no turn {turn}.", hint=f"Its turns are 1 to {last}." if last else "")
    if json:
        given = result.as_json()
        chosen = [one for one in given["turns"] if turn in (None, one["turn"])]
        name = result.session.session if result.session else session
        render.as_json({"session": name, "info": given["session"], "turns": chosen})
        return
    if result.session:
        show_session(result.session)
    for one in turns:
        show_turn(one)
    if not turns:
        render.line("It has no turns.")


def show_turn(turn: ReadTurn, *, with_session: bool = False) -> None:
    """A turn for people."""
    marks = [f"session {turn.session}"] if with_session else []
    if turn.abandoned:
        marks.append("on an abandoned branch")
    if turn.truncated:
        marks.append(f"cut; all of it: raw-rag show {turn.session} --turn {turn.turn}")
    title = f"[{turn.turn}] {turn.role} · {render.when(turn.time)}"
    render.passage(title, " · ".join(marks), turn.text, style=_STYLES.get(turn.role, "white"))


def show_session(item: SessionItem) -> None:
    """The facts about a session, for people."""
    facts = [item.agent, render.short_path(item.project), item.branch, item.version, count(item.turns, "turn"),
             f"{render.when(item.started)} to {render.when(item.last)}"]  # fmt: skip
    render.line(f"{item.session}{f'  {item.title}' if item.title else ''}", "bold")
    render.line(" · ".join(fact for fact in facts if fact))
    if item.parent:
        render.line(f"{item.parent_kind or 'child'} of {item.parent}")
    render.line(f"log: {item.source or 'unknown'}{' (gone)' if item.source_gone else ''}", "dim")
    if item.resume:
        render.line(item.resume, "dim")
    render.line()
