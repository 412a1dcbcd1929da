"""``raw-rag space``: the memory spaces. (``raw-rag spaces`` are the vector spaces.)"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.models import Actor

if TYPE_CHECKING:
    from agent_raw_rag.memory.spaces import SpaceItem

OWNER = Actor("owner", "cli")
app = typer.Typer(
    name="space",
    cls=options.GuardedGroup,
    help="Memory spaces: each is a store of its own, and a token opens the ones it names.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
Name = Annotated[str, typer.Argument(help="The space's name.", show_default=False)]


@app.command("list")
def list_spaces(json: options.Json = False, config: options.Config = None) -> None:
    """The spaces there are."""
    items = options.load(config).spaces_registry.items()
    if json:
        render.as_json([item.as_json() for item in items])
        return
    rows = [(item.space, "" if item.enabled else "disabled", item.title, (item.created or "")[:10]) for item in items]
    render.table(["space", "", "title", "created"], rows)


@app.command("create")
def create(
    name: Name,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What it is for.")] = "",
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Make a space. A running server serves it from the next request on."""
    item = options.load(config).spaces_registry.create(name, title=title, actor=OWNER, now=_now())
    _show(item, "Created", json=json)


@app.command("disable")
def disable(name: Name, json: options.Json = False, config: options.Config = None) -> None:
    """Serve a space no more. What it holds stays."""
    _enable(name, False, "Disabled", json=json, config=config)


@app.command("enable")
def enable(name: Name, json: options.Json = False, config: options.Config = None) -> None:
    """Serve a space again."""
    _enable(name, True, "Enabled", json=json, config=config)


def _enable(name: str, enabled: bool, said: str, *, json: bool, config: str | None) -> None:
    item = options.load(config).spaces_registry.enable(name, enabled, actor=OWNER, now=_now())
    _show(item, said, json=json)


def _show(item: SpaceItem, said: str, *, json: bool) -> None:
    if json:
        render.as_json(item.as_json())
    else:
        render.line(f"{said} {item.space}.")


def _now() -> int:
    return time.time_ns() // 1_000_000
