"""The daemon's loop and its socket in one process: agents' servers use its model, whatever is read meanwhile."""

from __future__ import annotations

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_raw_rag.models import Ask
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.store.lock import SOCKET, lock
from tests.daemon.running import client, find, health
from tests.process.test_daemon import RARELY
from tests.process.watching import CONFIG, LINES, Home, end, say_in_lines, wait_for

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="ended by signals that Windows does not have"),
]
EMBEDDED = CONFIG.replace("hashing", "embedded")


def test_a_search_elsewhere_uses_the_daemons_model(tmp_path: Path) -> None:
    home = Home.of(tmp_path, EMBEDDED)
    with home.watching(*RARELY) as daemon:
        wait_for(lambda: home.beat().backlog == 0, "all vectors")
        before = health(str(home.store))
        assert before["pid"] == daemon.pid and before["space"].startswith("bge-small")
        Runtime.load(None, home.variables).search("What did we say about the upload?", Ask())
        assert health(str(home.store))["made"]["vectors"] > before["made"]["vectors"]
        assert end(daemon) == 0
    assert find(str(home.store)) is None


def test_what_was_just_said_is_found_over_the_socket(tmp_path: Path) -> None:
    home = Home.of(tmp_path)
    with home.watching(*RARELY), client(find(str(home.store))) as asked:
        say_in_lines(home.path / LINES, "The heron codec drops the last frame.")
        body = {"query": "heron codec drops frame", "project": "*"}
        wait_for(lambda: "drops the last frame" in asked.post("/search", json=body).text, "finding it")


def test_a_new_configuration_is_served_without_a_pause(tmp_path: Path) -> None:
    home = Home.of(tmp_path, f"{CONFIG}\n")
    with home.watching(*RARELY) as daemon, client(find(str(home.store))) as asked:
        first = asked.get("/health").json()["space"]
        (home.store / "config.toml").write_text(CONFIG.replace('"hashing"', '"hashing"\ndim = 32'), encoding="utf-8")
        os.kill(daemon.pid, signal.SIGHUP)
        served = wait_for(lambda: set(asked.get("/health").json()["spaces"]) - {first}, "the other space")
        assert [space for space in served if space.startswith("hashing")]


def test_a_socket_that_is_not_to_be_had_stops_no_reading(tmp_path: Path) -> None:
    home = Home.of(tmp_path)
    home.store.mkdir(exist_ok=True)
    with lock(str(home.store), SOCKET, wait_seconds=0, purpose="a test"), home.watching(*RARELY) as daemon:
        assert "the model is not shared" in home.beat().serving
        say_in_lines(home.path / LINES, "The heron codec drops the last frame.")
        home.finds_soon("The heron codec drops the last frame.")
        assert end(daemon) == 0


def test_an_answer_that_never_comes_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """A server elsewhere that takes a request and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as pool:
        reranker = (
            f'name = "http"\nurl = "http://127.0.0.1:{silent.getsockname()[1]}"\nmodel = "m"\ntimeout_seconds = 600'
        )
        home = Home.of(tmp_path, CONFIG.replace('[reranker]\nname = "none"', f"[reranker]\n{reranker}"))
        with home.watching(*RARELY) as daemon, client(find(str(home.store))) as asked:
            answer = pool.submit(asked.post, "/v1/rerank", json={"query": "a", "documents": ["b"]})
            held, _ = silent.accept()
            with held:
                assert end(daemon) == 0
            assert answer.result().json()["error"]["code"] == "ending"
    assert home.beat().ended is not None


@pytest.mark.parametrize("instead", ["nothing", "file", "folder"])
def test_a_socket_that_was_removed_or_replaced_is_noticed_and_made_again(tmp_path: Path, instead: str) -> None:
    home = Home.of(tmp_path)
    socket = home.store / "daemon.sock"
    with home.watching("--interval", "1") as daemon:
        socket.unlink()
        if instead == "file":
            socket.write_text("not a socket", encoding="utf-8")
        if instead == "folder":
            (socket / "inside").mkdir(parents=True)
            wait_for(lambda: "is in the way" in home.beat().serving, "the problem")
        else:
            wait_for(socket.is_socket, "the socket")
            with client(find(str(home.store))) as asked:
                assert asked.get("/health").json()["pid"] == daemon.pid
        assert end(daemon) == 0
    assert home.beat().ended is not None and "Traceback" not in home.log()
    assert socket.exists() == (instead == "folder")
