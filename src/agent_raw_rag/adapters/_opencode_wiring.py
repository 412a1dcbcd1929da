"""Where OpenCode keeps its servers and instructions. 2.x still reads the form of 1.x."""

from __future__ import annotations

from functools import partial

from agent_raw_rag.adapters._script import script
from agent_raw_rag.adapters.wiring import Entry, Environment, Extension, Files, Syntax, Wiring, beside


def _folder(environment: Environment, home: str) -> str:
    named = environment.get("OPENCODE_CONFIG_DIR", "").rstrip("/")
    return named or f"{environment.get('XDG_CONFIG_HOME') or f'{home}/.config'}/opencode"


_BODY = """\
// After a compaction the last turns of the project stand in the system prompt, the same at every step.
export const RawRag = async ({ directory }) => {
  const recaps = new Map();
  let last;
  return {
    "experimental.session.compacting": async () => { await ask("pre-compact", {}); },
    event: async ({ event }) => {
      if (event.type !== "session.compacted") return;
      last = event.properties.sessionID;
      recaps.set(last, ask("session-start", { source: "compact", cwd: directory, session_id: last }));
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = await recaps.get(input.sessionID || last);
      if (text) output.system.push(text);
    },
  };
};
"""
_PLUGIN = Extension(
    Files(beside(_folder, "plugins/raw-rag.ts"), (".opencode/plugins/raw-rag.ts",)),
    partial(script, "opencode", _BODY),
    note="OpenCode 2.x does not load plugins of this form; 1.x does.",
)
_LOCAL = {"type": "local"}

WIRING = Wiring(
    name="opencode",
    title="OpenCode",
    program="opencode",
    folder=_folder,
    files=Files(
        beside(_folder, "opencode.jsonc", "opencode.json"),
        (".opencode/opencode.jsonc", ".opencode/opencode.json", "opencode.jsonc", "opencode.json"),
    ),
    syntax=Syntax.JSONC,
    entries=(
        Entry(("mcp", "servers"), head=_LOCAL, one_list=True, environment="environment"),
        Entry(("mcp",), head=_LOCAL, tail={"enabled": True}, one_list=True, environment="environment"),
    ),
    extension=_PLUGIN,
    instructions=Files(beside(_folder, "AGENTS.md"), ("AGENTS.md",)),
)
