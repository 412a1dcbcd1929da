"""The last lines of a failed command's output."""

from __future__ import annotations

from collections.abc import Callable

from agent_raw_rag.sanitize.scrub import last_state

PREFIX = "  | "
MAX_LINE = 400
_WINDOW = 400
_WINDOW_LINE = 4_000
"""Lines, and characters of a line, that are masked before the tail is cut: a secret may begin above it."""


def error_tail(output: str, lines: int, mask: Callable[[str], str]) -> list[str]:
    """At most so many lines, the last that are not empty: colours, overwritten progress, binary and secrets gone."""
    if lines <= 0:
        return []
    window = [last_state(_cut(line, _WINDOW_LINE)) for line in output.rstrip().split("\n")[-_WINDOW - lines :]]
    shown = [line.rstrip() for line in mask("\n".join(window)).split("\n")]
    kept = [line for line in shown if line.strip()][-lines:]
    return [PREFIX + (line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…") for line in kept]


def _cut(line: str, most: int) -> str:
    """A long line's end counts where it was overwritten, its beginning otherwise."""
    return line.rstrip("\r").rpartition("\r")[2][:most] if len(line) > most else line
