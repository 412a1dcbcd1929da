"""``raw-rag models``: the weights of bigger models. Nothing is fetched unless this is asked to."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render
from agent_raw_rag.errors import UsageError

if TYPE_CHECKING:
    from agent_raw_rag.encode.shelf import Listed, Verified

app = typer.Typer(
    name="models",
    cls=options.GuardedGroup,
    no_args_is_help=True,
    help="Fetch, check and remove the weights of bigger models.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
Model = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A name of `raw-rag models list`, any owner/model of the hub, or a folder."),
]
Models = Annotated[
    list[str], typer.Argument(metavar="MODEL...", help="Names of `raw-rag models list`, or any owner/model of the hub.")
]


@app.command("list")
def list_models(json: options.Json = False) -> None:
    """Known models, and which of them are here.

    They lie in the Hugging Face cache: $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub.
    """
    from agent_raw_rag.encode.shelf import listed

    rows = listed()
    if json:
        render.as_json([asdict(row) for row in rows])
        return
    render.table(["model", "kind", "dimensions", "size", "state", "folder"], [_cells(row) for row in rows])


@app.command()
def pull(models: Models, json: options.Json = False) -> None:
    """Fetch weights from the Hugging Face hub.

    Goes on where an earlier pull was interrupted, checks every byte, and fetches again what is damaged.
    $HF_ENDPOINT names another hub, `hf auth login` or $HF_TOKEN opens private models.
    """
    from agent_raw_rag.encode.pull import pull as fetch

    done = []
    for model in models:
        with render.transfer(model) as on_bytes:
            done.append(fetch(model, on_bytes))
        if not json:
            render.line(
                f"{done[-1].model}: {render.size(done[-1].fetched_bytes)} fetched, all of {done[-1].folder} is sound."
            )
    if json:
        render.as_json([asdict(one) for one in done])


@app.command()
def verify(model: Model, json: options.Json = False) -> None:
    """Read all files of a model and compare checksums.

    With those that they had on the hub. Exit status 1 if a file is missing or damaged.
    """
    from agent_raw_rag.encode.shelf import verify as check

    with render.transfer(model) as on_bytes:
        result = check(model, on_bytes)
    if json:
        render.as_json({**asdict(result), "sound": result.sound})
    else:
        _say(result)
    if not result.sound:
        raise typer.Exit(1)


@app.command()
def remove(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model of the hub that is in the cache.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: options.Json = False,
) -> None:
    """Take a model out of the cache.

    Other programs that use the Hugging Face cache lose it too. Vectors that were made with it stay.
    """
    from agent_raw_rag.encode.known_models import full_name
    from agent_raw_rag.encode.shelf import remove as take

    name = full_name(model)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("Nobody can be asked here.", hint="Give --yes to remove without asking.")
        typer.confirm(f"Remove {name} from the cache?", abort=True, err=True)
    held = take(model)
    if json:
        render.as_json({"model": name, "bytes": held})
    else:
        render.line(f"Removed {name}: {render.size(held)}.")


def _cells(row: Listed) -> tuple[object, ...]:
    size = render.size(row.bytes if row.state == "present" else row.download_megabytes * 1_000_000)
    state = f"{row.state}, default" if row.default else row.state
    return row.model, row.kind, row.dim or "", size, state, render.short_path(row.folder) if row.folder else ""


def _say(result: Verified) -> None:
    for one in result.files:
        level = {"ok": "ok", "unrecorded": "ok"}.get(one.verdict, "error")
        note = "no checksum is known" if one.verdict == "unrecorded" else one.verdict
        render.finding(level, f"{one.file}: {note}, {render.size(one.bytes)}", "")
    if result.problem:
        render.finding("error", result.problem, "")
    elif not result.sound:
        render.line(f"  → `raw-rag models pull {result.model}` fetches the damaged files again.", "dim")
