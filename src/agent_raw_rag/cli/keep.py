"""``raw-rag keep``: shield a session from forgetting by filters, or a note from being retired."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from agent_raw_rag.cli import options, render

_is_note = re.compile(r"n[0-9a-f]{20}").fullmatch


def keep(
    name: Annotated[str, typer.Argument(metavar="SESSION", show_default=False, help="A session, or a note's id.")],
    off: Annotated[bool, typer.Option("--off", help="Let it go again.")] = False,
    space: options.Space = None, json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Keep a session whatever is forgotten around it.

    `raw-rag forget` with a project, an agent or dates passes it over, with its sub-agents, and refuses its id without --kept.
    A note that is kept cannot be deprecated.
    """
    memory = options.memory(config, space)
    keeping = memory.notes.keep if _is_note(name) else memory.keeping.session
    done = keeping(name, options.OWNER, on=not off)
    if json:
        render.as_json(done.as_json())
        return
    again = "" if done.changed else " already"
    render.line(
        f"{done.id} is kept{again}." if done.kept else f"{done.id} is not kept{' any more' if done.changed else ''}."
    )
