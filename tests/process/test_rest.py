"""The REST API of a real ``raw-rag serve``: what is kept, found, retired and recorded over it, and its description."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from openapi_spec_validator import validate

from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.portable import OWNER
from tests.servers.memory_http import Served, home_in, serving

pytestmark = pytest.mark.process


class Api:
    """One token in one space of a server that runs."""

    def __init__(self, served: Served, secret: str, space: str = "proj") -> None:
        self.served, self.secret, self.space = served, secret, space

    def ask(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        return self.served.ask(
            path, method=method, secret=self.secret, space=self.space, body={} if body is None else body
        )

    def get(self, path: str) -> Any:
        return told(self.ask("GET", path))

    def post(self, path: str, **body: Any) -> Any:
        return told(self.ask("POST", path, body))

    def refused(self, method: str, path: str, status: int, body: Any = None) -> dict[str, str]:
        """The error, in its one form."""
        response = self.ask(method, path, body)
        assert response.status_code == status, (response.status_code, response.text)
        assert response.headers["content-type"] == "application/json"
        error: dict[str, str] = response.json()
        assert set(error) == {"error", "code", "message", "hint"} and error["error"] == error["code"]
        return error


def told(response: httpx2.Response) -> Any:
    assert response.status_code == 200, (response.status_code, response.text)
    assert response.headers["content-type"] == "application/json"
    return response.json()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = home_in(tmp_path_factory.mktemp("rest"))
    home.configure("")
    home.token("first")
    with serving(home) as running:
        yield running
        assert running.end() == 0
        assert "Traceback" not in running.said[1], running.said[1]


@pytest.fixture
def api(served: Served, request: pytest.FixtureRequest) -> Api:
    """A space of its own for each test, with a token that has its name."""
    space = f"s{zlib.crc32(request.node.name.encode())}"
    runtime, now = Runtime.load(None, served.home.environment), time.time_ns() // 1_000_000
    runtime.spaces_registry.create(space, actor=OWNER, now=now)
    made = runtime.tokens.create(space, spaces=[space], scopes=["read", "write", "curate"], actor=OWNER, now=now)
    return Api(served, made.secret, space)


@pytest.mark.line("H1")
def test_a_stored_text_has_an_id_that_is_a_string_everywhere(api: Api) -> None:
    stored = api.post("/store", text="The release window is Tuesday.")
    assert stored["status"] == "stored" and stored["created"] is True and isinstance(stored["id"], str)
    (found,) = api.post("/search", query="release window")["results"]
    assert found["id"] == stored["id"]
    assert api.get(f"/memory/{stored['id']}")["id"] == stored["id"]
    assert api.post("/store", text="The release window is Tuesday.") == {**stored, "created": False}


@pytest.mark.line("H1")
@pytest.mark.parametrize(
    "body", [{}, {"text": "  "}, {"text": 1}, {"text": "x", "unknown": 1}, [], "text", b"{", b"\xff"]
)
def test_a_body_without_a_text_is_a_json_error(api: Api, body: Any) -> None:
    assert api.refused("POST", "/store", 400, body)["code"] == "bad_argument"
    assert api.get("/count")["count"] == 0


def test_everything_that_is_said_of_a_memory_is_kept(api: Api) -> None:
    said = {
        "category": "decision", "collection": "deploys", "tags": "a, b", "source": "ragger", "timestamp": "2026-01-02T03:04:05Z",
        "ticket": 7, "deep": {"list": [1, None, True]},
    }  # fmt: skip
    stored = api.post("/store", text="We deploy by hand.", metadata=said, common=True)
    (found,) = api.post("/search", query="deploy by hand")["results"]
    assert found["timestamp"] == "2026-01-02T03:04:05.000Z"
    expected = {key: value for key, value in said.items() if key != "timestamp"} | {"tags": ["a", "b"]}
    assert found["metadata"] == expected
    note = api.get(f"/memory/{stored['id']}")["note"]
    assert (note["kind"], note["topic"], note["source"], note["tags"]) == ("decision", "deploys", "ragger", ["a", "b"])


def test_an_unknown_category_is_kept_and_the_source_is_the_tokens_label(api: Api) -> None:
    api.post("/store", text="A summary of that session.", metadata={"category": "session-summary"})
    (found,) = api.post("/search", query="summary session")["results"]
    assert found["metadata"] == {"collection": "memory", "category": "session-summary", "source": api.space}


def test_secrets_in_metadata_are_masked(api: Api) -> None:
    secret = "sk-ant-api03-" + "".join("Ab3dE6gH9"[n % 9] for n in range(93)) + "-AAAAAAAA"
    stored = api.post("/store", text="The key is elsewhere.", metadata={"where": {"key": secret}})
    assert secret not in str(api.get(f"/memory/{stored['id']}"))


def test_a_conversation_is_a_turn_and_says_what_it_has_no_place_for(api: Api) -> None:
    said = {"category": "conversation", "session_id": "s1", "mood": "good"}
    stored = api.post("/store", text="User: hello teapot. Assistant: hi.", metadata=said)
    assert stored["id"].startswith("e") and stored["ignored"] == ["mood"]
    (found,) = api.post("/search", query="teapot")["results"]
    assert found["id"] == stored["id"] and found["metadata"]["session_id"] == "s1"


@pytest.mark.line("H2")
def test_notes_and_turns_stand_in_one_list_by_the_score_that_is_shown(api: Api) -> None:
    note = api.post("/store", text="The teapot is blue.", metadata={"collection": "kitchen"})["id"]
    turn = api.post("/turn", user="Which colour has the teapot, by the way?", session_id="s")["turn_id"]
    other = api.post("/store", text="A saucer is blue.")["id"]
    found = api.post("/search", query="blue teapot", limit=5)
    results = found["results"]
    assert {one["id"] for one in results} == {note, turn, other} and results[0]["id"] == note
    scores = [one["score"] for one in results]
    assert scores == sorted(scores, reverse=True) and all(0 < score <= 1 for score in scores)
    assert set(results[0]) == {"id", "text", "score", "metadata", "timestamp"}
    best = api.post("/search", query="blue teapot", min_score=scores[0])["results"]
    assert [one["id"] for one in best] == [note], "the score that is shown is the one that cuts"
    timing = found["timing"]
    assert set(timing) == {"embedding_ms", "search_ms", "total_ms", "corpus_size", "filtered_size"}
    assert timing["corpus_size"] == timing["filtered_size"] == 3 and timing["embedding_ms"] == 0
    assert 0 < timing["search_ms"] <= timing["total_ms"]


@pytest.mark.line("H2")
def test_collections_limit_what_is_searched(api: Api) -> None:
    kitchen = api.post("/store", text="The teapot is blue.", metadata={"collection": "kitchen"})["id"]
    plain = api.post("/store", text="A teapot has a spout.")["id"]
    turn = api.post("/turn", user="Where is the teapot?", session_id="s")["turn_id"]
    for collections, expected in (
        (["kitchen"], {kitchen}), (["memory"], {plain}), (["conversation"], {turn}),
        (["Kitchen", "conversation"], {kitchen, turn}),
        (["*"], {kitchen, plain, turn}), (["all"], {kitchen, plain, turn}), ([], {kitchen, plain, turn}), (["nothing"], set()),
    ):  # fmt: skip
        found = api.post("/search", query="teapot", collections=collections)
        assert {one["id"] for one in found["results"]} == expected, collections
        assert (found["timing"]["corpus_size"], found["timing"]["filtered_size"]) == (3, len(expected))


@pytest.mark.parametrize("query", ["", '"', "AND OR (", "*", "\0", "鐵", "nothing of that sort"])
def test_odd_queries_find_nothing_and_raise_nothing(api: Api, query: str) -> None:
    assert api.post("/search", query=query)["results"] == []
    api.post("/store", text="The teapot is blue.")
    assert api.post("/search", query=query)["results"] == []


def test_limits_are_brought_to_what_is_possible(api: Api) -> None:
    for number in range(3):
        api.post("/store", text=f"The teapot number {number} is blue.")
    for limit, expected in ((0, 1), (-5, 1), (2, 2), (10**6, 3), (10**30, 3)):
        assert len(api.post("/search", query="teapot", limit=limit)["results"]) == expected
    api.refused("POST", "/search", 400, {"query": "x" * 10_001})
    api.refused("POST", "/search", 400, b'{"query": "x", "min_score": NaN}')


@pytest.mark.line("H3")
def test_a_deleted_memory_is_retired_and_stays_in_the_history(api: Api) -> None:
    stored = api.post("/store", text="The teapot is blue.")["id"]
    assert told(api.ask("DELETE", f"/memory/{stored}?reason=broken")) == {"id": stored, "status": "deleted"}
    assert api.post("/search", query="teapot")["results"] == []
    note = api.get(f"/memory/{stored}")["note"]
    assert (note["status"], note["reason"]) == ("deprecated", "broken")
    assert api.refused("DELETE", f"/memory/{stored}", 409)["code"] == "not_active"
    (row,) = api.get("/journal?action=deprecate")["entries"]
    assert (row["target"], row["actor"], row["transport"]) == (stored, api.space, "http")


@pytest.mark.line("H3")
def test_unknown_protected_and_spoken_memories_are_told_apart(api: Api) -> None:
    kept = api.post("/store", text="The teapot is blue.", metadata={"tags": ["keep"]})["id"]
    assert api.refused("DELETE", f"/memory/{kept}", 409)["code"] == "protected"
    assert api.get(f"/memory/{kept}")["note"]["status"] == "active"
    turn = api.post("/turn", user="Where is it?", session_id="s")["turn_id"]
    assert "turn" in api.refused("DELETE", f"/memory/{turn}", 400)["message"]
    for unknown in ("n" + "0" * 20, "e" + "0" * 20, "1", "%00", "%ff", "x" * 5000, "..%2fstore", "%22%3Cscript%3E"):
        for method, body in (("DELETE", None), ("GET", None), ("PUT", {"content": "x"})):
            assert api.refused(method, f"/memory/{unknown}", 404, body)["code"] == "not_found"


def test_several_are_deleted_and_those_that_are_not_are_named(api: Api) -> None:
    one = api.post("/store", text="The teapot is blue.")["id"]
    kept = api.post("/store", text="The saucer is green.", metadata={"tags": "keep"})["id"]
    done = api.post("/delete_batch", ids=[one, one, kept, "nonsense"])
    assert done["deleted"] == 1
    assert [(failed["id"], failed["code"]) for failed in done["failed"]] == [
        (kept, "protected"),
        ("nonsense", "not_found"),
    ]
    api.refused("POST", "/delete_batch", 400, {"ids": []})
    api.refused("POST", "/delete_batch", 400, {"ids": ["x"] * 1001})


def test_a_put_replaces_a_note_and_keeps_what_is_said_of_it(api: Api) -> None:
    old = api.post("/store", text="The teapot is blue.", metadata={"collection": "kitchen", "shelf": 3})["id"]
    done = told(api.ask("PUT", f"/memory/{old}", {"content": "The teapot is green.", "note": "repainted"}))
    assert done["deprecated_atom_id"] == old and done["topic"] == "kitchen" and done["source"] == api.space
    new = api.get(f"/memory/{done['new_node_id']}")
    assert new["metadata"]["shelf"] == 3 and [one["id"] for one in new["history"]] == [old, done["new_node_id"]]
    assert api.refused("PUT", f"/memory/{old}", 409, {"content": "x"})["code"] == "not_active"


@pytest.mark.line("H4")
def test_metadata_finds_the_newest_first_within_after_and_before(api: Api) -> None:
    ids = [
        api.post("/store", text=f"Fact {day}", metadata={"timestamp": f"2026-01-0{day}", "project": "x", "day": day})[
            "id"
        ]
        for day in (2, 1, 4, 3)
    ]
    by_day = [ids[2], ids[3], ids[0], ids[1]]
    found = api.post("/search_by_metadata", metadata={"project": "x"})
    assert [one["id"] for one in found["results"]] == by_day and found["count"] == 4 and found["next"] is None
    within = {"after": "2026-01-02", "before": "2026-01-04"}
    found = api.post("/search_by_metadata", metadata={"project": "x"}, **within)
    assert [one["metadata"]["day"] for one in found["results"]] == [3, 2]
    assert api.post("/search_by_metadata", metadata={"project": "x", "day": 1})["results"][0]["id"] == ids[1]
    for none in ({"project": "y"}, {"day": True}, {"day": "1"}, {"other": None}, {"project": "x", "day": 9}):
        assert api.post("/search_by_metadata", metadata=none)["results"] == []


@pytest.mark.line("H4")
def test_metadata_is_read_page_by_page_and_a_foreign_cursor_is_refused(api: Api) -> None:
    made = {
        api.post("/store", text=f"Fact {number}", metadata={"timestamp": "2026-01-01"})["id"] for number in range(5)
    }
    seen, cursor = list[str](), None
    while True:
        page = api.post("/search_by_metadata", metadata={"category": "fact"}, limit=2, cursor=cursor)
        seen += [one["id"] for one in page["results"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert len(seen) == 5 and set(seen) == made
    for bad in ("x", "", "A" * 3000, "\0"):
        api.refused("POST", "/search_by_metadata", 400, {"metadata": {}, "cursor": bad})


@pytest.mark.line("H4")
def test_tags_are_found_by_membership(api: Api) -> None:
    both = api.post("/store", text="One", metadata={"tags": ["bad", "ui"]})["id"]
    api.post("/store", text="Two", metadata={"tags": ["badly"]})
    for tags in (["bad"], "bad", ["bad", "ui"], "ui,bad"):
        assert [one["id"] for one in api.post("/search_by_metadata", metadata={"tags": tags})["results"]] == [both]
    assert api.post("/search_by_metadata", metadata={"tags": ["bad", "none"]})["results"] == []


@pytest.mark.line("H5")
def test_a_turn_is_captured_once(api: Api) -> None:
    body = {"user": "Where is the teapot?", "assistant": "On the shelf.", "session_id": "s1", "model": "m-1"}
    first = api.post("/turn", **body)
    assert first["status"] == "captured" and len(first["turn_ids"]) == 2 and first["turn_id"] == first["turn_ids"][0]
    assert api.post("/turn", **body) == {**first, "status": "duplicate"}
    assert api.get("/count")["turns"] == 2
    found = {one["id"]: one["metadata"]["role"] for one in api.post("/search", query="teapot shelf")["results"]}
    assert found == {first["turn_ids"][0]: "user", first["turn_ids"][1]: "assistant"}


@pytest.mark.line("H5")
def test_words_that_are_said_again_are_another_turn_where_the_answer_or_the_place_differs(api: Api) -> None:
    say = {"user": "Go on.", "session_id": "s1"}
    ids = [api.post("/turn", **say, assistant=answer)["turn_id"] for answer in ("First.", "Second.")]
    ids += [api.post("/turn", **say, turn_index=index)["turn_id"] for index in (7, 8)]
    assert len(set(ids)) == 4
    later = api.post("/turn", **say, assistant="Eighth.", turn_index=8)
    assert later["status"] == "captured" and later["turn_id"] == ids[3], "the answer came later"
    assert api.post("/turn", **say, turn_index=8)["status"] == "duplicate"


def test_a_turn_without_words_or_session_is_refused(api: Api) -> None:
    for body in ({"user": " ", "session_id": "s"}, {"user": "x", "session_id": " "}, {"user": "x"}, {"session_id": "s"},
                 {"user": "x", "session_id": "s", "timestamp": "never"}, {"user": "x", "session_id": "s" * 300}):  # fmt: skip
        assert api.refused("POST", "/turn", 400, body)["code"] == "bad_argument"
    assert api.get("/count")["count"] == 0


@pytest.mark.line("H5")
def test_turns_are_not_captured_where_that_is_switched_off(tmp_path: Any) -> None:
    home = home_in(tmp_path)
    home.configure("[capture]\nstore_turns = false\n[memory]\nrules_enabled = false\n")
    api_token = home.token("laptop", space="proj")
    with serving(home) as served:
        api = Api(served, api_token)
        off: dict[str, Any] = {"status": "disabled", "turn_id": None, "turn_ids": []}
        assert api.post("/turn", user="Hello", session_id="s") == off
        assert api.get("/count")["count"] == 0
        kept = api.post("/store", text="The teapot is blue.")["id"]
        assert (
            api.refused("POST", "/store", 403, {"text": "Rule", "metadata": {"category": "rule"}})["code"]
            == "forbidden"
        )
        assert api.refused("PUT", f"/memory/{kept}", 403, {"content": "x"})["code"] == "forbidden"


def test_the_journal_is_read_page_by_page_the_last_act_first(api: Api) -> None:
    ids = [api.post("/store", text=f"Fact {number}")["id"] for number in range(3)]
    api.post("/turn", user="Hello", session_id="s")
    first = api.get("/journal?limit=2&action=save")
    rest = api.get(f"/journal?limit=2&action=save&cursor={first['next']}")
    assert [row["target"] for row in (*first["entries"], *rest["entries"])] == ids[::-1]
    assert rest["next"] is None and [row["action"] for row in api.get("/journal?limit=1")["entries"]] == ["capture"]
    assert api.get("/journal?since=2999-01-01")["entries"] == []
    for bad in ("cursor=x", "limit=x", "since=never", "nonsense=1", "limit=1&limit=2"):
        api.refused("GET", f"/journal?{bad}", 400)


def test_a_token_that_may_only_read_writes_nothing(served: Served, api: Api) -> None:
    stored = api.post("/store", text="The teapot is blue.")["id"]
    reader = Api(served, served.home.token(f"r-{api.space}", space=api.space, scope="read"), api.space)
    assert reader.refused("GET", "/journal", 403)["code"] == "forbidden"
    for method, path, body in (
        ("POST", "/store", {"text": "x"}), ("POST", "/turn", {"user": "x", "session_id": "s"}),
        ("DELETE", f"/memory/{stored}", None),
        ("PUT", f"/memory/{stored}", {"content": "x"}), ("POST", "/delete_batch", {"ids": [stored]}),
    ):  # fmt: skip
        assert reader.refused(method, path, 403, body)["code"] == "forbidden"
    assert reader.get(f"/memory/{stored}")["note"]["status"] == "active"
    assert len(reader.post("/search", query="teapot")["results"]) == 1


def test_the_history_of_a_note_is_for_those_who_curate(served: Served, api: Api) -> None:
    old = api.post("/store", text="The kettle is blue.")["id"]
    new = told(api.ask("PUT", f"/memory/{old}", {"content": "The kettle is green."}))["new_node_id"]
    writer = Api(served, served.home.token(f"w-{api.space}", space=api.space, scope="read,write"), api.space)
    assert [note["id"] for note in api.get(f"/memory/{new}")["history"]] == [old, new]
    seen = writer.get(f"/memory/{new}")
    assert (seen["text"], seen["history"]) == ("The kettle is green.", [])
    assert writer.refused("GET", "/journal?limit=1", 403)["code"] == "forbidden"


def test_another_space_knows_nothing_of_it(served: Served, api: Api) -> None:
    stored = api.post("/store", text="The teapot is blue.")["id"]
    other = Api(served, served.home.token(f"o-{api.space}", space="other"), "other")
    assert other.post("/search", query="teapot")["results"] == []
    other.refused("GET", f"/memory/{stored}", 404)
    other.refused("DELETE", f"/memory/{stored}", 404)
    Api(served, other.secret, api.space).refused("GET", "/count", 404)


def test_the_description_is_valid_and_names_every_operation(served: Served) -> None:
    response = served.ask("/openapi.json", method="GET")
    document = told(response)
    validate(document)
    paths = document["paths"]
    assert {"/health", "/openapi.json", "/store", "/search", "/turn", "/journal", "/memory/{memory}"} <= paths.keys()
    assert "/v1/*" in document["info"]["description"] and "/mcp/memory" in document["info"]["description"]
    names = [one["operationId"] for path in paths.values() for one in path.values()]
    assert len(set(names)) == len(names)
    for path, methods in paths.items():
        for method, one in methods.items():
            assert one["summary"] and "200" in one["responses"], (method, path)
            assert ("requestBody" in one) == ("413" in one["responses"]), (method, path)
