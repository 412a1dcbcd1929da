"""The served answers, over a real socket. The daemon's part is in this process; who asks it is another client."""

from __future__ import annotations

import base64
import json
import os
import socket
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from agent_raw_rag import __version__
from agent_raw_rag.daemon.serving import Serving
from agent_raw_rag.encode.base import Vectors
from agent_raw_rag.encode.daemon_address import ADDRESS_FILE, SOCKET, Address, find
from agent_raw_rag.encode.daemon_link import MAX_REQUEST_BYTES
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.errors import StoreBusyError
from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import Runtime
from tests.daemon.running import client, environment
from tests.samples import PROJECT, sample_runtime

HASHING = '[encoder]\nname = "hashing"\ndim = 64\n'
unix_only = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets")


@pytest.fixture(scope="module", params=[None, False], ids=["socket", "port"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Runtime, Address]]:
    """A runtime over the sample logs, and where it serves."""
    runtime = sample_runtime(tmp_path_factory.mktemp("served"), config=HASHING)
    serving = Serving(runtime, unix=request.param)
    yield runtime, serving.start()
    serving.stop()


@pytest.fixture
def asked(served: tuple[Runtime, Address]) -> Iterator[httpx2.Client]:
    with client(served[1]) as made:
        yield made


def error(response: httpx2.Response, status: int) -> dict[str, Any]:
    """The error of a refusal, which is JSON with three keys and no traceback."""
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    assert list(body) == ["error"] and list(body["error"]) == ["code", "message", "hint"]
    assert "Traceback" not in response.text and body["error"]["message"]
    found: dict[str, Any] = body["error"]
    return found


def test_health_says_who_serves_what(served: tuple[Runtime, Address], asked: httpx2.Client) -> None:
    health = asked.get("/health").json()
    encoder = served[0].spaces.encoder()
    assert encoder is not None
    assert (health["pid"], health["version"]) == (os.getpid(), __version__)
    assert health["space"] == encoder.space.name and health["spaces"] == [encoder.space.name]
    assert health["uptime_seconds"] >= 0 and health["problems"] == []


@pytest.mark.parametrize("form", ["float", "base64"])
@pytest.mark.parametrize("kind", ["query", "passage"])
def test_vectors_are_those_of_the_encoder_to_the_last_bit(
    served: tuple[Runtime, Address], asked: httpx2.Client, form: str, kind: str
) -> None:
    texts = ["drop the retry", "", "\ud800 alone", "三 words"]
    encoder = served[0].spaces.encoder()
    assert encoder is not None
    body = {"input": texts, "input_type": kind, "encoding_format": form, "model": encoder.space.name}
    answer = asked.post("/v1/embeddings", content=json.dumps(body)).json()
    rows = [one["embedding"] for one in answer["data"]]
    found = [np.frombuffer(base64.b64decode(row), "<f4") if form == "base64" else np.array(row, "<f4") for row in rows]
    assert [one["index"] for one in answer["data"]] == [0, 1, 2, 3]
    assert np.array(found).tobytes() == encoder.encode_passages(texts).tobytes()


def test_while_a_new_space_fills_both_are_served_and_the_searched_one_is_the_default(tmp_path: Path) -> None:
    runtime = sample_runtime(tmp_path, config=HASHING)
    changed = runtime.environment["RAW_RAG_HOME"] + "/config.toml"
    Path(changed).write_text(HASHING.replace("64", "32"), encoding="utf-8")
    serving = Serving(Runtime.load(None, runtime.environment))
    with client(serving.start()) as asked:
        health = asked.get("/health").json()
        assert len(health["spaces"]) == 2 and health["space"] == health["spaces"][0]
        for space, dim in zip(["", *health["spaces"]], [64, 64, 32], strict=True):
            answer = asked.post("/v1/embeddings", json={"input": "a", "model": space}).json()
            assert len(answer["data"][0]["embedding"]) == dim
    serving.stop()


