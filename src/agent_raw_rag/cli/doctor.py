"""``raw-rag doctor``: is all well, and if not, what to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.cli.checks import LEVELS, examine


def doctor(json: options.Json = False, config: options.Config = None) -> None:
    """Check that all is well, and say what to do if not.

    Looks at the store, its indexes, the agents' logs and the models. Exit status 1 if anything is broken.
    """
    findings = examine(options.load(config))
    if json:
        render.as_json([asdict(one) for one in findings])
    else:
        for one in findings:
            render.finding(one.level, f"{one.check}: {one.text}", one.remedy)
        levels = Counter(one.level for one in findings)
        render.line(", ".join(f"{levels[level]} {level}" for level in LEVELS if levels[level]), "dim")
    if any(one.level == "error" for one in findings):
        raise typer.Exit(1)
