"""The clients' configurations in the how-to: they parse, name what is there, and the Python programs run as they stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.process.processes import environment_of
from tests.servers.memory_http import FIVE, home_in, serving

pytestmark = pytest.mark.process
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "connect-over-http.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PROGRAMS = [code for language, code in BLOCKS if language == "python"]


def configurations() -> list[dict[str, Any]]:
    """The one server of each configuration, whatever its form."""
    parsed = [json.loads(code) for language, code in BLOCKS if language == "json"]
    parsed += [tomllib.loads(code) for language, code in BLOCKS if language == "toml"]
    found = []
    for one in parsed:
        servers = one.get("mcpServers") or one.get("mcp_servers") or one["mcp"]
        (server,) = servers.values()
        found.append(server)
    return found


def test_each_client_has_a_configuration_for_both_ways() -> None:
    remote = [one for one in configurations() if "url" in one]
    local = [one for one in configurations() if "command" in one]
    assert (len(remote), len(local)) == (3, 3)
    for one in local:
        words = [*(one["command"] if isinstance(one["command"], list) else [one["command"]]), *one.get("args", [])]
        assert words == ["uvx", "agent-raw-rag-mcp", "--space", "work"]


@pytest.mark.line("J5")
def test_each_remote_configuration_reaches_the_server_once_it_is_filled_in(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.space("work")
    secret = home.token("laptop", space="work")
    with serving(home) as served:
        for one in (one for one in configurations() if "url" in one):
            headers = dict(one.get("headers") or one.get("http_headers"))
            if one.get("bearer_token_env_var"):
                assert one["bearer_token_env_var"] == "RAW_RAG_TOKEN"
                headers["Authorization"] = f"Bearer {secret}"
            filled = {name: re.sub(r"\$?\{(?:env:)?RAW_RAG_TOKEN\}", secret, value) for name, value in headers.items()}
            path = one["url"].removeprefix("http://127.0.0.1:8432")
            found = served.ask(path, headers={name.lower(): value for name, value in filled.items()})
            listed = found.json()["result"]["tools"]
            assert sorted(tool["name"] for tool in listed) == FIVE


def test_the_python_programs_run_as_they_stand(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.space("work")
    secret = home.token("laptop", space="work")
    over_http, over_stdio = PROGRAMS
    with serving(home) as served:
        given = {"RAW_RAG_URL": f"{served.url}/mcp/memory", "RAW_RAG_TOKEN": secret}
        assert "Releases go out on Tuesday." in said(over_http, {**home.environment, **given})
    # A client hands no variables on to a server on stdio: it finds the home in its usual place.
    (Path(home.environment["HOME"]) / ".agent-raw-rag").symlink_to(home.store)
    assert said(over_stdio, home.environment).strip() == "1"


def said(program: str, environment: dict[str, str]) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-c", program], env={**environment_of(environment), "PATH": path}, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["nginx", "caddyfile"])
def test_the_reverse_proxies_pass_on_what_is_needed(name: str) -> None:
    page = (ROOT / "docs" / "how-to" / "serve-over-http.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^```{name}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block.count("{") == block.count("}")
    assert "127.0.0.1:8432" in block
    assert "/mcp/memory" in block
    assert name == "caddyfile" or "proxy_set_header Host $host;" in block