def test_a_model_of_a_server_elsewhere_is_not_served_nor_asked(tmp_path: Path) -> None:
    config = '[encoder]\nname = "http"\nurl = "http://127.0.0.1:9/v1"\n[reranker]\nname = "none"\n'
    serving = Serving(Runtime.load(None, environment(tmp_path, config)))
    with client(serving.start()) as asked:
        health = asked.get("/health").json()
        assert (health["space"], health["spaces"], health["problems"]) == (None, [], [])
        assert error(asked.post("/v1/embeddings", json={"input": "a"}), 404)["code"] == "not_found"
        assert error(asked.post("/search", json={"query": "a"}), 503)["code"] == "store"
    serving.stop()


def test_tokens_are_counted_as_here(served: tuple[Runtime, Address], asked: httpx2.Client) -> None:
    texts = ["drop the retry", "", "\ud800 alone", "三 words <|endoftext|>"]
    found = asked.post("/v1/token_counts", content=json.dumps({"input": texts})).json()
    assert found == {"counts": [len(served[0].tokenizer.encode(text)) for text in texts]}
    assert error(asked.post("/v1/token_counts", json={"input": "a"}), 400)["code"] == "bad_argument"


def test_a_search_gives_what_the_command_gives(served: tuple[Runtime, Address], asked: httpx2.Client) -> None:
    found = asked.post("/search", json={"query": "drop the retry", "project": PROJECT, "top_k": 2}).json()
    mine = served[0].search("drop the retry", Ask(project=PROJECT), top_k=2).as_json()
    assert found["passages"] and found == {"project": PROJECT, **mine}


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/search", {"query": " "}, 400, "bad_argument"),
        ("/search", {"query": "a", "agent": "nobody"}, 400, "bad_argument"),
        ("/search", {"query": "a", "branch": "\ud800"}, 400, "bad_argument"),
        ("/search", {"query": "a", "session": "nothing"}, 404, "not_found"),
        ("/v1/embeddings", {"input": "a", "model": "another-space"}, 404, "not_found"),
        ("/v1/embeddings", {"input": "a", "dimensions": 3}, 400, "bad_argument"),
        ("/v1/rerank", {"query": "a", "documents": ["b"], "model": "nobody"}, 404, "not_found"),
        ("/nowhere", {}, 404, "no_such_path"),
        ("/health", {}, 405, "wrong_method"),
    ],
)
def test_a_refusal_says_what_is_wrong(
    asked: httpx2.Client, path: str, body: dict[str, Any], status: int, code: str
) -> None:
    assert error(asked.post(path, content=json.dumps(body)), status)["code"] == code


def test_a_body_that_is_too_large_is_refused_and_the_next_one_is_not(asked: httpx2.Client) -> None:
    content = b'{"input": "' + b"a" * MAX_REQUEST_BYTES + b'"}'
    assert error(asked.post("/v1/embeddings", content=content), 413)["code"] == "too_large"
    pieces = (content[start : start + 1_000_000] for start in range(0, len(content), 1_000_000))
    assert error(asked.post("/v1/embeddings", content=pieces), 413)["code"] == "too_large"  # no length was told
    assert asked.post("/v1/embeddings", json={"input": "a"}).status_code == 200


def test_without_the_token_nothing_is_answered(served: tuple[Runtime, Address]) -> None:
    address = served[1]
    if address.path:
        pytest.skip("the socket's permissions suffice")
    for token in ("wrong", "é", ""):
        with client(address, token=token) if token.isascii() else client(Address(port=address.port)) as stranger:
            shown = {} if token.isascii() else {"authorization": "Bearer é".encode()}
            for method, path in (("GET", "/health"), ("POST", "/search"), ("POST", "/v1/embeddings")):
                refused = stranger.request(method, path, content=b'{"query": "a", "input": "a"}', headers=shown)
                assert error(refused, 401)["code"] == "wrong_token"


def mode(path: Path | str) -> int:
    return stat.S_IMODE(Path(path).lstat().st_mode)


@unix_only
def test_the_socket_is_the_users_alone_and_goes_with_its_owner(tmp_path: Path) -> None:
    made = environment(tmp_path, HASHING)
    home = Path(made["RAW_RAG_HOME"])
    before = os.umask(0)
    try:
        serving = Serving(Runtime.load(None, made))
        address = serving.start()
    finally:
        os.umask(before)
    assert find(str(home)) == address == Address(str(home / SOCKET))
    assert mode(home / SOCKET) == 0o600 and mode(home) == 0o700
    assert serving.is_running()
    serving.stop()
    serving.stop()
    assert not serving.is_running() and find(str(home)) is None


