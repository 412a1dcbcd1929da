"""Where Antigravity's programs keep their servers and instructions: one file for the CLI, the IDE and the hub."""

from __future__ import annotations

from agent_raw_rag.adapters.wiring import Entry, Environment, Files, Syntax, Wiring, beside


def _folder(environment: Environment, home: str) -> str:
    return f"{home}/.gemini"


WIRING = Wiring(
    name="antigravity",
    title="Antigravity",
    program="agy",
    folder=_folder,
    files=Files(
        beside(_folder, "config/mcp_config.json"),
        (".agent/mcp_config.json", "_agents/mcp_config.json", "_agent/mcp_config.json", ".agents/mcp_config.json"),
    ),
    syntax=Syntax.JSON,
    entries=(Entry(("mcpServers",)),),
    instructions=Files(beside(_folder, "GEMINI.md"), ("AGENTS.md",)),
)
