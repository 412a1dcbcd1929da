"""``raw-rag token``: the tokens that open spaces over HTTP. A secret is printed once, by the command that made it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.models import Actor

if TYPE_CHECKING:
    from agent_raw_rag.memory.tokens import NewToken, TokenItem
    from agent_raw_rag.runtime import Runtime

OWNER = Actor("owner", "cli")
app = typer.Typer(
    name="token",
    cls=options.GuardedGroup,
    help="Tokens: who may use which space over HTTP.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
Name = Annotated[str, typer.Argument(help="Its label, or its prefix.", show_default=False)]


@app.command("create")
def create(
    label: Annotated[str, typer.Option("--label", "-l", metavar="NAME", help="What it is called in lists and in the journal.")],
    space: Annotated[
        list[str] | None,
        typer.Option("--space", metavar="NAME", help="A space that it opens; may be repeated; '*': all. Default: default."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="NAMES",
                     help="What it allows: read, write, curate, proxy, chat, admin. Default: read."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="How long it lives: 90d, 12h, 30m. Default: for good.")
    ] = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:  # fmt: skip
    """Make a token and print its secret, this once: only a hash of it is kept."""
    from agent_raw_rag.memory.token_terms import lifetime
    from agent_raw_rag.store.homes import DEFAULT_SPACE

    runtime = options.load(config)
    _must_be_there(runtime, space or [])
    made = runtime.tokens.create(
        label, spaces=space or [DEFAULT_SPACE], scopes=scope or ["read"],
        expires_in=lifetime(expires) if expires is not None else None, actor=OWNER, now=_now(),
    )  # fmt: skip
    _show_secret(made, json=json)


def _must_be_there(runtime: Runtime, slugs: list[str]) -> None:
    """Raises NotFoundError: a space is not there. BadArgumentError: none can have this name."""
    from agent_raw_rag.memory.spaces import no_space
    from agent_raw_rag.store.homes import checked_slug

    known = {"*", *(item.space for item in runtime.spaces_registry.items())}
    for slug in slugs:
        if slug not in known:
            raise no_space(checked_slug(slug))


@app.command("list")
def list_tokens(json: options.Json = False, config: options.Config = None) -> None:
    """All tokens there ever were. Neither secrets nor hashes are shown."""
    items = options.load(config).tokens.items(_now())
    if json:
        render.as_json([item.as_json() for item in items])
        return
    if not items:
        render.aside("There are no tokens yet: `raw-rag token create --label NAME` makes one.")
        return
    head = ["label", "prefix", "scopes", "spaces", "created", "expires", "last used", "revoked"]
    render.table(head, [_row(item) for item in items])


@app.command("revoke")
def revoke(name: Name, json: options.Json = False, config: options.Config = None) -> None:
    """End a token. A running server takes it no more from the next request on."""
    ended = options.load(config).tokens.revoke(name, actor=OWNER, now=_now())
    if json:
        render.as_json([item.as_json() for item in ended])
        return
    for item in ended:
        render.line(f"Revoked {item.label} ({item.prefix}…).")


@app.command("rotate")
def rotate(
    name: Name,
    grace: Annotated[
        str | None,
        typer.Option(
            "--grace", metavar="TIME", help="How long the old secret stays good, such as 1h. Default: not at all."
        ),
    ] = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Give a token a new secret and print it, this once. The old one ends."""
    from agent_raw_rag.memory.token_terms import lifetime

    left = 0 if grace is None else lifetime(grace)
    made = options.load(config).tokens.rotate(name, grace=left, actor=OWNER, now=_now())
    _show_secret(made, json=json)


def _show_secret(made: NewToken, *, json: bool) -> None:
    if json:
        render.as_json(made.as_json())
        return
    render.raw(made.secret)
    item = made.token
    until = f" until {item.expires}" if item.expires else ""
    render.aside(f"{item.label}: {', '.join(item.scopes)} in {', '.join(item.spaces)}{until}. It is not shown again.")


def _row(item: TokenItem) -> tuple[str, ...]:
    return (
        item.label, item.prefix, ",".join(item.scopes), ",".join(item.spaces), _day(item.created), _day(item.expires),
        _day(item.last_used), _day(item.revoked),
    )  # fmt: skip


def _day(stamp: str | None) -> str:
    return "" if stamp is None else stamp[:16].replace("T", " ")


def _now() -> int:
    return time.time_ns() // 1_000_000
