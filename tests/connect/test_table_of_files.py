"""Every agent x every way a file can look x both scopes: we only ever insert, and undoing gives back the very bytes."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_raw_rag.connect.jsonc import parse
from tests.cli.commands import Environment, run
from tests.connect.agents import CLAUDE, CODEX, OMP, OPENCODE

JSON_ROWS = {
    "other servers": OMP,
    "tabs": OMP.replace("    ", "\t"),
    "unicode": OMP.replace("other", "其他 – 🌍 \\u00e9"),
    "empty object": "{}",
    "spread empty object": "{\n\n}\n",
    "one line": OMP.replace("\n", " ").strip(),
    "old mac breaks": OMP.replace("\n", "\r"),
    "servers in one line": '{"a": 1,\n "mcpServers": {"o": {"command": "x"}}, "b": 2}\n',
    "duplicate keys": '{\n  "mcpServers": {"a": {"command": "a"}},\n  "x": 1, "x": 2,\n  "mcpServers": {}\n}\n',
    "escaped key": '{\n  "mcp\\u0053ervers": {\n    "o": {"command": "x"}\n  }\n}\n',
    "huge": json.dumps({"history": ["a prompt / with 'quotes' // and \\slashes\\ " * 20] * 400, "n": 1}, indent=2),
    "deep": "{" + '"a": {' * 90 + "}" * 91,
}
LENIENT_ROWS = {
    "comments": OPENCODE,
    "trailing commas": '{\n  "mcp": {\n    "a": {"type": "remote", "url": "https://x",},\n  },\n}\n',
    "comment at the end": '{\n  "mcp": {\n    "a": {"type": "remote", "url": "u"} // why\n  } /* end */\n}\n// bye',
    "comment that looks like an entry": '{\n  // "mcp": {"raw-rag": {}},\n  "theme": "x"\n}\n',
    "braces in strings": '{"keybinds": {"a": "}", "b": "//", "c": "/* \\" */"},\n\n"mcp": {}}\n',
}
TOML_ROWS = {
    "comments": CODEX,
    "tabs": CODEX.replace("  ", "\t"),
    "unicode": '# 設定 🌍\nmodel = "é"\n\n[mcp_servers."其他"]\ncommand = "x"\n',
    "comment at the end": '[tui]\nx = 1\n# [mcp_servers.raw-rag]\n# command = "no"',
    "array of tables at the end": '[mcp_servers.a]\ncommand = "x"\n\n[[hooks]]\nname = "a"\n\n[[hooks]]\nname = "b"\n',
    "multi-line text": 'notes = """\n[mcp_servers.raw-rag]\ncommand = "no"\n"""\n',
    "quoted header": '["mcp_servers"."a b"]\ncommand = "x"\n',
    "inline": 'mcp_servers = { a = { command = "x" } }  # mine\n',
    "dotted": 'mcp_servers.a.command = "x"\n',
    "huge": "".join(f'[projects."/home/dev/{number}"]\ntrust_level = "trusted"\n\n' for number in range(1500)),
    "blank lines at the end": 'model = "x"\n\n\n\n',
}
ENDINGS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "BOM": lambda data: b"\xef\xbb\xbf" + data,
    "no final newline": lambda data: data.rstrip(b"\r\n"),
    "CRLF, BOM, no final newline": lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n").rstrip(b"\r\n"),
}


@dataclass(frozen=True)
class Agent:
    """Where a program's files are, in the home folder and in a project."""

    name: str
    user: str
    project: str
    rows: dict[str, str]


_OPENCODE_ROWS = {
    **{name: text.replace("mcpServers", "mcp") for name, text in JSON_ROWS.items()},
    **LENIENT_ROWS,
}
AGENTS = [
    Agent("claude", ".claude.json", ".mcp.json", {**JSON_ROWS, "with a token": CLAUDE}),
    Agent("codex", ".codex/config.toml", ".codex/config.toml", TOML_ROWS),
    Agent("opencode", ".config/opencode/opencode.jsonc", ".opencode/opencode.json", _OPENCODE_ROWS),
    Agent("omp", ".omp/agent/mcp.json", ".omp/mcp.json", JSON_ROWS),
    Agent("pi", ".pi/agent/mcp.json", ".pi/mcp.json", JSON_ROWS),
    Agent("antigravity", ".gemini/config/mcp_config.json", ".agents/mcp_config.json", JSON_ROWS),
]
LARGE = ("huge", "deep", "old mac breaks")


