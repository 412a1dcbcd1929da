"""The page's files and its one-time links: ``raw-rag web`` and ``raw-rag serve`` as real processes, asked over raw HTTP."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from tests.process.processes import RAW_RAG, environment_of
from tests.process.watching import wait_for
from tests.servers.memory_http import Home, Served, home_in, serving

pytestmark = pytest.mark.process
POLICY = {
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
    "font-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
}  # fmt: skip
TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
TRAVERSALS = (
    "/assets/../../etc/passwd", "/assets/%2e%2e%2fapp.py", "/assets/..%2f..%2fetc%2fpasswd", "/assets/%2fetc%2fpasswd",
    "/assets//etc/passwd", "/assets/..", "/assets/.", "/assets/", "/assets", "/assets/app.py", "/assets/..%5c..%5cwin.ini",
    "/assets/index.html%00.js", "/assets/%00", "/../app.py", "/%2e%2e/app.py", "/assets/" + "a" * 5000,
)  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a token for everything."""
    home = home_in(tmp_path_factory.mktemp("page"))
    home.token("all")
    with serving(home) as running:
        yield running


@pytest.fixture(scope="module")
def secret(served: Served) -> str:
    return served.home.token("tester")


@contextmanager
def web(home: Home, *words: str) -> Iterator[tuple[Served, str]]:
    """``raw-rag web`` that serves, and the link that it printed."""
    command = [sys.executable, "-c", RAW_RAG, "web", "--port", "0", *words]
    with subprocess.Popen(
        command, env=environment_of(home.environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            first, link = process.stdout.readline(), process.stdout.readline().strip()
            assert first.startswith("Serving http://"), (first, link, process.communicate(timeout=10))
            yield Served(home, first.split()[1].removesuffix("/mcp/memory"), process), link
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()


def code_of(link: str) -> str:
    """The one-time code of a link."""
    base, _, code = link.partition("#login=")
    assert base.endswith("/"), link
    assert code.startswith("rrt_"), link
    return code


def link_to(served: Served, *words: str) -> str:
    """The link that ``raw-rag web`` prints where its home is served already."""
    port = urlsplit(served.url).port
    return served.home.command("web", "--port", str(port), "--no-open", *words).stdout.strip()


def raw(served: Served, path: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Status and body of a GET whose path nobody tidies up."""
    host = urlsplit(served.url)
    with closing(http.client.HTTPConnection(str(host.hostname), int(host.port or 0), timeout=30)) as connection:
        connection.putrequest("GET", path, skip_host="host" in (headers or {}))
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read()


# ---------------------------------------------------------------- the page's files


@pytest.mark.line("G7")
def test_the_page_loads_without_a_token_and_lets_no_other_script_in(served: Served) -> None:
    page = served.ask("/", method="GET")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert set(page.headers["content-security-policy"].split("; ")) == POLICY
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in page.headers["permissions-policy"]
    assert "http://" not in page.text
    assert "https://" not in page.text


@pytest.mark.line("G7")
def test_every_file_that_the_page_names_is_served_from_here_and_as_what_it_is(served: Served) -> None:
    page = served.ask("/", method="GET").text
    if "The page was not built" in page:
        pytest.fail("The page is not built: cd web && npm ci && npm run build")
    named = re.findall(r"""<(\w+)[^>]*?\s(?:src|href)="([^"]*)\"""", page)
    assert {"script", "link"} <= {tag for tag, _ in named}
    for _, name in named:
        address = urljoin(f"{served.url}/", name)
        assert urlsplit(address)[:2] == urlsplit(served.url)[:2], name
        answer = served.ask(urlsplit(address).path, method="GET")
        assert answer.status_code == 200, name
        assert answer.content, name
        assert answer.headers["content-type"].partition(";")[0] == TYPES[name.rpartition(".")[2]], name
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.line("G7")
@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_out_of_the_page_s_files(served: Served, secret: str, path: str) -> None:
    status, body = raw(served, path, {"authorization": f"Bearer {secret}"})
    assert status == 404
    assert set(json.loads(body)) == {"error", "code", "message", "hint"}
    assert raw(served, path)[0] in (401, 404)


def test_a_file_that_did_not_change_is_not_sent_again(served: Served) -> None:
    page = served.ask("/", method="GET")
    again = served.ask("/", method="GET", headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["content-security-policy"] == page.headers["content-security-policy"]
    assert served.ask("/", method="GET", headers={"if-none-match": '"other"'}).status_code == 200
    head = served.ask("/", method="HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(page.content))


def test_the_page_is_only_read(served: Served, secret: str) -> None:
    refused = served.ask("/", method="POST", secret=secret, body={})
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.line("E2b")
def test_the_page_does_not_answer_to_another_host_or_origin(served: Served) -> None:
    assert raw(served, "/", {"host": "evil.example"})[0] == 421
    assert raw(served, "/assets/app.js", {"host": "evil.example"})[0] == 421
    assert raw(served, "/", {"origin": "http://evil.example"})[0] == 403


def test_answers_that_are_no_page_run_nothing_in_a_browser_and_are_not_kept(served: Served) -> None:
    for answer in (served.ask("/health", method="GET"), served.ask("/nothing", method="GET"), served.ask()):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["cache-control"] == "no-store"


# ---------------------------------------------------------------- links


def test_a_link_lets_one_in_once(served: Served) -> None:
    code = code_of(link_to(served, "--for", "2h"))
    page = served.ask("/login", secret=code).json()
    assert set(page) == {"token", "label", "expires", "scopes", "spaces"}
    assert (page["scopes"], page["spaces"]) == (["read", "write", "curate", "chat", "admin"], ["*"])
    me = served.ask("/me", method="GET", secret=page["token"]).json()
    assert (me["label"], me["expires"], me["space"]) == (page["label"], page["expires"], "default")
    assert me["spaces"] == ["default", "other", "proj"]
    used, never = served.ask("/login", secret=code), served.ask("/login", secret="rrt_never")
    assert (used.status_code, used.content) == (401, never.content)
    assert used.json()["code"] == "unauthorized"
    assert "This link was used, or is too old" in used.json()["message"]
    assert "raw-rag web" in used.json()["hint"]
    acts = [(row["action"], row["target"]) for row in served.home.journal()]
    assert ("login", page["label"]) in acts


def test_a_code_opens_nothing_but_the_login(served: Served) -> None:
    code = code_of(link_to(served))
    for method, path in (
        ("GET", "/me"),
        ("GET", "/count"),
        ("POST", "/mcp/memory"),
        ("POST", "/logout"),
        ("GET", "/health"),
    ):
        assert served.ask(path, method=method, secret=code, space="default").status_code == 401, path
    assert served.ask("/login", secret=code).status_code == 200


def test_a_token_is_no_code(served: Served) -> None:
    assert served.ask("/login", secret=served.home.token("no-code")).status_code == 403
    refused = served.home.command(
        "token", "create", "--label", "x", "--scope", "login", expect=2
    )  # the scope is not to be had
    assert "login" in refused.stderr
    assert served.ask("/login").status_code == 401


def test_of_many_who_use_a_link_at_once_one_is_let_in(served: Served) -> None:
    code = code_of(link_to(served))
    statuses: list[int] = []
    together = threading.Barrier(8)

    def enter() -> None:
        together.wait()
        statuses.append(served.ask("/login", secret=code).status_code)

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [401] * 7


def test_leaving_ends_the_page_s_token_and_no_other(served: Served) -> None:
    page = served.ask("/login", secret=code_of(link_to(served))).json()
    assert served.ask("/logout", secret=page["token"]).json() == {"revoked": True}
    assert served.ask("/me", method="GET", secret=page["token"]).status_code == 401
    mine = served.home.token("laptop")
    assert served.ask("/logout", secret=mine).status_code == 403
    assert served.ask("/me", method="GET", secret=mine).status_code == 200


def test_what_a_link_opens_ends_by_itself(served: Served) -> None:
    page = served.ask("/login", secret=code_of(link_to(served, "--for", "2s"))).json()
    wait_for(
        lambda: served.ask("/me", method="GET", secret=page["token"]).status_code == 401, "the page's token to end"
    )
    old = code_of(link_to(served, "--for", "1s"))
    wait_for(lambda: served.ask("/me", method="GET", secret=old).status_code == 401, "the answer")
    wait_for(lambda: not _live(served, old), "the code to end")
    assert served.ask("/login", secret=old).status_code == 401


def _live(served: Served, code: str) -> bool:
    return any(row["prefix"] == code[:8] and row["live"] for row in served.home.read("token", "list"))


# ---------------------------------------------------------------- the command


def test_web_serves_an_empty_home_without_any_token_until_it_is_ended(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    with web(home, "--no-open") as (served, link):
        assert link.startswith(f"{served.url}/#login=")
        page = served.ask("/login", secret=code_of(link)).json()
        assert served.ask("/count", method="GET", secret=page["token"]).json()["count"] == 0
        second = home.command("web").stdout.strip()  # of the server that there is, whatever its port
        assert second.startswith(f"{served.url}/#login=")
        assert code_of(second) != code_of(link)
        assert served.end(signal.SIGINT) == 0
    written = "".join(path.read_text("utf-8") for path in (home.store / "log").iterdir())
    for code in (code_of(link), code_of(second), page["token"]):
        assert code not in written
        assert code not in "".join(served.said)


BROWSER = """
import http.client, json, os, stat, sys, urllib.parse, urllib.request
path = urllib.request.url2pathname(urllib.parse.urlsplit(sys.argv[2]).path)
page = open(path).read()
told = {"words": sys.argv, "file": stat.S_IMODE(os.stat(path).st_mode),
        "folder": stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode), "page": page, "path": path}
