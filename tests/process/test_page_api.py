"""What the page asks a server for: a spawned one over the sample logs and over text that would do harm in a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agent_raw_rag.sanitize.actions import unsplit
from tests.process.processes import INGEST, run
from tests.samples import PROJECT, sample_environment
from tests.servers.memory_http import Home, Served, home_in, serving

pytestmark = pytest.mark.process
CLAUDE = "claude:7c1e5a52-3b0f-4d57-9a58-2f6d1c90e001"
HARM = "<script>alert(1)</script> & <img src=x onerror=alert(2)> ```\n# no heading\n````"
READS = (
    "/filters", "/sessions", "/timeline", "/status", "/notes", f"/sessions/{CLAUDE}", f"/sessions/{CLAUDE}/tree",
    f"/sessions/{CLAUDE}/export",
)  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over a home that holds the sample logs, and a space ``bare`` that nothing was stored in."""
    home = Home(sample_environment(tmp_path_factory.mktemp("logs")))
    assert run(INGEST, home.environment, "--quiet").returncode == 0
    home.space("bare")
    home.token("all", scope="read,write,curate,chat,admin")
    with serving(home) as running:
        yield running


@pytest.fixture(scope="module")
def secret(served: Served) -> str:
    return served.home.token("page", scope="read,write,curate,chat,admin")


@pytest.fixture(scope="module")
def reader(served: Served) -> str:
    return served.home.token("reader", scope="read")


def get(served: Served, path: str, secret: str, space: str = "default", status: int = 200) -> Any:
    answer = served.ask(path, method="GET", secret=secret, space=space)
    assert answer.status_code == status, (path, answer.status_code, answer.text)
    return answer.json()


def post(served: Served, path: str, secret: str, body: Any, space: str = "default", status: int = 200) -> Any:
    answer = served.ask(path, secret=secret, space=space, body=body)
    assert answer.status_code == status, (path, answer.status_code, answer.text)
    return answer.json()


def proposed(served: Served, statement: str, quote: str, event: str) -> str:
    """The id of a new candidate, as a host agent proposes one."""
    from agent_raw_rag.memory.promotion import Propose
    from agent_raw_rag.models import Actor
    from agent_raw_rag.runtime import Runtime

    promotion = Runtime.load(None, served.home.environment).memory.promotion
    return promotion.propose(Propose(statement, quote, (event,)), Actor("host", "stdio")).candidate.id


def paged(served: Served, path: str, secret: str, name: str, limit: int, space: str = "default") -> list[Any]:
    """Everything of a list that is asked for page by page."""
    found: list[Any] = []
    cursor = ""
    while True:
        page = get(served, f"{path}{'&' if '?' in path else '?'}limit={limit}&cursor={cursor}", secret, space)
        assert len(page[name]) <= limit
        found += page[name]
        if page["next"] is None:
            return found
        cursor = page["next"]


# ---------------------------------------------------------------- searching


def test_a_passage_comes_with_the_words_of_each_turn_and_with_what_to_mark(served: Served, reader: str) -> None:
    found = post(served, "/passages", reader, {"query": 'retry "exactly once" 重試'})
    assert found["passages"]
    assert {"retry", "exactly once", "重試"} <= set(found["terms"])
    assert found["timing"]["total_ms"] >= 0
    for passage in found["passages"]:
        assert [part["turn"] for part in passage["parts"]] == [turn["turn"] for turn in passage["turns"]]
        for part in passage["parts"]:
            assert unsplit(part["text"], part["actions"]) in passage["text"]
            assert not part["actions"] or part["role"] == "assistant"
            assert not part["text"].startswith(f"[{part['turn']}]")
        assert "explain" not in passage
    assert any(part["actions"] for passage in found["passages"] for part in passage["parts"])


