"""``raw-rag eval``: how well retrieval works, on LoCoMo, on any folder of questions, and on the user's own store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent_raw_rag.cli import options
from agent_raw_rag.cli.measuring import Measuring

WHAT, HOW = "What is asked", "How it is ranked"

app = typer.Typer(
    name="eval",
    help="Measure retrieval: which of the turns that answer a question come back. No model answers anything.",
    no_args_is_help=True,
)

Stages = Annotated[
    str,
    typer.Option("--stages", metavar="NAMES", rich_help_panel=HOW,
                 help="lexical, dense, fused (bare) and full (as configured), separated by commas."),
]  # fmt: skip
Compare = Annotated[
    bool,
    typer.Option("--compare", rich_help_panel=HOW,
                 help="All stages, each search switch turned over, other window sizes, and ways of showing an answer."),
]  # fmt: skip
Half = Annotated[
    str | None,
    typer.Option("--half", metavar="a|b", rich_help_panel=WHAT,
                 help="Every other conversation: a has the first, the third and so on, b the others."),
]  # fmt: skip
Conversation = Annotated[
    str | None,
    typer.Option(
        "--conversation", metavar="N", help="Only this conversation: its number or name.", rich_help_panel=WHAT
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, rich_help_panel=WHAT, help="At most so many questions a conversation."),
]
Spread = Annotated[
    str,
    typer.Option("--scope", metavar="conv|global", rich_help_panel=WHAT,
                 help="conv: each conversation in a store of its own; global: all in one store."),
]  # fmt: skip
Jobs = Annotated[
    int,
    typer.Option("--jobs", metavar="N", min=1, max=64, rich_help_panel=HOW,
                 help="Conversations that are measured side by side, each in a process. Times are only true with 1."),
]  # fmt: skip
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", rich_help_panel=options.OUTPUT,
                 help="Write NAME.json, NAME.md and pictures of recall over k there."),
]  # fmt: skip
Name = Annotated[
    str | None,
    typer.Option("--name", metavar="NAME", rich_help_panel=options.OUTPUT,
                 help="Of the files under --out; the benchmark's name if it is not given."),
]  # fmt: skip
Pictures = Annotated[
    bool | None,
    typer.Option("--pictures/--no-pictures", rich_help_panel=options.OUTPUT,
                 help="Draw with matplotlib, which comes with the extra `plots`. Default: if it is there."),
]  # fmt: skip
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=options.OUTPUT)]


@app.command()
def locomo(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="locomo10.json, which is not shipped.", show_default=False)],
    conversation: Conversation = None, half: Half = None, limit: Limit = None, scope: Spread = "conv",
    stages: Stages = "full", compare: Compare = False, jobs: Jobs = 1, json: options.Json = False, out: Out = None,
    name: Name = None, pictures: Pictures = None, quiet: Quiet = False, config: options.Config = None,
) -> None:  # fmt: skip
    """LoCoMo: 1,536 questions about ten long conversations.

    --json prints shares as fractions from 0 to 1 ("unit": "fraction"); tables are in percent. Category 5 is left out.
    """
    from agent_raw_rag.evals.locomo import load

    Measuring(context, config, out, name, json, pictures, quiet).over_corpus(
        load(file), stages, compare, jobs, scope, conversation=conversation, half=half, limit=limit
    )


@app.command()
def folder(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Holds corpus.jsonl and queries.jsonl.", show_default=False)],
    conversation: Conversation = None, half: Half = None, limit: Limit = None, scope: Spread = "conv",
    stages: Stages = "full", compare: Compare = False, jobs: Jobs = 1, json: options.Json = False, out: Out = None,
    name: Name = None, pictures: Pictures = None, quiet: Quiet = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Any corpus with questions whose answers are known.

    --json prints shares as fractions from 0 to 1 ("unit": "fraction"); tables are in percent.
    """
    from agent_raw_rag.evals.folder import load

    Measuring(context, config, out, name, json, pictures, quiet).over_corpus(
        load(path), stages, compare, jobs, scope, conversation=conversation, half=half, limit=limit
    )


@app.command()
def store(
    context: typer.Context,
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", min=1, max=100_000, help="At most so many.", rich_help_panel=WHAT)
    ] = 200,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Other questions.", rich_help_panel=WHAT)] = 1,
    stages: Stages = "full", compare: Compare = False, json: options.Json = False, out: Out = None, name: Name = None,
    pictures: Pictures = None, quiet: Quiet = False, config: options.Config = None,
) -> None:  # fmt: skip
    """Your own store, which is only read: turns are picked by chance and asked for in their own words.

    Such questions are easier than real ones: they compare settings. --json prints shares as fractions; tables are in percent.
    """
    from agent_raw_rag.evals.configurations import comparison
    from agent_raw_rag.evals.known import known_items
    from agent_raw_rag.evals.run import run_own

    one = Measuring(context, config, out, name, json, pictures, quiet)
    runtime = one.runtime
    dataset = known_items(runtime.reader, runtime.funnel.words.index(runtime.reader).idf, questions, seed)
    chosen = comparison(runtime.settings, recut=False) if compare else one.stages(stages)
    one.measure(
        dataset, chosen, compare, {"questions": questions, "seed": seed}, runtime.spaces.encoder(),
        lambda plan, told: run_own(runtime, dataset.questions, plan, told),
    )  # fmt: skip
