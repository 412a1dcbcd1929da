"""What several tests need: an agent's folder read through discovery-free product code, and turns as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_raw_rag.adapters.base import Adapter, Root
from agent_raw_rag.ingest.reading import Batch, read_batches, start_cursor
from agent_raw_rag.models import Action, BadRecord, Record, Source, Text, Thinking, Turn
from agent_raw_rag.sources.lines import read_lines


def sources_in(adapter: Adapter, root: Root) -> list[Source]:
    """Every source the adapter recognises in one of its roots, in reading order."""
    found = []
    for pattern in root.patterns:
        for path in sorted(Path(root.path).glob(pattern)):
            source = adapter.classify(root, path.relative_to(root.path).as_posix())
            if source is not None and path.is_file() and source not in found:
                found.append(source)
    return sorted(found, key=lambda source: (source.order, source.path))


def line_batches(adapter: Adapter, source: Source) -> Iterator[Batch]:
    return read_batches(adapter, read_lines(source.path), start_cursor(adapter, source))


def turns_of(batches: Iterator[Batch] | list[Batch]) -> list[Turn]:
    """The turns of all batches, the last version of each, in order of first appearance."""
    turns: dict[tuple[str, str], Turn] = {}
    for batch in batches:
        for turn in batch.turns:
            turns[(turn.session, turn.key)] = turn
    return list(turns.values())


def plain(turn: Turn) -> dict[str, Any]:
    """A turn as JSON-like values, for goldens."""
    items: list[Any] = []
    for item in turn.items:
        if isinstance(item, Text):
            items.append({"text": item.text})
        elif isinstance(item, Thinking):
            items.append({"thinking": item.text})
        elif isinstance(item, Action):
            result = item.result
            items.append(
                {
                    "tool": item.call.name,
                    "args": item.call.args if isinstance(item.call.args, str) else dict(item.call.args),
                    "outcome": result.outcome.value if result else None,
                    "exit": result.exit_code if result else None,
                    "output": result.output if result else None,
                }
            )
        else:
            items.append({"image": item.label})
    return {"session": turn.session, "role": turn.role.value, "key": turn.key, "time": turn.time, "items": items}


__all__ = ["BadRecord", "Record", "line_batches", "plain", "sources_in", "turns_of"]
