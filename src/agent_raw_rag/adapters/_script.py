"""JavaScript that runs our hook from inside an agent: the part that all such agents share. Pure text."""

from __future__ import annotations

_HEAD = """\
// Written by `raw-rag connect --hooks`; `raw-rag connect --undo` removes it.
import { spawn } from "node:child_process";

const COMMAND = %(words)s;
const VARIABLES = %(variables)s;
const MILLISECONDS = 1000;

// What our hook has to say at an event; "" for nothing. Never throws, and never waits long.
function ask(event, payload) {
  return new Promise((resolve) => {
    const [program, ...words] = [...COMMAND, event, "--agent", "%(agent)s"];
    const env = { ...process.env, ...VARIABLES };
    const child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true, env });
    let said = "";
    const end = setTimeout(() => { child.kill(); resolve(""); }, MILLISECONDS);
    const answer = () => {
      clearTimeout(end);
      try { resolve(JSON.parse(said).hookSpecificOutput.additionalContext || ""); } catch { resolve(""); }
    };
    child.stdout.on("data", (chunk) => { said += chunk; });
    child.on("error", answer);
    child.on("close", answer);
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}
"""


def script(agent: str, body: str, words: str, variables: str) -> str:
    """A module: ``ask`` and an agent's own body. ``words`` and ``variables`` are JSON."""
    return f"{_HEAD % {'agent': agent, 'words': words, 'variables': variables}}\n{body}"
