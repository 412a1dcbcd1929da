"""The paths that are served, and what each asks of a visitor. What is not in the table asks for a token, and is not there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Door:
    """One path. A slash at its end makes no difference."""

    path: str
    methods: tuple[str, ...]
    needs_token: bool = True
    needs_space: bool = True
    scope: str | None = None
    """Of the token; None: each tool behind it has its own."""
    takes_json: bool = False


MCP_PATH = "/mcp/memory"
HEALTH_PATH = "/health"
DOORS = (
    Door(HEALTH_PATH, ("GET", "HEAD"), needs_token=False, needs_space=False),
    # In stateless mode there is nothing to GET (a stream that never says anything) and nothing to DELETE (no session).
    Door(MCP_PATH, ("POST",), takes_json=True),
)
NOWHERE = Door("-", (), needs_space=False)


def door_at(path: str, doors: tuple[Door, ...] = DOORS) -> Door:
    """The door of a path; ``NOWHERE``: there is none."""
    plain = path[:-1] if path.endswith("/") else path
    return next((door for door in doors if door.path == plain), NOWHERE)
