"""Where Codex keeps its servers, hooks and instructions."""

from __future__ import annotations

from agent_raw_rag.adapters.wiring import Entry, Environment, Event, Files, Hooks, Syntax, Wiring, beside, moved


def _folder(environment: Environment, home: str) -> str:
    return moved(environment, "CODEX_HOME", home, ".codex")


WIRING = Wiring(
    name="codex",
    title="Codex CLI",
    program="codex",
    folder=_folder,
    files=Files(beside(_folder, "config.toml"), (".codex/config.toml",)),
    syntax=Syntax.TOML,
    entries=(Entry(("mcp_servers",)),),
    hooks=Hooks(
        Files(beside(_folder, "hooks.json"), (".codex/hooks.json",)),
        Syntax.JSON,
        (Event("SessionStart", "session-start", "compact|resume|startup"), Event("PreCompact", "pre-compact")),
        note="Codex runs new hooks only after you have trusted them once.",
    ),
    instructions=Files(beside(_folder, "AGENTS.md"), ("AGENTS.md",)),
    note="Codex reads a project's configuration only where the project is trusted.",
)
