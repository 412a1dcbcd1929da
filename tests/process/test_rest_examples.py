"""The curl commands of the how-to run as they stand."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.servers.memory_http import home_in, serving

pytestmark = pytest.mark.process
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "use-the-rest-api.md").read_text(encoding="utf-8")
COMMANDS = [code for code in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "curl" in code]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_examples_run_as_they_stand(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.space("work")
    given = {
        "RAW_RAG_TOKEN": home.token("script", space="work", scope="read,write,curate"),
        "PATH": "/usr/bin:/bin:/usr/local/bin",
    }
    store, search, by_metadata, put, get, delete, turn, journal = COMMANDS
    with serving(home) as served:
        given["RAW_RAG_URL"] = served.url
        given["NOTE"] = said(store, given)["id"]
        assert [one["id"] for one in said(search, given)["results"]] == [given["NOTE"]]
        assert [one["id"] for one in said(by_metadata, given)["results"]] == [given["NOTE"]]
        new = said(put, given)["new_node_id"]
        assert [one["id"] for one in said(get, given)["history"]] == [given["NOTE"], new]
        assert said(delete, {**given, "NOTE": new}) == {"id": new, "status": "deleted"}
        assert said(delete, given)["code"] == "not_active"
        assert said(turn, given)["status"] == "captured"
        assert said(turn, given)["status"] == "duplicate"
        actions = [one["action"] for one in said(journal, given)["entries"]]
        assert actions == ["capture", "capture", "deprecate", "update", "save"]


def said(command: str, variables: dict[str, str]) -> Any:
    """The JSON value that a command prints."""
    done = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, env=variables, timeout=60, check=True)
    return json.loads(done.stdout)
