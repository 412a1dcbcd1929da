"""``raw-rag spaces``: the vector spaces there are, and dropping one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render

if TYPE_CHECKING:
    from agent_raw_rag.search.spaces import SpaceItem

app = typer.Typer(
    name="spaces",
    cls=options.GuardedGroup,
    help="Vector spaces: one for each model that made vectors. One is searched.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.command("list")
def list_spaces(json: options.Json = False, config: options.Config = None) -> None:
    """The vector spaces there are, the one that is searched first."""
    items = options.load(config).spaces.items()
    if json:
        render.as_json([asdict(item) for item in items])
        return
    if not items:
        render.aside("There are no vectors yet: `raw-rag-ingest` makes them.")
        return
    rows = [
        ("searched" if item.active else "", item.space, item.encoder, item.dim, filled(item), render.size(item.bytes))
        for item in items
    ]
    render.table(["", "space", "encoder", "dim", "chunks", "size"], rows)


@app.command("drop")
def drop(
    space: Annotated[str, typer.Argument(help="Its name, as `raw-rag spaces list` shows it.", show_default=False)],
    config: options.Config = None,
) -> None:
    """Delete a space that is not searched, with its vectors. The conversations stay; vectors can be made again."""
    options.load(config).spaces.drop(space)
    render.line(f"Dropped {space}.")


def filled(item: SpaceItem) -> str:
    """How full a space is, in words."""
    if not item.backlog:
        return f"all {item.embedded:,}"
    return f"{item.embedded:,} of {item.embedded + item.backlog:,}"
