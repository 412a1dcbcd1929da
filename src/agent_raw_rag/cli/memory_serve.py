"""``raw-rag serve``: the memory over HTTP, from here or as the system's service; with ``--watch`` the daemon in one process."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag import __version__
from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import ConfigError, UsageError
from agent_raw_rag.runtime.signals import obeyed

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.server.http.serving import HttpServing

SCAN_SECONDS = 60.0
SERVICE = "As a service"
LEAVE_WITHIN_SECONDS = 2.0


def serve(
    host: Annotated[str | None, typer.Option("--host", metavar="ADDRESS", help="Default: http.host, 127.0.0.1.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65535, help="Default: http.port, 8432; 0: any.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Listen on an address that others reach. Needs http.allowed_hosts.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Read the agents' logs as they grow, too: the daemon in the same process.")
    ] = False,
    service: Annotated[
        bool, typer.Option("--service", rich_help_panel=SERVICE,
                           help="Have the system run this with --watch, in the daemon's place, now and at each login.")
    ] = False,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="Stop and remove that service.", rich_help_panel=SERVICE)
    ] = False,
    print_: Annotated[
        bool, typer.Option("--print", help="With --service: show its description and install nothing.",
                           rich_help_panel=SERVICE)
    ] = False,
    config: options.Config = None,
) -> None:  # fmt: skip
    """Serve the memory over HTTP: MCP at /mcp/memory, /health. Every request needs a token, from this machine too.

    Exit status: 0 after SIGTERM or Ctrl+C; 1 if the port is taken; 2 without any token, or for an address that is not safe.
    """
    from agent_raw_rag.cli import memory_service

    if print_ and not service:
        raise UsageError("--print shows what --service would install.", hint="Give both.")
    if uninstall and (service or watch):
        raise UsageError("--uninstall stands alone.")
    if uninstall:
        memory_service.uninstall()
        return
    runtime = options.load(config)
    at, number = host or runtime.settings.http.host, runtime.settings.http.port if port is None else port
    _check_address(runtime, at, allow_remote)
    if service:
        if not print_:
            _must_have_token(runtime)
        words = _words(host, port, allow_remote=allow_remote)
        memory_service.install(runtime, words, config, only_print=print_)
        return
    legacy = legacy_tokens_of(runtime)
    if not legacy:
        _must_have_token(runtime)
    if watch:
        _watch(runtime, at, number, legacy, config)
    else:
        serve_plain(runtime, at, number, legacy)


def _check_address(runtime: Runtime, host: str, allow_remote: bool) -> None:
    """Raises ConfigError: others would reach it, and nobody said that they may, or under which name."""
    from agent_raw_rag.server.http.names import is_loopback

    if is_loopback(host):
        return
    if not allow_remote:
        raise ConfigError(
            f"{host} can be reached from other machines.", hint="Give --allow-remote if they may, or leave --host out."
        )
    if not runtime.settings.http.allowed_hosts:
        raise ConfigError(
            "--allow-remote needs the names under which this server is reached.",
            hint='Set [http] allowed_hosts = ["mem.example.org"] in the configuration.',
        )


def legacy_tokens_of(runtime: Runtime) -> tuple[str, ...]:
    """Tokens that the environment gives."""
    from agent_raw_rag.memory.legacy import legacy_tokens

    given = legacy_tokens(runtime.environment)
    for name in given:
        render.aside(f"Warning: the token in {name} opens every space to read and write. Labelled tokens are better.")
    return tuple(given.values())


def _must_have_token(runtime: Runtime) -> None:
    """Raises ConfigError: there is no live one in the store."""
    if not runtime.tokens.any_live(_now()):
        raise ConfigError(
            "There is no token, so nobody could use the server, and it is not started.",
            hint="Make one: `raw-rag token create --label laptop --scope read,write`.",
        )


def serve_plain(
    runtime: Runtime, host: str, port: int, legacy: tuple[str, ...], *, then: Callable[[str], None] = lambda url: None
) -> None:
    """Serve until the process is told to end. ``then`` is called with the address when it answers.

    Raises:
        StoreBusyError, ServiceError: as ``HttpServing.start``.
    """
    from agent_raw_rag.log import NAME, keep_in

    ending: SimpleQueue[bool] = SimpleQueue()
    log = keep_in(os.path.join(runtime.home, "log"), "serve.log")
    with (
        log,
        obeyed(lambda: ending.put(True), lambda: ending.put(False)),
        _serving(runtime, host, port, legacy) as serving,
    ):
        serving.on_end = lambda: ending.put(True)
        then(serving.url)
        while not ending.get():
            logging.getLogger(NAME).info("SIGHUP: the configuration stays as it is; a restart takes the new one")


def _watch(runtime: Runtime, host: str, port: int, legacy: tuple[str, ...], config: str | None) -> None:
    from agent_raw_rag.daemon.run import watch as run

    run(lambda: options.load(config), SCAN_SECONDS, beside=lambda: _serving(runtime, host, port, legacy))


@contextmanager
def _serving(runtime: Runtime, host: str, port: int, legacy: tuple[str, ...]) -> Iterator[HttpServing]:
    from agent_raw_rag.log import NAME
    from agent_raw_rag.server.http.serving import HttpServing

    serving = HttpServing(runtime, host, port, legacy)
    url = serving.start()
    logging.getLogger(NAME).info("agent-raw-rag %s serves %s (process %d)", __version__, url, os.getpid())
    render.raw(f"Serving {url}/mcp/memory (process {os.getpid()})")
    sys.stdout.flush()
    try:
        yield serving
    finally:
        ended = serving.stop()
        logging.getLogger(NAME).info("HTTP ended")
        if not ended:
            # A thread sits in a model's code or waits for the store. What was acknowledged is committed.
            logging.shutdown()
            os._exit(0)


def _words(host: str | None, port: int | None, *, allow_remote: bool) -> list[str]:
    """The options as the service is to have them."""
    words = ["serve", "--watch"]
    words += ["--host", host] if host is not None else []
    words += ["--port", str(port)] if port is not None else []
    return [*words, "--allow-remote"] if allow_remote else words


def _now() -> int:
    return time.time_ns() // 1_000_000