def test_filters_narrow_a_search_and_name_what_there_is(served: Served, reader: str) -> None:
    there = get(served, "/filters", reader)
    assert [one["project"] for one in there["projects"]] == [PROJECT]
    assert sum(one["sessions"] for one in there["agents"]) == 6
    assert "user" in there["roles"]
    for one in there["agents"]:
        found = post(served, "/passages", reader, {"query": "retry upload photo", "agent": one["agent"]})
        assert {passage["agent"] for passage in found["passages"]} <= {one["agent"]}
    explained = post(served, "/passages", reader, {"query": "retry", "limit": 1, "explain": True})
    assert explained["passages"][0]["explain"]
    assert post(served, "/passages", reader, {"query": "  "}, status=400)["code"] == "bad_argument"
    assert post(served, "/passages", reader, {"query": "retry", "agent": "nobody"}, status=400)


# ---------------------------------------------------------------- sessions


def test_sessions_come_page_by_page_newest_first_each_once(served: Served, reader: str) -> None:
    whole = paged(served, "/sessions", reader, "sessions", 200)
    assert len(whole) == 6
    for limit in (1, 2, 5):
        assert paged(served, "/sessions", reader, "sessions", limit) == whole
    lasts = [one["last"] for one in whole]
    assert lasts == sorted(lasts, reverse=True)
    some = paged(served, "/sessions?after=2026-09-20&before=2026-09-30", reader, "sessions", 1)
    assert 0 < len(some) < len(whole)
    assert get(served, "/sessions?cursor=nonsense", reader, status=400)["code"] == "bad_argument"
    assert get(served, "/sessions?limit=100000", reader, status=400)
    assert get(served, "/sessions?agnet=x", reader, status=400)


def test_a_session_s_turns_come_in_pages_what_was_done_apart_from_what_was_said(served: Served, reader: str) -> None:
    whole = get(served, f"/sessions/{CLAUDE}", reader)
    assert whole["next"] is None
    collected: list[Any] = []
    first: int | None = 1
    while first is not None:
        page = get(served, f"/sessions/{CLAUDE}?from={first}&limit=2", reader)
        collected += page["turns"]
        first = page["next"]
    assert collected == whole["turns"]
    second = whole["turns"][1]
    assert [action.partition(" ")[0] for action in second["actions"]] == ["[Bash]", "[Bash]", "[Agent]"]
    assert "\n  | FAILED" in second["actions"][1]
    assert "[Bash]" not in second["text"]
    opened = get(served, f"/events/{second['event_id']}", reader)
    assert (opened["session"], opened["turn"], opened["text"]) == (CLAUDE, 2, second["text"])


def test_a_family_has_the_same_members_whichever_of_them_is_asked_for(served: Served, reader: str) -> None:
    tree = get(served, f"/sessions/{CLAUDE}/tree", reader)
    assert tree["root"] == CLAUDE
    assert [node["kind"] for node in tree["nodes"]] == [None, "subagent"]
    child = tree["nodes"][1]
    assert child["parent"] == CLAUDE
    theirs = get(served, f"/sessions/{quote(child['session'], safe='')}/tree", reader)
    assert theirs["nodes"] == tree["nodes"]
    assert tree["branches"][0]["first_turn"] == 1


def test_what_is_not_there_is_not_found(served: Served, reader: str) -> None:
    for path in (
        "/sessions/nope",
        "/sessions/nope/tree",
        "/sessions/nope/export",
        "/events/nope",
        "/events/e" + "0" * 20,
    ):
        assert get(served, path, reader, status=404)["code"] == "not_found"
    assert get(served, "/sessions/" + "x" * 3000, reader, status=404)
    assert get(served, f"/sessions/{CLAUDE}?from=0", reader, status=400)
    assert get(served, f"/sessions/{CLAUDE}/export?form=exe", reader, status=400)


PASTED = "It fails:\n[ERROR] cannot open file\n  | at line 3"


@pytest.fixture(scope="module")
def pasted(served: Served, secret: str) -> str:
    """A session in which a person pasted the end of a log."""
    told = {"content": PASTED, "source": "pasted", "session_id": "pasted", "role": "user"}
    return str(served.answer("memory_capture", told, secret, "default")["event_id"])