def test_the_token_is_the_users_alone_and_goes_with_its_owner(tmp_path: Path) -> None:
    made = environment(tmp_path, HASHING)
    home = Path(made["RAW_RAG_HOME"])
    serving = Serving(Runtime.load(None, made), unix=False)
    address = serving.start()
    assert find(str(home)) == address and len(address.token) > 40
    assert mode(home / ADDRESS_FILE) == 0o600
    serving.stop()
    assert find(str(home)) is None


@unix_only
def test_a_second_one_is_refused_and_leaves_the_first_ones_socket(tmp_path: Path) -> None:
    runtime = Runtime.load(None, environment(tmp_path, HASHING))
    first, second = Serving(runtime), Serving(runtime)
    address = first.start()
    with pytest.raises(StoreBusyError, match=f"process {os.getpid()}"):
        second.start()
    second.stop()
    with client(address) as asked:
        assert asked.get("/health").status_code == 200
    first.stop()
    assert second.start() == address
    second.stop()


@unix_only
@pytest.mark.parametrize("runtime_folder", [True, False])
def test_a_home_whose_path_is_too_long_has_its_socket_elsewhere(
    tmp_path: Path, runtime_folder: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path.parent.parent))
    made = environment(tmp_path / ("long" * 30), HASHING)
    if runtime_folder:
        (tmp_path / "run").mkdir(mode=0o700)
        made["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    serving = Serving(Runtime.load(None, made))
    address = serving.start()
    assert find(made["RAW_RAG_HOME"]) == address
    folder = Path(address.path).parent
    assert (folder == tmp_path / "run") is runtime_folder
    assert mode(address.path) == 0o600 and mode(folder) == 0o700
    with client(address) as asked:
        assert asked.get("/health").json()["pid"] == os.getpid()
    serving.stop()
    assert find(made["RAW_RAG_HOME"]) is None and not Path(address.path).exists()


@unix_only
def test_a_runtime_folder_that_others_may_enter_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path.parent.parent))
    made = environment(tmp_path / ("long" * 30), HASHING)
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o755)
    made["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    serving = Serving(Runtime.load(None, made))
    assert Path(serving.start().path).parent != tmp_path / "run"
    serving.stop()


class Stuck(HashingEncoder):
    """Comes back when it is told to."""

    def __init__(self) -> None:
        super().__init__(64)
        self.asked, self.go_on = threading.Event(), threading.Event()

    def encode_query(self, text: str) -> Vectors:
        self.asked.set()
        self.go_on.wait(60)
        return super().encode_query(text)


def test_who_is_not_answered_before_the_end_is_told_so_and_nothing_is_complained_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runtime, stuck = Runtime.load(None, environment(tmp_path, HASHING)), Stuck()
    choice = runtime.models.encoder_choice(None)
    assert choice is not None
    runtime.models._encoders[choice.key] = stuck
    serving = Serving(runtime)
    with client(serving.start()) as asked, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(asked.post, "/v1/embeddings", json={"input": "a", "input_type": "query"})
        assert stuck.asked.wait(60)
        serving.stop()
        assert error(answer.result(), 503)["code"] == "ending"
        stuck.go_on.set()
    assert "Traceback" not in caplog.text and "Exception" not in caplog.text


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("", ""),
        ("POST /sea", ""),
        (
            "POST /search HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\ncontent-length: 9\r\n\r\n[",
            "HTTP/1.1 408",
        ),
    ],
)
def test_who_asks_nothing_or_half_is_let_go_and_others_are_answered(tmp_path: Path, said: str, answer: str) -> None:
    serving = Serving(Runtime.load(None, environment(tmp_path, HASHING)), unix=False, request_seconds=0.2)
    address = serving.start()
    with socket.create_connection(("127.0.0.1", address.port), timeout=30) as idle:
        idle.sendall(said.format(address.token).encode())
        told = idle.recv(4096).decode()
        assert told.startswith(answer) and bool(told) == bool(answer)  # who asked nothing is told nothing
    with client(address) as asked:
        assert asked.get("/health").status_code == 200
    serving.stop()