def endings_of(agent: Agent, row: str) -> list[str]:
    """As it is and one other; all of them for an agent's first row. Agents that read one syntax share the others."""
    place = list(agent.rows).index(row)
    if place and agent.name in ("omp", "antigravity"):
        return [""]
    return list(ENDINGS) if place == 0 else ["", list(ENDINGS)[1 + place % (len(ENDINGS) - 1)]]


TABLE = [
    pytest.param(agent, text, ending, id=f"{agent.name}: {row}{', ' + ending if ending else ''}")
    for agent in AGENTS
    for row, text in agent.rows.items()
    for ending in ([""] if row in LARGE else endings_of(agent, row))
]
AS_THEY_ARE = [
    pytest.param(agent, text, id=f"{agent.name}: {row}") for agent in AGENTS for row, text in agent.rows.items()
]


@dataclass(frozen=True)
class Place:
    """A person's home, a project, and our own home."""

    environment: Environment
    home: Path
    project: Path

    def file(self, agent: Agent, scope: str) -> Path:
        return self.home / agent.user if scope == "user" else self.project / agent.project

    def lay(self, agent: Agent, scope: str, data: bytes) -> Path:
        path = self.file(agent, scope)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def connect(self, *words: str, status: int = 0) -> list[dict[str, Any]]:
        result = run(self.environment, "connect", *words, "--json")
        assert result.exit_code == status, result.output
        found: list[dict[str, Any]] = json.loads(result.stdout)["agents"]
        return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    home, project = tmp_path / "home", tmp_path / "a project"
    home.mkdir()
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return Place({"HOME": str(home), "RAW_RAG_HOME": str(tmp_path / "own")}, home, project)


def value_of(path: Path, data: bytes) -> Any:
    text = data.decode("utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    return parse(text, lenient="opencode" in path.name).value


def without_ours(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: without_ours(one) for key, one in value.items() if key != "raw-rag"}
    return {key: one for key, one in inner.items() if one != {}}


def is_inserted_into(before: bytes, after: bytes) -> bool:
    """Whether ``after`` is ``before`` with bytes put in, and none taken away or moved."""
    rest = iter(after)
    return all(byte in rest for byte in before)


@pytest.mark.parametrize(("agent", "text", "ending"), TABLE)
def test_only_our_entry_is_put_in_and_undoing_gives_back_the_bytes(
    place: Place, agent: Agent, text: str, ending: str
) -> None:
    scope = "project" if ending else "user"
    before = ENDINGS[ending](text.encode())
    path = place.lay(agent, scope, before)
    path.chmod(0o640)
    (outcome,) = place.connect(agent.name, "--scope", scope)
    after = path.read_bytes()
    assert (outcome["change"], outcome["file"]) == ("added", str(path))
    assert is_inserted_into(before, after)
    assert without_ours(value_of(path, after)) == without_ours(value_of(path, before))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [one["change"] for one in place.connect(agent.name, "--scope", scope)] == ["unchanged"]
    assert path.read_bytes() == after
    assert "restored" in [one["change"] for one in place.connect(agent.name, "--scope", scope, "--undo")]
    assert path.read_bytes() == before and list(path.parent.glob("*.bak")) == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize(("agent", "text"), AS_THEY_ARE)
def test_what_the_user_writes_after_us_stays_when_we_go(place: Place, agent: Agent, text: str) -> None:
    before = text.encode()
    path = place.lay(agent, "user", before)
    place.connect(agent.name)
    path.write_bytes(path.read_bytes() + b"\n")
    (outcome,) = [one for one in place.connect(agent.name, "--undo") if one["part"] == "server"]
    left = path.read_bytes()
    assert outcome["change"] == "removed" and "changed since" in outcome["note"]
    assert without_ours(value_of(path, left)) == without_ours(value_of(path, before))
    assert all(line in left for line in before.splitlines() if line.strip().startswith((b"//", b"#", b"/*")))
    assert Path(outcome["backup"]).exists()


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_folder_that_is_a_link_stays_one(place: Place, agent: Agent, tmp_path: Path) -> None:
    path = place.lay(agent, "user", next(iter(agent.rows.values())).encode())
    before = path.read_bytes()
    if path.parent == place.home:
        pytest.skip("its file lies in the home folder itself")
    real = tmp_path / "dotfiles"
    path.parent.rename(real)
    path.parent.symlink_to(real)
    place.connect(agent.name)
    assert path.parent.is_symlink() and b"raw-rag" in path.read_bytes()
    place.connect(agent.name, "--undo")
    assert path.parent.is_symlink() and path.read_bytes() == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_the_owner_of_a_file_stays(place: Place, agent: Agent) -> None:
    path = place.lay(agent, "user", next(iter(agent.rows.values())).encode())
    os.chown(path, 4711, 4712)
    place.connect(agent.name)
    assert (path.stat().st_uid, path.stat().st_gid) == (4711, 4712)
    place.connect(agent.name, "--undo")
    assert (path.stat().st_uid, path.stat().st_gid) == (4711, 4712)


@pytest.mark.parametrize("text", ["'a': 1", "a: 1", '"a": +1', '"a": 0x1', '"a": NaN', '"a": 1 /* open', '"a" 1', ""])
@pytest.mark.parametrize("agent", [one for one in AGENTS if one.name != "codex"], ids=lambda agent: agent.name)
def test_what_no_agent_reads_is_not_overwritten_and_its_place_is_told(place: Place, agent: Agent, text: str) -> None:
    path = place.lay(agent, "user", f"{{\n  {text}".encode())
    (outcome,) = place.connect(agent.name, status=1)
    assert "line 2, column" in outcome["error"] and str(path) in outcome["error"]
    assert path.read_bytes() == f"{{\n  {text}".encode() and list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="needs pipes and links")
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_pipe_is_not_waited_for_and_a_device_is_not_replaced(place: Place, agent: Agent) -> None:
    path = place.file(agent, "user")
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    (outcome,) = place.connect(agent.name, status=1)
    assert "no plain file" in outcome["error"]
    path.unlink()
    path.symlink_to("/dev/null")
    (outcome,) = place.connect(agent.name, status=1)
    assert "no plain file" in outcome["error"] and not stat.S_ISREG(os.stat("/dev/null").st_mode)


