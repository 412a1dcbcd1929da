"""Where omp and pi keep their servers and instructions: the same form in two folders."""

from __future__ import annotations

from functools import partial

from agent_raw_rag.adapters._script import script
from agent_raw_rag.adapters.wiring import (
    Entry,
    Environment,
    Extension,
    Files,
    Syntax,
    Wiring,
    beside,
    is_absolute,
    moved,
)


def omp_folder(environment: Environment, home: str) -> str:
    """The agent folder of omp, in a profile where one is set."""
    if environment.get("PI_CODING_AGENT_DIR"):
        return moved(environment, "PI_CODING_AGENT_DIR", home, "")
    dot = environment.get("PI_CONFIG_DIR", "").rstrip("/") or ".omp"
    base = dot if is_absolute(dot) else f"{home}/{dot}"
    profile = environment.get("OMP_PROFILE") or environment.get("PI_PROFILE")
    return f"{base}/profiles/{profile}/agent" if profile else f"{base}/agent"


def pi_folder(environment: Environment, home: str) -> str:
    """The agent folder of pi."""
    return moved(environment, "PI_CODING_AGENT_DIR", home, ".pi/agent")


_BODY = """\
// The last turns of the project come before the first prompt of a session, and before the first one after a compaction.
export default function (agent) {
  let source = "startup";
  agent.on("session_start", async () => { source = "startup"; });
  agent.on("session_before_compact", async () => { await ask("pre-compact", {}); });
  agent.on("session_compact", async () => { source = "compact"; });
  agent.on("before_agent_start", async (event, context) => {
    if (!source) return;
    const session = context?.sessionManager?.getSessionId?.();
    const payload = { source, cwd: context?.cwd || process.cwd(), session_id: session };
    source = "";
    const text = await ask("session-start", payload);
    if (text) return { message: { customType: "raw-rag", content: text, display: false } };
  });
}
"""
_TEXT = partial(script, "omp", _BODY)

OMP = Wiring(
    name="omp",
    title="Oh My Pi",
    program="omp",
    folder=omp_folder,
    files=Files(beside(omp_folder, ".mcp.json", "mcp.json"), (".omp/mcp.json",)),
    syntax=Syntax.JSON,
    entries=(Entry(("mcpServers",), head={"type": "stdio"}),),
    extension=Extension(Files(beside(omp_folder, "extensions/raw-rag.ts"), (".omp/extensions/raw-rag.ts",)), _TEXT),
    instructions=Files(beside(omp_folder, "AGENTS.md"), ("AGENTS.md",)),
)
PI = Wiring(
    name="pi",
    title="pi",
    program="pi",
    folder=pi_folder,
    files=Files(beside(pi_folder, "mcp.json"), (".pi/mcp.json",)),
    syntax=Syntax.JSON,
    entries=(Entry(("mcpServers",), tail={"exposure": "direct"}),),
    extension=Extension(Files(beside(pi_folder, "extensions/raw-rag.ts"), (".pi/extensions/raw-rag.ts",)), _TEXT),
    instructions=Files(beside(pi_folder, "AGENTS.md"), ("AGENTS.md",)),
    note="pi reads a project's servers only where the project is trusted, and has an MCP client from 1.0 on.",
)


def resume(session: str, path: str | None) -> tuple[str, ...]:
    """The command of the program that wrote the log. Both write one format, so the log's folder decides."""
    if path is not None and "/.pi/" in path.replace("\\", "/"):
        return ("pi", "--session", session)
    return ("omp", "--resume", session)
