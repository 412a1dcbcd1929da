"""What a user may switch. Plain values: ``config`` reads them, this package only obeys."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How turns are cleaned."""

    redact: bool = True
    """Mask secrets."""
    error_tail_lines: int = 15
    """Lines kept of a failed command's output."""
    own_names: tuple[str, ...] = ("raw-rag", "rawrag", "recall-memory")
    """A tool whose name holds one of these is ours: its calls are not stored again. ``-`` and ``_`` are one."""
    own_servers: tuple[str, ...] = ("memory",)
    """MCP servers that are ours: ``memory`` stands for ``mcp__memory__x``, ``mcp__memory_x``, ``memory_x``."""
