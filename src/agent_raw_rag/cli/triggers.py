"""``raw-rag triggers``: which sentences are worth a note, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent_raw_rag.cli import options, render

if TYPE_CHECKING:
    from agent_raw_rag.memory.triggers import Triggers

app = typer.Typer(
    name="triggers", cls=options.GuardedGroup, no_args_is_help=True,
    help="The rules that find sentences worth a note. Your own stand in triggers.toml in the home folder.",
)  # fmt: skip


@app.command("test")
def test(
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", show_default=False, help="What somebody says.")],
    json: options.Json = False, config: options.Config = None,
) -> None:  # fmt: skip
    """What the rules find in a text. Nothing is written."""
    hits = _triggers(config).hits(" ".join(text))
    if json:
        found = [
            {"kind": hit.rule.kind, "rule": hit.rule.name, "explicit": hit.rule.explicit, "statement": hit.text}
            for hit in hits
        ]
        render.as_json({"hits": found, "count": len(found)})
        return
    for hit in hits:
        how = "explicit" if hit.rule.explicit else "implied"
        render.line(f"{hit.rule.kind} · rule {hit.rule.name} · {how}: {hit.text}")
    if not hits:
        render.line("No match.")


@app.command("list")
def list_rules(json: options.Json = False, config: options.Config = None) -> None:
    """The rules in force, in the order they are tried."""
    rules = _triggers(config).rules
    if json:
        render.as_json(
            [
                {
                    "name": rule.name, "kind": rule.kind, "explicit": rule.explicit, "own": rule.own,
                    "pattern": rule.pattern.pattern, "unless": rule.unless.pattern if rule.unless else None,
                    "examples": list(rule.examples), "counter_examples": list(rule.counter_examples),
                }
                for rule in rules
            ]
        )  # fmt: skip
        return
    rows = [
        (
            rule.name,
            rule.kind,
            "explicit" if rule.explicit else "implied",
            "yours" if rule.own else "",
            next(iter(rule.examples), ""),
        )
        for rule in rules
    ]
    render.table(["rule", "kind", "said", "", "example"], rows)


def _triggers(config: str | None) -> Triggers:
    from agent_raw_rag.memory.triggers import Triggers

    return Triggers.load(options.load(config).settings.home)
