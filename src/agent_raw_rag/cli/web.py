"""``raw-rag web``: the page in a browser, by a link that works once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from agent_raw_rag.cli import memory_serve, options, render
from agent_raw_rag.errors import ConfigError, ServiceError
from agent_raw_rag.models import Actor

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime

OWNER = Actor("owner", "cli")
LOOK_SECONDS = 3.0
BROWSER_SECONDS = 30.0
"""A browser has to use a link, before a command ends that serves nothing."""


class _Link(NamedTuple):
    address: str
    waits: Callable[[], bool]
    """Whether it may be used still."""


def web(
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65535, help="Default: http.port, 8432; 0: any.")
    ] = None,
    lasting: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long the page may be used, such as 30m, 12h or 7d.")
    ] = "12h",
    opening: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open the link in the browser. Default: if this is a terminal."),
    ] = None,
    config: options.Config = None,
) -> None:  # fmt: skip
    """Open the page: print a link to it that works once, within ten minutes, on this machine.

    Where this home is served already, on this port or, if none is given, on another, the link leads there, and the command ends.
    Else it serves until Ctrl+C; no token is needed beforehand.
    """
    from agent_raw_rag.memory.token_terms import lifetime
    from agent_raw_rag.server.http.serving import address
    from agent_raw_rag.store.tokens import CODE_MS

    runtime, milliseconds = options.load(config), lifetime(lasting)
    host, number = runtime.settings.http.host, runtime.settings.http.port if port is None else port
    _check_own(host)
    wants = opening if opening is not None else sys.stdout.isatty()
    served = _served(runtime, number, only=port is not None)
    if served is not None:
        _check_answers(host, served)
        link = _show(runtime, address(host, served), milliseconds)
        if wants:
            _open(link, BROWSER_SECONDS, threading.Event())
        return
    ending = threading.Event()

    def show(url: str) -> None:
        link = _show(runtime, url, milliseconds)
        if wants:
            threading.Thread(target=_open, args=(link, CODE_MS / 1000, ending), name="browser", daemon=True).start()

    try:
        memory_serve.serve_plain(runtime, host, number, memory_serve.legacy_tokens_of(runtime), then=show)
    finally:
        _end(ending)


def _end(ending: threading.Event) -> None:
    """Have the file go that the browser was given, if it is still there."""
    ending.set()
    for thread in threading.enumerate():
        if thread.name == "browser":
            thread.join(LOOK_SECONDS)


def _check_own(host: str) -> None:
    """Raises ConfigError: the page would be reached from elsewhere, and the link's code go over the network in clear text."""
    from agent_raw_rag.server.http.names import is_loopback

    if not is_loopback(host):
        raise ConfigError(
            f"http.host is {host}, and a link works on this machine only.",
            hint="Behind a proxy with TLS open its address, and paste a token of `raw-rag token create`.",
        )


def _served(runtime: Runtime, port: int, *, only: bool) -> int | None:
    """The port on which some process serves this home: this one, unless ``only`` another will do; None: there is none."""
    from agent_raw_rag.store import lock

    others = [] if only else lock.served(runtime.home)
    held = (name for name in (lock.http(port), *others) if lock.is_held(runtime.home, name))
    return next((int(name.partition("-")[2]) for name in held), None)


def _check_answers(host: str, port: int) -> None:
    """Raises ServiceError: whoever serves this home there does not answer, or has no page."""
    import http.client
    import json

    connection = http.client.HTTPConnection(host.strip("[]"), port, timeout=LOOK_SECONDS)
    try:
        connection.request("GET", "/health")
        fine = json.loads(connection.getresponse().read(10_000))["status"] == "ok"
        connection.request("HEAD", "/")
        fine = fine and connection.getresponse().status == 200
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        fine = False
    finally:
        connection.close()
    if not fine:
        raise ServiceError(
            f"This home is served on {host}:{port}, but no page is there.",
            hint="Start that server again, or give --port.",
        )


def _show(runtime: Runtime, url: str, lasting: int) -> _Link:
    """Print a link. It is told to nobody else: not to the log, and to a server only as a header."""
    code = runtime.logins.code(lasting, actor=OWNER, now=_now()).secret
    link = f"{url}/#login={code}"
    render.raw(link)
    sys.stdout.flush()
    render.aside("The link works once, within ten minutes. `raw-rag web` makes another.")
    return _Link(link, lambda: runtime.logins.waits(code, now=_now()))


def _open(link: _Link, seconds: float, ending: threading.Event) -> None:
    from agent_raw_rag.cli.web_opening import open_link

    if not open_link(link.address, link.waits, seconds, ending):
        render.aside("No browser could be opened: open the link yourself.")


def _now() -> int:
    return time.time_ns() // 1_000_000
