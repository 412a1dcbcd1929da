"""Where ``raw-rag`` starts: a hook goes its own way, before anything else is imported."""

from __future__ import annotations

import sys

EDITING = {"-h", "--help", "install", "uninstall"}
"""What of ``raw-rag hook`` no agent runs."""


def main() -> None:
    """Entry point of ``raw-rag``. A hook has 300 ms in all, more than the imports of the other commands leave."""
    if sys.argv[1:2] == ["hook"] and not EDITING.intersection(sys.argv[2:]):
        from agent_raw_rag.connect import hook

        hook.main(sys.argv[2:])
        return
    from agent_raw_rag.cli import app

    app.main()