OLD = ("uvx", ["--from", "/src/agent_raw_rag", "agent-raw-rag-mcp"])
OLD_TEXTS = {
    "claude": {"mcpServers": {"raw_rag": {"command": OLD[0], "args": OLD[1], "env": {"HF_HOME": "/m"}}}},
    "opencode": {"mcp": {"raw_rag": {"type": "local", "command": [OLD[0], *OLD[1]], "environment": {"HF_HOME": "/m"}}}},
    "pi": {"mcpServers": {"agent-raw-rag": {"command": OLD[0], "args": OLD[1], "env": {"HF_HOME": "/m"}}}},
}


@pytest.mark.parametrize(
    "agent", [one for one in AGENTS if one.name in {*OLD_TEXTS, "codex"}], ids=lambda one: one.name
)
def test_an_entry_of_0_2_is_brought_up_to_date_under_its_own_name(place: Place, agent: Agent) -> None:
    text = json.dumps(OLD_TEXTS.get(agent.name), indent=2)
    if agent.name == "codex":
        text = f'# old\n[mcp_servers.raw_rag]\ncommand = "uvx"  # fast\nargs = {json.dumps(OLD[1])}\nenv = {{ HF_HOME = "/m" }}\n'
    path = place.lay(agent, "user", text.encode())
    (outcome,) = place.connect(agent.name)
    after = path.read_text("utf-8")
    assert outcome["change"] == "updated"
    assert "/src/agent_raw_rag" not in after and "HF_HOME" in after and '"raw-rag"' not in after
    assert [one["change"] for one in place.connect(agent.name)] == ["unchanged"]
    (found,) = [one for one in json.loads(run(place.environment, "connect", agent.name, "--status", "--json").stdout)
                if one["scope"] == "user"]  # fmt: skip
    assert found["answers"] is True and found["file"] == str(path)
    place.connect(agent.name, "--undo")
    assert path.read_text("utf-8") == text, "what was there before connecting"
    place.connect(agent.name, "--undo")
    assert "agent-raw-rag-mcp" not in path.read_text("utf-8")


def test_a_server_of_another_name_or_maker_is_never_ours(place: Place) -> None:
    servers = {"raw_rag": {"command": "my-own"}, "work": {"command": "agent-raw-rag-mcp"}}
    path = place.lay(AGENTS[0], "user", json.dumps({"mcpServers": servers}, indent=1).encode())
    place.connect("claude")
    path.write_bytes(path.read_bytes() + b"\n")
    place.connect("claude", "--undo")
    assert json.loads(path.read_bytes()) == {"mcpServers": servers}
