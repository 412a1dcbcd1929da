"""The server as the system's service: in the plain daemon's place, since one process does both."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_raw_rag.cli import daemon, render

if TYPE_CHECKING:
    from agent_raw_rag.runtime import Runtime


def install(runtime: Runtime, words: Sequence[str], config: str | None, *, only_print: bool) -> None:
    """Hand the server to the system, or show what would be. Doing it again changes nothing."""
    from agent_raw_rag.memory.legacy import legacy_tokens
    from agent_raw_rag.service.job import SERVER, installed_program, serve_job

    program = installed_program(sys.argv, sys.executable, os.environ, SERVER)
    daemon.warn_of_cache(program)
    job = serve_job(program, words, config, os.environ, daemon.moving_variables(), daemon.key_variables(runtime))
    if not daemon.hand_over(job, only_print=only_print):
        return
    daemon.tell_of_keys(runtime)
    for variable in legacy_tokens(runtime.environment):
        render.aside(f"{variable} is not handed on, as it is a secret: make a token with `raw-rag token create`.")


def uninstall() -> None:
    """Take the server back from the system."""
    daemon.uninstall()