def test_what_a_person_pasted_is_said_and_not_done(served: Served, reader: str, pasted: str) -> None:
    opened = get(served, f"/events/{pasted}", reader)
    assert (opened["role"], opened["text"], opened["actions"]) == ("user", PASTED, [])
    path = f"/sessions/{quote(opened['session'], safe='')}"
    turn = get(served, path, reader)["turns"][0]
    assert (turn["text"], turn["actions"]) == (PASTED, [])
    assert json.loads(served.ask(f"{path}/export?form=json", method="GET", secret=reader).text)["turns"] == [turn]
    assert f"```text\n{PASTED}\n```" in served.ask(f"{path}/export?form=md", method="GET", secret=reader).text
    page = served.ask(f"{path}/export?form=html", method="GET", secret=reader).text
    assert f"<pre>\n{PASTED}</pre></article>" in page
    found = post(served, "/passages", reader, {"query": "cannot open file", "session": opened["session"]})
    assert [(part["text"], part["actions"]) for part in found["passages"][0]["parts"]] == [(PASTED, [])]


@pytest.mark.parametrize("below", ["", "/tree", "/export?form=json", "?from=1"])
def test_a_passing_session_is_as_unknown_as_one_that_never_was(passing: Served, below: str) -> None:
    secret = passing.home.token(f"r{len(below)}", scope="read")
    there = get(passing, f"/sessions/http:one{below}", secret, status=404)
    never = get(passing, f"/sessions/http:two{below}", secret, status=404)
    assert {**there, "message": there["message"].replace("one", "two")} == never


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose turns stay for their session only, and one such session."""
    home = home_in(tmp_path_factory.mktemp("passing"))
    home.configure('[capture]\nstore_turns = "session"\n')
    secret = home.token("writer", scope="read,write")
    with serving(home) as running:
        told = post(running, "/turn", secret, {"user": "Said in passing", "session_id": "one"})
        assert told["status"] == "captured"
        assert get(running, f"/events/{told['turn_id']}", secret, status=404)["code"] == "not_found"
        assert get(running, "/sessions", secret)["sessions"] == []
        assert get(running, "/status", secret)["passing"] == 1
        yield running


# ---------------------------------------------------------------- what would do harm in a page


@pytest.fixture(scope="module")
def harm(served: Served, secret: str) -> str:
    """A session that tells of scripts, under a name that no file may have."""
    name = '../"x"<b> line'
    told = {"content": HARM, "source": "harm", "session_id": name}
    served.answer("memory_capture", told, secret, "default")
    found = [one["session"] for one in get(served, "/sessions", secret)["sessions"] if one["agent"] == "mcp"]
    return f"/sessions/{quote(found[0], safe='')}"


def test_markup_that_was_stored_comes_back_as_data(served: Served, reader: str, harm: str) -> None:
    turn = get(served, harm, reader)["turns"][0]
    assert turn["text"] == HARM
    found = post(served, "/passages", reader, {"query": "onerror alert"})
    assert any(part["text"] == HARM for passage in found["passages"] for part in passage["parts"])


def test_an_exported_page_holds_no_markup_of_what_was_said(served: Served, reader: str, harm: str) -> None:
    answer = served.ask(f"{harm}/export?form=html", method="GET", secret=reader)
    assert answer.status_code == 200
    assert "<script" not in answer.text
    assert "<img" not in answer.text
    assert "<b>" not in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;img" in answer.text
    assert "default-src 'none'" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    name = re.fullmatch(r'attachment; filename="([A-Za-z0-9._-]+\.html)"', answer.headers["content-disposition"])
    assert name is not None
    assert not name[1].startswith(".")


def test_exported_markdown_holds_every_word_behind_a_fence(served: Served, reader: str, harm: str) -> None:
    text = served.ask(f"{harm}/export?form=md", method="GET", secret=reader).text
    assert f"`````text\n{HARM}\n`````" in text
    assert "<b>" not in text.replace("\\<b\\>", "")


def test_an_export_as_json_is_the_session(served: Served, reader: str) -> None:
    answer = served.ask(f"/sessions/{CLAUDE}/export?form=json", method="GET", secret=reader)
    whole = get(served, f"/sessions/{CLAUDE}", reader)
    assert json.loads(answer.text) == {"session": whole["session"], "turns": whole["turns"]}


# ---------------------------------------------------------------- at a glance


def test_the_timeline_counts_every_turn_once(served: Served, reader: str) -> None:
    found = get(served, "/timeline?project=" + quote(PROJECT), reader)
    listed = get(served, "/sessions?project=" + quote(PROJECT), reader)["sessions"]
    assert sum(day["turns"] for day in found["days"]) == sum(one["turns"] for one in listed)
    assert [day["day"] for day in found["days"]] == sorted(day["day"] for day in found["days"])
    one = found["days"][0]
    alone = get(served, f"/timeline?agent={one['agent']}&after={one['day']}&before={one['day']}", reader)
    assert [day for day in alone["days"] if day["project"] == one["project"]] == [one]


def test_status_tells_of_the_store_the_daemon_and_the_disk(served: Served, reader: str) -> None:
    found = get(served, "/status", reader)
    assert found["turns"] > 0
    assert found["daemon"]["running"] is False
    assert found["disk"]["store_bytes"] > 0
    assert found["disk"]["free_bytes"] > 0


@pytest.mark.line("D11")
def test_a_token_of_one_space_is_told_nothing_of_the_home_or_of_other_spaces(served: Served, secret: str) -> None:
    served.home.space("narrow")
    served.home.token("wide", space="narrow", scope="read", more=("--space", "default"))
    own = served.home.token("narrow-admin", space="narrow", scope="read,admin")
    served.answer("memory_capture", {"content": "Said in a corner.", "source": "x"}, secret, "narrow")
    listed = get(served, "/tokens", own, space="narrow")["tokens"]
    assert [one["label"] for one in listed] == ["narrow-admin"]
    found = get(served, "/status", own, space="narrow")
    assert (found["turns"], found["store"], found["daemon"], found["disk"]) == (1, None, None, None)
    for path in ("/status", "/me", "/filters", "/health", "/tokens", "/sessions"):
        answer = served.ask(path, method="GET", secret=own, space="narrow").text
        for place in (
            served.home.environment["HOME"],
            served.home.environment["RAW_RAG_HOME"],
            PROJECT,
            '"default"',
            "wide",
        ):
            assert place not in answer, path
    assert get(served, "/status", secret, space="narrow")["disk"]["store_bytes"] > 0


def test_the_name_of_the_model_is_told_to_those_who_may_chat(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    home.configure('[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "a-model"\n')
    talker, reader = home.token("talker", scope="read,chat"), home.token("reader", scope="read")
    with serving(home) as running:
        assert get(running, "/me", talker)["models"] == ["a-model"]
        told = get(running, "/me", reader)
        assert (told["chat"], told["model"], told["models"]) == (True, None, [])


def test_tokens_are_listed_without_what_opens_anything(served: Served, secret: str, reader: str) -> None:
    listed = get(served, "/tokens", secret)["tokens"]
    assert {"page", "reader"} <= {one["label"] for one in listed}
    text = json.dumps(listed)
    assert secret not in text
    assert "hash" not in text
    assert get(served, "/tokens", reader, status=403)["code"] == "forbidden"


# ---------------------------------------------------------------- memory


def test_notes_come_page_by_page_with_what_they_rest_on(served: Served, secret: str) -> None:
    for number in range(5):
        served.answer("memory_save", {"content": f"Rule number {number} of the page", "source": "x"}, secret, "default")
    whole = paged(served, "/notes", secret, "notes", 200)
    assert paged(served, "/notes", secret, "notes", 2) == whole
    assert {f"Rule number {number} of the page" for number in range(5)} <= {one["statement"] for one in whole}
    assert paged(served, "/notes?status=deprecated", secret, "notes", 2) == []
    learned = get(served, "/timeline", secret)["learned"]
    assert {one["id"] for one in whole} <= {one["id"] for one in learned}


def test_a_person_decides_what_becomes_a_note_in_their_own_words(served: Served, secret: str, reader: str) -> None:
    told = "We may prefer tabs over spaces in this project from now on."
    event = served.answer("memory_capture", {"content": told, "source": "x", "role": "user"}, secret, "default")[
        "event_id"
    ]
    first, second = (
        proposed(served, statement, told, event)
        for statement in ("The project prefers tabs", "Spaces are fine as well")
    )
    listed = get(served, "/candidates", secret)["candidates"]
    assert {(one["id"], one["quote"], tuple(one["evidence"])) for one in listed} == {
        (first, told, (event,)), (second, told, (event,))
    }  # fmt: skip
    assert get(served, "/candidates", reader, status=403)
    body = {"statement": "Indent with tabs in this project", "note": "agreed"}
    made = post(served, f"/candidates/{first}/promote", secret, body)
    (one,) = made["promoted"]
    note = next(one_note for one_note in get(served, "/notes", secret)["notes"] if one_note["id"] == one["node_id"])
    assert (note["statement"], note["evidence"]) == ("Indent with tabs in this project", [event])
    assert get(served, f"/events/{event}", secret)["text"] == told
    rejected = {item["id"]: item for item in get(served, "/candidates?status=rejected", secret)["candidates"]}
    assert one["candidate_id"] in rejected[first]["reason"]
    post(served, f"/candidates/{second}/reject", secret, {"reason": "not so"})
    assert get(served, "/candidates", secret)["candidates"] == []
    assert post(served, f"/candidates/{second}/reject", secret, {"reason": " "}, status=400)
    assert post(served, "/candidates/cnone/promote", secret, {}, status=404)


# ---------------------------------------------------------------- forgetting


def test_forgetting_shows_first_what_it_would_take(served: Served, secret: str, reader: str) -> None:
    told = {"content": "Something to be forgotten later", "source": "x", "session_id": "short-lived"}
    served.answer("memory_capture", told, secret, "default")
    body = {"session": "mcp:short-lived"}
    planned = post(served, "/forget", secret, body)
    assert (planned["dry_run"], planned["sessions"], planned["turns"]) == (True, 1, 1)
    assert [one["session"] for one in planned["preview"]] == ["mcp:short-lived"]
    assert len(get(served, "/sessions/mcp:short-lived", reader)["turns"]) == 1
    assert post(served, "/forget", reader, body, status=403)
    for nothing in ({}, {"project": "*"}, {"session": ""}, {"dry_run": False}):
        assert post(served, "/forget", secret, nothing, status=400)["code"] == "bad_argument"
    done = post(served, "/forget", secret, {**body, "dry_run": False, "reason": "a test"})
    assert (done["dry_run"], done["turns"]) == (False, 1)
    assert get(served, "/sessions/mcp:short-lived", reader)["turns"] == []
    assert [row["actor"] for row in served.home.journal() if row["action"] == "forget"] == ["page"]


# ---------------------------------------------------------------- who is let in


@pytest.mark.parametrize("path", READS)
def test_nothing_is_read_without_a_good_token_and_its_space(served: Served, path: str) -> None:
    assert served.ask(path, method="GET").status_code == 401
    assert served.ask(path, method="GET", secret="rrt_wrong").status_code == 401


def test_a_space_is_only_read_with_its_own_token(served: Served) -> None:
    bare = served.home.token("bare-only", space="bare")
    for path in READS:
        assert served.ask(path, method="GET", secret=bare, space="default").status_code == 404


def test_a_space_without_a_store_answers_with_nothing(served: Served, secret: str) -> None:
    assert post(served, "/passages", secret, {"query": "anything"}, space="bare")["passages"] == []
    for path, name in (
        ("/sessions", "sessions"),
        ("/notes", "notes"),
        ("/candidates", "candidates"),
        ("/timeline", "days"),
    ):
        assert get(served, path, secret, space="bare")[name] == []
    assert get(served, "/filters", secret, space="bare")["agents"] == []
    assert get(served, "/status", secret, space="bare")["turns"] == 0
    assert post(served, "/forget", secret, {"session": "x"}, space="bare")["turns"] == 0
    assert get(served, "/sessions/x", secret, space="bare", status=404)
    assert get(served, "/events/x", secret, space="bare", status=404)
    assert not (served.home.store / "spaces" / "bare").exists()


def test_a_home_without_logs_shows_an_empty_page(tmp_path: Path) -> None:
    home = home_in(tmp_path)
    secret = home.token("page", scope="read,admin")
    with serving(home) as running:
        for path in ("/filters", "/sessions", "/timeline", "/status", "/notes", "/tokens"):
            get(running, path, secret)
        assert post(running, "/passages", secret, {"query": "anything"})["passages"] == []
