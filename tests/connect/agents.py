"""Agents' configuration files as people have them, in a home of a test's own."""

from __future__ import annotations

from dataclasses import dataclass

TOKEN = "sk-not-ours"


@dataclass(frozen=True)
class Case:
    """One program's file before it is connected."""

    name: str
    path: str
    """In the home folder."""
    text: str


CLAUDE = (
    '{\n  "numStartups": 12,\n  "mcpServers": {\n    "other": {\n      "type": "http",\n      "url": "https://x/mcp",\n'
)
CLAUDE += f'      "headers": {{"A": "{TOKEN}"}}\n    }}\n  }},\n  "projects": {{"/w": {{"mcpServers": {{}}}}}}\n}}'
CODEX = """# my settings
model = "gpt"   # the fast one

[mcp_servers.other]
command = "npx"
args = [
  "-y",
  "other",  # latest
]

[mcp_servers.other.env]
KEY = "sk-not-ours"

# which folders are mine
[projects."/home/dev/w"]
trust_level = "trusted"
"""
OPENCODE = """{
  // theme of the terminal
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    /* the browser */
    "browser": { "type": "local", "command": ["npx", "b"], }, // keep
  },
  "theme": "x", // last
}
"""
OPENCODE_2 = '{\n\t"mcp": {\n\t\t"servers": {\n\t\t\t"a": {"type": "remote", "url": "https://x"}\n\t\t}\n\t}\n}\n'
OMP = (
    '{\n    "mcpServers": {\n        "other": {"command": "npx", "args": ["o"]}\n    },\n    "disabledServers": []\n}\n'
)
ANTIGRAVITY = '{\n  "mcpServers": {\n    "remote": {\n      "serverUrl": "https://x"\n    }\n  }\n}\n'

OPENCODE_FOLDER, ANTIGRAVITY_FOLDER = ".config/opencode", ".gemini/config"
FILES = {
    "claude": Case("claude", ".claude.json", CLAUDE),
    "claude in one line": Case("claude", ".claude.json", '{"numStartups":1,"tipsHistory":{"a":[1,2]}}'),
    "claude, empty object": Case("claude", ".claude.json", "{}"),
    "claude, no servers yet": Case("claude", ".claude.json", '{\n  "mcpServers": {},\n  "x": 1\n}\n'),
    "codex": Case("codex", ".codex/config.toml", CODEX),
    "codex, no server yet": Case("codex", ".codex/config.toml", 'model = "x"'),
    "codex, an inline table": Case("codex", ".codex/config.toml", 'mcp_servers = { a = { command = "a" } }\n'),
    "codex, dotted keys": Case("codex", ".codex/config.toml", 'mcp_servers.a.command = "x"\n\n[tui]\ny = 1\n'),
    "codex, tables apart": Case(
        "codex",
        ".codex/config.toml",
        '[mcp_servers.a]\ncommand="a"\n\n[t]\nx=1\n\n[mcp_servers.b]\ncommand="b"\n# end\n',
    ),
    "opencode": Case("opencode", f"{OPENCODE_FOLDER}/opencode.jsonc", OPENCODE),
    "opencode 2, tabs": Case("opencode", f"{OPENCODE_FOLDER}/opencode.json", OPENCODE_2),
    "opencode, only comments": Case("opencode", f"{OPENCODE_FOLDER}/opencode.json", "{\n  // nothing yet\n}\n"),
    "omp": Case("omp", ".omp/agent/mcp.json", OMP),
    "omp, hidden file": Case("omp", ".omp/agent/.mcp.json", OMP),
    "pi": Case("pi", ".pi/agent/mcp.json", OMP),
    "antigravity": Case("antigravity", f"{ANTIGRAVITY_FOLDER}/mcp_config.json", ANTIGRAVITY),
}
