"""Where OpenCode keeps its servers and instructions. 2.x still reads the form of 1.x."""

from __future__ import annotations

from agent_raw_rag.adapters.wiring import Entry, Environment, Files, Syntax, Wiring, beside


def _folder(environment: Environment, home: str) -> str:
    named = environment.get("OPENCODE_CONFIG_DIR", "").rstrip("/")
    return named or f"{environment.get('XDG_CONFIG_HOME') or f'{home}/.config'}/opencode"


_LOCAL = {"type": "local"}

WIRING = Wiring(
    name="opencode",
    title="OpenCode",
    program="opencode",
    folder=_folder,
    files=Files(beside(_folder, "opencode.jsonc", "opencode.json"), ("opencode.jsonc", "opencode.json")),
    syntax=Syntax.JSONC,
    entries=(
        Entry(("mcp", "servers"), head=_LOCAL, one_list=True, environment="environment"),
        Entry(("mcp",), head=_LOCAL, tail={"enabled": True}, one_list=True, environment="environment"),
    ),
    instructions=Files(beside(_folder, "AGENTS.md"), ("AGENTS.md",)),
)
