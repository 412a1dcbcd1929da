"""A run's figures with all that is needed to judge and repeat them: as one object, and as files in a folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_raw_rag import __version__
from agent_raw_rag.config import Settings
from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.errors import UsageError
from agent_raw_rag.evals.curves import drawable, svg
from agent_raw_rag.evals.dataset import Dataset
from agent_raw_rag.evals.machine import machine
from agent_raw_rag.evals.tables import markdown, remarks, tables

Json = dict[str, Any]


def report(dataset: Dataset, figures: Json, settings: Settings, encoder: Encoder | None, how: Json) -> Json:
    """The object that ``--json`` prints. ``how``: options of the run that change what is asked."""
    conversations, turns = dataset.size
    return {
        "benchmark": dataset.name,
        "measures": "retrieval",
        **figures,
        "corpus": {
            "conversations": conversations,
            "turns": turns,
            "questions": sum(bool(question.gold) for question in dataset.questions),
            "left_out": dataset.left_out,
            "remarks": dataset.remarks,
        },
        "options": how,
        "settings": {"search": settings.search.model_dump(), "chunks": settings.chunks.model_dump()},
        "space": encoder.space.name if encoder is not None else None,
        "version": __version__,
    }


def write(folder: Path, name: str, found: Json, more: Json, command: str, *, pictures: bool) -> list[Path]:
    """Write ``name.json`` (everything), ``name.md`` (tables) and ``name-UNIT.svg``; the files written.

    Args:
        more: What only the JSON file has: ``curves``, ``ranks``.

    Raises:
        UsageError: the folder cannot be made or written.
    """
    origin = {"command": command, "date": datetime.now(UTC).date().isoformat(), "machine": machine()}
    texts = {f"{name}.json": json.dumps({**origin, **found, **more}, ensure_ascii=False, indent=1) + "\n"}
    if pictures:
        for unit in ("windows", "turns"):
            drawn = {one: curve[unit] for one, curve in more["curves"].items() if one in drawable(more["curves"])}
            texts[f"{name}-{unit}.svg"] = svg(drawn, f"{found['benchmark']}: ranked {unit}")
    texts[f"{name}.md"] = _page(name, found, origin, [file for file in texts if file.endswith(".svg")])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}.") from error
    return [folder / file for file in texts]


def _page(name: str, found: Json, origin: Json, pictures: list[str]) -> str:
    where = origin["machine"]
    packages = ", ".join(f"{package} {version}" for package, version in where["packages"].items())
    facts = [
        f"Measured {origin['date']} with `{origin['command']}`, version {found['version']}, vectors of `{found['space']}`.",
        f"{where['cores']} cores of {where['cpu']}, {where['ram_gb']} GB, {where['system']}, {where['python']}; {packages}.",
        f"Everything as it was measured: [{name}.json]({name}.json).",
    ]
    parts = [f"# {name}", "\n".join(facts), "\n".join(f"- {one}" for one in remarks(found))]
    parts += [markdown(table).rstrip() for table in tables(found)]
    parts += [f"![{picture}]({picture})" for picture in pictures]
    return "\n\n".join(parts) + "\n"
