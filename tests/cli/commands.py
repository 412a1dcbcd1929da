"""Commands run in this process, in an environment of their own."""

from __future__ import annotations

import json
from typing import Any

from typer import Typer
from typer.testing import CliRunner, Result

from agent_raw_rag.adapters.registry import adapters
from agent_raw_rag.cli import ingest
from agent_raw_rag.cli.app import app

Environment = dict[str, str]
MOVING = [name for row in adapters().values() for name in row.environment]
"""Variables of the machine that would lead to logs outside the test's home."""


def run(environment: Environment, *arguments: str, program: Typer = app, typed: str | None = None) -> Result:
    """A ``raw-rag`` command."""
    unset = dict.fromkeys([*MOVING, "RAW_RAG_CONFIG", "RAW_RAG_DB_PATH", "RAW_RAG_LOG"])
    result = CliRunner(env={**unset, **environment}).invoke(program, list(arguments), input=typed, prog_name="raw-rag")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def run_ingest(environment: Environment, *arguments: str) -> Result:
    """``raw-rag-ingest``."""
    return run(environment, *arguments, program=ingest.app)


def given(environment: Environment, *arguments: str) -> Any:
    """The one JSON value that a command prints."""
    result = run(environment, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
