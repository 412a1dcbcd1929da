"""Who is let in over HTTP, and in which order it is asked: a spawned server, raw HTTP and the official client."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.process.watching import wait_for
from tests.servers.memory_http import Home, Served, home_in, serving

pytestmark = pytest.mark.process
UNAUTHORIZED = {"error": "unauthorized", "code": "unauthorized"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a token for everything. Tests add tokens and spaces of their own."""
    home = home_in(tmp_path_factory.mktemp("http"))
    home.token("all")
    with serving(home) as running:
        yield running


@pytest.fixture(scope="module")
def secret(served: Served) -> str:
    return served.home.token("tester")


def body(response: Any) -> dict[str, Any]:
    """A refusal, which always has the one shape."""
    found: dict[str, Any] = response.json()
    assert set(found) == {"error", "code", "message", "hint"}
    assert found["error"] == found["code"]
    return found


# ---------------------------------------------------------------- nobody is served by mistake


@pytest.mark.line("D1")
def test_without_any_token_the_server_does_not_start(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    done = home.command("serve", "--port", "0", expect=2)
    assert "raw-rag token create" in done.stderr
    home.token("gone")
    home.command("token", "revoke", "gone")
    home.command("serve", "--port", "0", expect=2)


@pytest.mark.line("D16")
def test_this_machine_needs_a_token_as_any_other(served: Served) -> None:
    for path in ("/mcp/memory", "/mcp/memory/", "/search", "/v1/chat/completions", "/count", "/nothing"):
        assert served.ask(path).status_code == 401
        assert served.ask(path, method="GET").status_code == 401
    for path in ("/health", "/openapi.json"):
        assert served.ask(path, method="GET").status_code == 200
    for path in ("/", "/openapi.json", "/assets/any"):
        assert served.ask(path).status_code == 401


@pytest.mark.line("D8")
def test_an_absent_a_wrong_an_expired_and_a_revoked_token_get_the_same_answer(served: Served) -> None:
    revoked = served.home.token("to-revoke")
    served.home.command("token", "revoke", "to-revoke")
    short = served.home.token("short", more=("--expires", "1s"))
    wait_for(lambda: served.ask(secret=short, space="proj").status_code == 401, "the expired token to be refused")
    answers = [served.ask(secret=one, space="proj") for one in (None, "rrt_wrong", "x" * 10_000, revoked, short)]
    assert {(one.status_code, one.content, one.headers["www-authenticate"]) for one in answers} == {
        (401, answers[0].content, 'Bearer realm="raw-rag"')
    }
    assert UNAUTHORIZED.items() <= body(answers[0]).items()


@pytest.mark.line("D9")
def test_a_token_comes_in_a_header_and_never_in_the_address(served: Served, secret: str) -> None:
    assert served.ask(secret=secret, space="proj").status_code == 200
    for name in ("x-octop-memory-token", "x-raw-rag-token"):
        assert served.ask(headers={name: secret}, space="proj").status_code == 200
    for query in (f"token={secret}", f"access_token={secret}"):
        assert served.ask(f"/mcp/memory?{query}", space="proj").status_code == 401


@pytest.mark.line("D10")
def test_the_token_is_asked_for_before_the_space(served: Served, secret: str) -> None:
    wrong = served.ask(secret="rrt_wrong", headers={"x-octop-agent-id": "nowhere"})
    missing = served.ask(secret=secret)
    unknown = served.ask(secret=secret, headers={"x-octop-agent-id": "nowhere"})
    assert [one.status_code for one in (wrong, missing, unknown)] == [401, 404, 404]
    assert missing.content == unknown.content
    assert "X-Octop-Agent-Id" in body(missing)["message"]
    assert served.ask(secret=secret, headers={"x-octop-agent-id": "proj"}).status_code == 200


@pytest.mark.line("D11")
def test_a_space_that_a_token_does_not_open_is_not_there_for_it(served: Served) -> None:
    limited = served.home.token("limited", space="proj")
    assert served.ask(secret=limited, space="proj").status_code == 200
    elsewhere = [
        served.ask(secret=limited, space=space) for space in ("other", "default", "nowhere", "../proj", "PROJ", "*")
    ]
    assert {(one.status_code, one.content) for one in elsewhere} == {(404, elsewhere[0].content)}


def test_two_headers_that_name_two_spaces_name_none(served: Served, secret: str) -> None:
    both = {"x-raw-rag-space": "proj", "x-octop-agent-id": "other"}
    assert served.ask(secret=secret, headers=both).status_code == 404
    assert served.ask(secret=secret, headers={**both, "x-octop-agent-id": "proj"}).status_code == 200


# ---------------------------------------------------------------- without a restart


@pytest.mark.line("D5")
def test_a_revoked_token_is_refused_by_the_running_server(served: Served) -> None:
    secret = served.home.token("laptop")
    assert served.ask(secret=secret, space="proj").status_code == 200
    served.home.command("token", "revoke", "laptop")
    assert served.ask(secret=secret, space="proj").status_code == 401
    (row,) = [one for one in served.home.read("token", "list") if one["label"] == "laptop"]
    assert row["revoked"] is not None


@pytest.mark.line("D6")
def test_a_rotated_token_has_a_new_secret(served: Served) -> None:
    old = served.home.token("phone")
    new = served.home.command("token", "rotate", "phone").stdout.strip()
    assert [served.ask(secret=one, space="proj").status_code for one in (old, new)] == [401, 200]
    newer = served.home.command("token", "rotate", "phone", "--grace", "1h").stdout.strip()
    assert [served.ask(secret=one, space="proj").status_code for one in (old, new, newer)] == [401, 200, 200]


@pytest.mark.line("D7")
def test_a_token_ends_by_itself_and_no_other_with_it(served: Served, secret: str) -> None:
    short = served.home.token("brief", more=("--expires", "1s"))
    longer = served.home.token("longer", more=("--expires", "1h"))
    wait_for(lambda: served.ask(secret=short, space="proj").status_code == 401, "the expired token to be refused")
    assert [served.ask(secret=one, space="proj").status_code for one in (longer, secret)] == [200, 200]


@pytest.mark.line("D14")
def test_spaces_come_and_go_while_it_serves(served: Served, secret: str) -> None:
    assert served.ask(secret=secret, space="new").status_code == 404
    for words, status in ((("create",), 200), (("disable",), 404), (("enable",), 200)):
        served.home.command("space", *words, "new")
        assert served.ask(secret=secret, space="new").status_code == status


def test_a_use_is_noted(served: Served) -> None:
    secret = served.home.token("used")

    def last_used() -> str | None:
        found: str | None = next(
            one["last_used"] for one in served.home.read("token", "list") if one["label"] == "used"
        )
        return found

    assert last_used() is None
    served.ask(secret=secret, space="proj")
    wait_for(lambda: last_used() is not None, "the last use")


# ---------------------------------------------------------------- tokens on the disk and in lists


@pytest.mark.line("D2")
def test_a_secret_is_printed_once_and_stands_nowhere(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    done = home.command("token", "create", "--label", "laptop", "--space", "proj", "--scope", "read,write")
    assert re.fullmatch(r"rrt_[\w-]{43}\n", done.stdout)
    secret = done.stdout.strip()
    assert secret[8:] not in done.stderr + home.command("token", "list").stdout
    assert not [path for path in everything_in(tmp_path) if secret[8:].encode() in path.read_bytes()]
    with closing(sqlite3.connect(home.store / "raw_rag.db")) as connection:
        kept = connection.execute("SELECT prefix, hash FROM tokens").fetchall()
    assert kept == [(secret[:8], hashlib.sha256(secret.encode()).digest())]


@pytest.mark.line("D3")
def test_the_list_says_all_of_a_token_but_its_secret_and_hash(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop", space="proj")
    (row,) = home.read("token", "list")
    assert set(row) >= {"label", "prefix", "scopes", "spaces", "created", "expires", "last_used", "revoked"}
    shown = json.dumps(row) + home.command("token", "list").stdout
    assert secret[8:] not in shown
    assert hashlib.sha256(secret.encode()).hexdigest() not in shown


@pytest.mark.line("D4")
def test_a_label_in_use_is_refused_and_its_token_goes_on(served: Served) -> None:
    secret = served.home.token("twice")
    done = served.home.command("token", "create", "--label", "twice", expect=1)
    assert "rrt_" not in done.stdout
    assert served.ask(secret=secret, space="proj").status_code == 200


@pytest.mark.line("D15")
def test_a_token_of_the_environment_opens_every_space_and_is_warned_of(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    with serving(home, more={"OCTOP_MEMORY_MCP_TOKEN": "abc"}) as served:
        assert served.ask(secret="abc", space="other").status_code == 200
        assert served.ask(secret="abcd", space="other").status_code == 401
        assert served.end() == 0
    assert "OCTOP_MEMORY_MCP_TOKEN" in served.said[1]
    home.environment["OCTOP_MEMORY_MCP_TOKEN"] = "   "
    home.command("serve", "--port", "0", expect=2)


@pytest.mark.line("D18")
def test_files_are_the_users_alone(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "RAW_RAG_HOME": str(tmp_path / "fresh")}
    before = os.umask(0o022)
    try:
        home = Home(environment)
        home.token("laptop")
        home.space("proj")
        with serving(home) as served:
            served.ask(secret="rrt_wrong", space="proj")
            served.end()
    finally:
        os.umask(before)
    fresh = tmp_path / "fresh"
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    open_to_others = [path for path in [fresh, *fresh.rglob("*")] if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert open_to_others == []
    assert (fresh / "log" / "http.log").exists()


# ---------------------------------------------------------------- whose name it answers to


@pytest.mark.line("E2", "E2b")
@pytest.mark.parametrize("path", ["/mcp/memory", "/mcp/memory/", "/health", "/search", "/v1/chat/completions", "/"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_names_and_pages_are_refused_at_every_path(served: Served, secret: str, path: str, method: str) -> None:
    for shown in (None, secret):
        host = served.ask(path, method=method, secret=shown, headers={"host": "evil.example"})
        page = served.ask(path, method=method, secret=shown, headers={"origin": "http://evil.example"})
        said = body if not path.startswith("/v1") else lambda one: one.json()["error"]  # as models' servers refuse
        assert [(one.status_code, said(one)["code"]) for one in (host, page)] == [
            (421, "wrong_host"),
            (403, "forbidden"),
        ]


@pytest.mark.line("E2")
def test_this_machines_own_names_are_served_without_a_port_too(served: Served, secret: str) -> None:
    for host in ("localhost", "127.0.0.1", "[::1]", "localhost:1"):
        assert served.ask(secret=secret, space="proj", headers={"host": host}).status_code == 200
    assert served.ask(secret=secret, space="proj", headers={"origin": "http://localhost:5173"}).status_code == 200


@pytest.mark.line("E3")
def test_a_name_that_is_allowed_is_the_only_one_of_a_server_that_others_reach(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop")
    home.configure('[http]\nallowed_hosts = ["mem.example.org"]\n')
    with serving(home, "--host", "0.0.0.0", "--allow-remote") as served:
        served.url = served.url.replace("0.0.0.0", "127.0.0.1")
        statuses = {
            host: served.ask(secret=secret, space="proj", headers={"host": host}).status_code
            for host in ("mem.example.org", "mem.example.org:8432", "localhost", "127.0.0.1", "other.example.org")
        }
    assert statuses == {
        "mem.example.org": 200, "mem.example.org:8432": 200, "localhost": 421, "127.0.0.1": 421, "other.example.org": 421,
    }  # fmt: skip


@pytest.mark.line("E4")
def test_an_address_that_others_reach_is_asked_for_on_purpose(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    assert "--allow-remote" in home.command("serve", "--host", "0.0.0.0", "--port", "0", expect=2).stderr
    assert (
        "allowed_hosts" in home.command("serve", "--host", "0.0.0.0", "--allow-remote", "--port", "0", expect=2).stderr
    )
    home.configure('[http]\nallowed_hosts = ["mem.example.org"]\n')
    assert "token" in home.command("serve", "--host", "0.0.0.0", "--allow-remote", "--port", "0", expect=2).stderr
    home.configure('[http]\nallowed_hosts = ["http://mem.example.org/"]\n')
    assert "allowed_hosts" in home.command("serve", "--port", "0", expect=2).stderr


# ---------------------------------------------------------------- the form of a request


@pytest.mark.line("E7")
def test_bodies_of_a_wrong_form_are_refused_and_the_server_goes_on(served: Served, secret: str) -> None:
    asked = {"secret": secret, "space": "proj"}
    plain = served.ask(**asked, headers={"content-type": "text/plain"})
    large = served.ask(**asked, body=b" " * (4 * 1024 * 1024 + 1))
    broken = served.ask(**asked, body=b'{"jsonrpc": "2.0", "id": 1,')
    assert [(one.status_code, body(one)["code"]) for one in (plain, large)] == [
        (400, "bad_argument"),
        (413, "too_large"),
    ]
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, -32700)
    assert served.ask(**asked, body=b" " * (4 * 1024 * 1024)).status_code == 400
    assert served.ask(**asked).status_code == 200


def test_a_large_body_of_a_stranger_is_not_read(served: Served) -> None:
    assert served.ask(body=b" " * (4 * 1024 * 1024 + 1)).status_code == 401


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_there_is_nothing_to_get_or_to_delete_without_sessions(served: Served, secret: str, method: str) -> None:
    found = served.ask(method=method, secret=secret, space="proj")
    assert (found.status_code, found.headers["allow"]) == (405, "POST")


def test_a_path_that_is_not_there_is_said_to_whoever_has_a_token(served: Served, secret: str) -> None:
    for path in ("/mcp", "/mcp/memory//", "/mcp/memory/x", "/searches", "/..%2f", "/health/x"):
        assert served.ask(path, secret=secret, space="proj").status_code == 404


@pytest.mark.line("E10")
def test_health_says_how_much_there_is_to_whoever_has_a_token(served: Served, secret: str) -> None:
    plain = served.ask("/health", method="GET").json()
    assert set(plain) == {"status", "version"}
    before = served.ask("/health", method="GET", secret=secret).json()
    served.answer("memory_capture", {"content": "One more to count.", "source": "tests"}, secret, "other")
    counted = served.ask("/health", method="GET", secret=secret).json()
    assert set(counted) == {"status", "version", "spaces"}
    assert {"default", "other", "proj"} <= set(counted["spaces"])
    assert counted["spaces"]["other"]["turns"] == before["spaces"]["other"]["turns"] + 1
    one = served.ask("/health/", method="GET", secret=secret, space="proj").json()
    assert set(one["spaces"]) == {"proj"}
    assert served.ask("/health", method="GET", secret="rrt_wrong").status_code == 401


def test_health_says_nothing_of_what_there_is_to_a_token_that_may_not_read(served: Served) -> None:
    proxy = served.home.token("proxy-only", scope="proxy")
    assert set(served.ask("/health", method="GET", secret=proxy).json()) == {"status", "version"}


# ---------------------------------------------------------------- its life


@pytest.mark.line("I8")
def test_a_port_is_served_once_and_the_second_says_by_whom(served: Served) -> None:
    port = served.url.rpartition(":")[2]
    done = served.home.command("serve", "--port", port, expect=1)
    assert f"process {served.process.pid}" in done.stderr


def test_a_port_of_somebody_else_is_said_to_be_taken(served: Served, tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.token("laptop")
    done = home.command("serve", "--port", served.url.rpartition(":")[2], expect=1)
    assert "a raw-rag server of another home" in done.stderr


def test_it_ends_in_good_order_and_its_port_is_free_again(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop")
    with serving(home) as served:
        port = int(served.url.rpartition(":")[2])
        assert served.ask(secret=secret, space="proj").status_code == 200
        assert served.end() == 0
    with serving(home, port=port) as again:
        assert again.ask(secret=secret, space="proj").status_code == 200


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signal here")
def test_a_hang_up_does_not_end_it_and_is_told_in_the_log(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("laptop")
    with serving(home) as served:
        served.process.send_signal(signal.SIGHUP)
        wait_for(
            lambda: "a restart takes the new one" in (home.store / "log" / "serve.log").read_text("utf-8"),
            "the line in the log",
        )
        assert served.ask(secret=secret, space="proj").status_code == 200
        assert served.end() == 0


def everything_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
