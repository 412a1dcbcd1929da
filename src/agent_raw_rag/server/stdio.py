"""``agent-raw-rag-mcp``: the MCP server on stdin and stdout. Nothing but JSON-RPC is ever written to stdout."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from agent_raw_rag import __version__
from agent_raw_rag.errors import RawRagError

LEAVE_WITHIN_SECONDS = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stdin ends. Returns the exit status."""
    options = _options(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)  # before the slow imports; the SDK alone would wait for the next line of stdin
    from agent_raw_rag.log import set_up

    os.umask(0o077)  # whatever is made from here on is the user's alone, files of libraries included
    set_up()
    try:
        return _serve(options)
    except RawRagError as error:
        print(f"agent-raw-rag-mcp: {error}", file=sys.stderr)  # noqa: T201 - to a person, on stderr
        return error.exit_status


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="agent-raw-rag-mcp",
        description="MCP server (stdio): the exact past conversations of your coding agents.",
        allow_abbrev=False,
    )
    parser.add_argument("--config", metavar="PATH", help="the configuration file, instead of the default one")
    parser.add_argument(
        "--no-catch-up", action="store_true", help="do not read new logs in the background after the start"
    )
    parser.add_argument(
        "--space", metavar="NAME", help="whose memory the memory tools work in; default $RAW_RAG_SPACE, else default"
    )
    parser.add_argument(
        "--curation", action="store_true", help="offer the tools that propose, promote and reject notes, too"
    )
    parser.add_argument("-V", "--version", action="version", version=f"agent-raw-rag-mcp {__version__}")
    return parser.parse_args(arguments)


def _serve(options: argparse.Namespace) -> int:
    from agent_raw_rag.config import SPACE_VARIABLE
    from agent_raw_rag.runtime import Runtime
    from agent_raw_rag.server.app import build
    from agent_raw_rag.server.catch_up import CatchUp
    from agent_raw_rag.store.homes import DEFAULT_SPACE, checked_slug

    runtime = Runtime.load(options.config)
    catch_up = None if options.no_catch_up else CatchUp(lambda: runtime)
    space = checked_slug(options.space or os.environ.get(SPACE_VARIABLE, "").strip() or DEFAULT_SPACE)
    settings = runtime.settings
    build(
        lambda: runtime, catch_up=catch_up, space=space, rules=settings.memory.rules_enabled,
        curation=options.curation or settings.mcp.curation, chat=settings.llm.is_set_up,
    ).run("stdio")  # fmt: skip
    if catch_up is not None and not catch_up.stop(LEAVE_WITHIN_SECONDS):
        sys.stdout.flush()
        os._exit(0)  # it is inside a model or an index: all that is committed is safe, and nobody waits for the rest
    return 0


def _leave(number: int, frame: object) -> NoReturn:
    """End at once: whatever is committed is safe, and the rest is read next time."""
    os._exit(128 + number)
