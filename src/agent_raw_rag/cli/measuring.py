"""What the commands of ``raw-rag eval`` share: which part is asked, progress, and the figures on stdout and in a folder."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import UsageError

if TYPE_CHECKING:
    from agent_raw_rag.encode.base import Encoder
    from agent_raw_rag.evals.configurations import Configuration
    from agent_raw_rag.evals.dataset import Dataset
    from agent_raw_rag.evals.run import Answers, OnProgress, Plan
    from agent_raw_rag.runtime import Runtime

LINE_EVERY_SECONDS = 5.0


class Measuring:
    """One run of a command of ``raw-rag eval``: from a dataset to what is asked for."""

    def __init__(
        self, context: typer.Context, config: str | None, out: Path | None, name: str | None, json: bool,
        pictures: bool | None, quiet: bool,
    ) -> None:  # fmt: skip
        self.out, self.name, self.json, self.quiet = out, name, json, quiet
        self.pictures = out is not None and _drawable(pictures)
        self.command = _told(context)
        if name is not None and (os.sep in name or not name.strip(".")):
            raise UsageError(f"{name!r} is no name of a file.", hint="The folder goes to --out.")
        self.runtime: Runtime = options.load(config)

    def stages(self, names: str) -> list[Configuration]:
        """The configurations that --stages means."""
        from agent_raw_rag.evals.configurations import stages

        return stages(self.runtime.settings, [name.strip() for name in names.split(",") if name.strip()] or ["full"])

    def over_corpus(
        self, dataset: Dataset, stages: str, compare: bool, jobs: int, scope: str, *, conversation: str | None,
        half: str | None, limit: int | None,
    ) -> None:  # fmt: skip
        """Measure a corpus, or the part of it that is asked for."""
        from agent_raw_rag.evals.configurations import comparison
        from agent_raw_rag.evals.run import corpus_encoder, parts, run

        _one_of("--scope", scope, "conv", "global")
        how = {"scope": scope, "conversation": conversation, "half": half, "limit": limit}
        part = _part(dataset, conversation, half, limit)
        work = parts(part, in_one_store=scope == "global")
        chosen = comparison(self.runtime.settings) if compare else self.stages(stages)
        self.measure(
            part, chosen, compare, how, corpus_encoder(self.runtime),
            lambda plan, told: run(self.runtime, work, plan, jobs=jobs, on_progress=told),
        )  # fmt: skip

    def measure(
        self, dataset: Dataset, chosen: list[Configuration], compare: bool, how: dict[str, Any],
        encoder: Encoder | None, ask: Callable[[Plan, OnProgress], Answers],
    ) -> None:  # fmt: skip
        """Ask, sum up, and give what is asked for."""
        from agent_raw_rag.evals.report import report
        from agent_raw_rag.evals.run import Plan
        from agent_raw_rag.evals.shown import manners
        from agent_raw_rag.evals.summary import summary

        plan = Plan(chosen, tuple(manners(self.runtime.settings.search)) if compare else ())
        with _progress(shown=not self.quiet) as told:
            answers = ask(plan, told)
        found = report(dataset, summary(answers, chosen), self.runtime.settings, encoder, how)
        self._give(found, answers)

    def _give(self, found: dict[str, Any], answers: Answers) -> None:
        from agent_raw_rag.evals.report import write
        from agent_raw_rag.evals.summary import curves, ranks

        if self.out is not None:
            more = {"curves": curves(answers), "ranks": ranks(answers[found["configuration"]])}
            name = self.name or found["benchmark"]
            for path in write(self.out, name, found, more, self.command, pictures=self.pictures):
                render.aside(f"Wrote {render.short_path(str(path))}")
        if self.json:
            render.as_json(found)
        else:
            show(found)


def _drawable(asked: bool | None) -> bool:
    """Whether pictures are drawn: as asked, or if they can be.

    Raises:
        UsageError: they were asked for, and cannot.
    """
    from agent_raw_rag.evals.curves import check_plots

    if asked is False:
        return False
    try:
        check_plots()
    except UsageError as error:
        if asked:
            raise
        render.aside(f"No pictures: {error}")
        return False
    return True


def show(found: dict[str, Any]) -> None:
    """A report for people."""
    from agent_raw_rag.evals.tables import remarks, tables

    for table in tables(found):
        render.line(table.title, "bold")
        render.table(table.columns, table.rows)
        render.line()
    for remark in remarks(found):
        render.line(remark, "dim")


def _part(dataset: Dataset, conversation: str | None, half: str | None, limit: int | None) -> Dataset:
    if half is not None:
        _one_of("--half", half, "a", "b")
        dataset = dataset.half(half)
    if conversation is not None:
        dataset = dataset.conversation(conversation)
    if limit is not None:
        dataset = dataset.limited(limit)
    if not any(question.gold for question in dataset.questions):
        raise UsageError("No question is left to ask.", hint="Ask for another part of the benchmark.")
    return dataset


def _one_of(name: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise UsageError(f"{name} is {value!r}.", hint=f"Give {' or '.join(allowed)}.")


def _told(context: typer.Context) -> str:
    """The command with the options that differ from their defaults, and of files only their names: no path of the machine."""
    words = ["raw-rag", "eval", str(context.info_name)]
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if value is None or value == option.default or option.name in ("json", "quiet", "out", "config"):
            continue
        shown = Path(value).name if isinstance(value, Path) else str(value)
        if option.param_type_name == "argument":
            words.append(shown)
        elif isinstance(value, bool):
            words.append(option.opts[-1] if value else option.secondary_opts[-1])
        else:
            words += [option.opts[0], shown]
    return shlex.join(words)


@contextmanager
def _progress(*, shown: bool) -> Iterator[OnProgress]:
    """On stderr: a bar on a terminal, else a line every few seconds."""
    if not shown:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("questions"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)
    else:
        yield _lines()


def _lines() -> OnProgress:
    told_at = -LINE_EVERY_SECONDS

    def told(done: int, total: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= LINE_EVERY_SECONDS:
            told_at = time.monotonic()
            render.aside(f"questions: {done:,} of {total:,}")

    return told
