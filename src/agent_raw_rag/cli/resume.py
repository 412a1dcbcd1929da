"""``raw-rag resume`` and ``raw-rag handoff``: go on with a session, in its agent or in another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from agent_raw_rag.runtime.reopening import Reopening

Name = Annotated[str, typer.Argument(metavar="SESSION", help="Its id, or an unambiguous beginning.")]


def resume(
    session: Name,
    show: Annotated[bool, typer.Option("--print", help="Print the command line, and run nothing.")] = False,
    config: options.Config = None,
) -> None:
    """Reopen a session in its agent, from the folder it was started in."""
    way = options.load(config).reopening(session)
    if show:
        render.line(way.shown)
        return
    program = shutil.which(way.words[0])
    if way.folder and not os.path.isdir(way.folder):
        here = replace(way, folder=None).shown
        raise NotFoundError(
            f"The session was started in {way.folder}, which is gone.", hint=f"To try from another folder: {here}"
        )
    if program is None:
        raise NotFoundError(f"{way.words[0]} is not installed, or not on PATH.", hint=f"To run it later: {way.shown}")
    _become(program, way)


def handoff(
    session: Name,
    to: Annotated[str, typer.Option("--to", metavar="AGENT", help="Who goes on.")],
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", help="Token budget.", min=200, max=100_000)
    ] = 4000,
    json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Print a prompt with the last exchanges of a session, for another agent.

    Whole turns, as many as fit. Give it to the agent on its command line or through the clipboard.
    """
    from agent_raw_rag.connect.handoff import handoff_prompt, last_exchanges
    from agent_raw_rag.connect.plan import wirings

    known = wirings()
    if to not in known:
        raise UsageError(f"Unknown agent {to!r}.", hint=f"Known: {', '.join(known)}.")
    result = options.load(config).show(session)
    if result.session is None or not result.turns:
        raise NotFoundError(f"{session} holds no turn any more.")
    turns, left_out = last_exchanges(result.turns, max_tokens)
    prompt = handoff_prompt(result.session, turns, left_out, known[to][1].title, os.urandom(4).hex())
    if json:
        used = [turn.turn for turn in turns]
        render.as_json({"session": result.session.session, "to": to, "turns": used, "prompt": prompt})
        return
    render.raw(prompt)


def _become(program: str, way: Reopening) -> None:
    """The agent takes this process's place, so that the terminal and its signals are the agent's."""
    if way.folder:
        os.chdir(way.folder)
    sys.stdout.flush()
    if sys.platform == "win32":  # no exec there that keeps the console
        raise typer.Exit(subprocess.call([program, *way.words[1:]]))  # noqa: S603 - the user asked for it
    os.execv(program, list(way.words))  # noqa: S606
