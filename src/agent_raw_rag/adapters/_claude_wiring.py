"""Where Claude Code keeps its servers, hooks and instructions. With ``CLAUDE_CONFIG_DIR`` set, all of it lies in there."""

from __future__ import annotations

from agent_raw_rag.adapters.wiring import Entry, Environment, Event, Files, Hooks, Syntax, Wiring, beside, moved


def _folder(environment: Environment, home: str) -> str:
    return moved(environment, "CLAUDE_CONFIG_DIR", home, ".claude")


def _servers(environment: Environment, home: str) -> tuple[str, ...]:
    inside = environment.get("CLAUDE_CONFIG_DIR")
    return (f"{_folder(environment, home) if inside else home}/.claude.json",)


WIRING = Wiring(
    name="claude",
    title="Claude Code",
    program="claude",
    folder=_folder,
    files=Files(_servers, (".mcp.json",)),
    syntax=Syntax.JSON,
    entries=(Entry(("mcpServers",), head={"type": "stdio"}),),
    hooks=Hooks(
        Files(beside(_folder, "settings.json"), (".claude/settings.json",)),
        Syntax.JSON,
        (
            Event("SessionStart", "session-start", "compact|resume|startup"),
            Event("PreCompact", "pre-compact"),
            Event("Stop", "stop"),
        ),
    ),
    instructions=Files(beside(_folder, "CLAUDE.md"), ("CLAUDE.md",)),
    note="Claude Code asks before it trusts a project's servers.",
)