link = urllib.parse.urlsplit(page.split("url=")[1].split('"')[0])
connection = http.client.HTTPConnection(link.netloc, timeout=30)
connection.request("POST", "/login", headers={"authorization": "Bearer " + link.fragment.partition("=")[2]})
told["status"] = connection.getresponse().status
with open(sys.argv[1] + ".new", "w") as file:
    json.dump(told, file)
os.replace(sys.argv[1] + ".new", sys.argv[1])
"""
"""Stands in a browser's place: it writes down what it was started with, and follows the link."""


@pytest.mark.skipif(sys.platform == "win32", reason="a browser is named by BROWSER, and files have modes")
@pytest.mark.parametrize("is_served", [True, False])
def test_no_command_line_ever_holds_the_code_of_a_link(tmp_path: Path, is_served: bool) -> None:
    home, told, script = home_of(tmp_path), tmp_path / "told.json", tmp_path / "browser.py"
    script.write_text(BROWSER, encoding="utf-8")
    home.environment["BROWSER"] = f"{sys.executable} {script} {told} %s"
    if is_served:
        home.token("any")
        with serving(home) as running:
            said = running.home.command("web", "--open", "--port", str(urlsplit(running.url).port)).stdout
            link = said.strip()
    else:
        with web(home, "--open") as (running, link):
            wait_for(told.exists, "the browser")
            assert running.end(signal.SIGINT) == 0
    seen = json.loads(told.read_text(encoding="utf-8"))
    assert seen["status"] == 200
    assert (seen["file"], seen["folder"]) == (0o600, 0o700)
    assert code_of(link) in seen["page"]
    assert code_of(link) not in " ".join(seen["words"])
    assert not Path(seen["path"]).parent.exists()


def test_no_link_is_made_where_others_reach_the_server(tmp_path: Path) -> None:
    home = home_of(tmp_path)
    home.configure('[http]\nhost = "0.0.0.0"\nallowed_hosts = ["mem.example.org"]\n')
    refused = home.command("web", "--port", "0", expect=2)
    assert "this machine only" in refused.stderr
    assert home.command("web", "--for", "soon", expect=2).stderr


def home_of(folder: Path) -> Home:
    """A home with nothing in it, not even a store."""
    from tests.samples import sample_environment

    return Home(sample_environment(folder, logs=False))
