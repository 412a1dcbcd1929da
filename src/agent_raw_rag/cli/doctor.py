"""``raw-rag doctor``: is all well, and if not, what to do."""

from __future__ import annotations

import time
from collections import Counter
from typing import Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.cli.checks import LEVELS, Finding, Subject, examine, mended
from agent_raw_rag.errors import ConfigError
from agent_raw_rag.runtime import Runtime


def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Put right what can be put right safely, then look again.")
    ] = False,
    json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Check that all is well, and say what to do if not.

    Looks at the store and what is derived from it, the agents' logs and configuration, the models, the daemon, this machine.
    --fix closes our files to others, makes derived files anew, removes what a dead daemon left, and reads logs that their
    agent is about to delete. It deletes no text and writes to no agent's file. Exit status 1 if anything is broken.
    """
    try:
        runtime = options.load(config)
    except ConfigError as error:
        remedy = f"{error.hint} Correct it, and run `raw-rag doctor` again.".lstrip()
        _say([Finding("error", "configuration", error.message, remedy)], json=json)
        raise typer.Exit(1) from None
    findings = _examined(runtime, config)
    fixed = [_mended(one, json=json) for one in findings if one.mend is not None] if fix else []
    if fixed:
        findings = _examined(options.load(config), config)
    _say([*fixed, *findings] if json else findings, json=json)
    if any(one.level == "error" for one in (*fixed, *findings)):
        raise typer.Exit(1)


def _examined(runtime: Runtime, config: str | None) -> list[Finding]:
    return examine(Subject(runtime, config, time.time()))


def _mended(finding: Finding, *, json: bool) -> Finding:
    """Mend, saying before what is wrong and after what was done."""
    if not json:
        render.line(f"mending {finding.check}: {finding.text}")
    done = mended(finding)
    if not json:
        render.line(f"  {done.fixed or done.text}", "dim")
    return done


def _say(findings: list[Finding], *, json: bool) -> None:
    if json:
        render.as_json([one.as_json() for one in findings])
        return
    for one in findings:
        mends = " (raw-rag doctor --fix mends this)" if one.mend is not None else ""
        render.finding(one.level, f"{one.check}: {one.text}{mends}", one.remedy)
    levels = Counter(one.level for one in findings)
    render.line(", ".join(f"{levels[level]} {level}" for level in LEVELS if levels[level]), "dim")
