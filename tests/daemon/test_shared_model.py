"""Encoders and rerankers in front of a real serving process, which comes, goes and changes while they are used."""

from __future__ import annotations

import json
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from agent_raw_rag import __version__
from agent_raw_rag.daemon.serving import Serving
from agent_raw_rag.encode.base import Encoder
from agent_raw_rag.encode.choice import Choice
from agent_raw_rag.encode.daemon_address import SOCKET, find
from agent_raw_rag.encode.daemon_encoder import BATCH_TEXTS, DaemonEncoder, DaemonTokenEncoder
from agent_raw_rag.encode.daemon_link import Link
from agent_raw_rag.encode.daemon_presence import AWAY_SECONDS, BELIEVED_SECONDS, MOST_AWAY_SECONDS
from agent_raw_rag.encode.daemon_reranker import DaemonReranker
from agent_raw_rag.encode.embedded import EmbeddedEncoder
from agent_raw_rag.encode.hashing import HashingEncoder
from agent_raw_rag.encode.late import TokenEncoder
from agent_raw_rag.encode.overlap import OverlapReranker
from agent_raw_rag.encode.tokens import tokenizer
from agent_raw_rag.models import Tokenizer
from agent_raw_rag.runtime import Runtime
from agent_raw_rag.runtime.sharing import Sharing
from tests.daemon.running import environment, health, home_of, serving
from tests.process.watching import wait_for

pytestmark = [
    pytest.mark.process,
    # httpx2 leaves a Unix socket that was refused to the collector, which closes it at once.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.skipif(sys.platform == "win32", reason="processes are not killed this way there"),
]
TEXTS = ["drop the retry", "", "  ", "a" * 40_000, "lone \ud800 surrogate", "中文也可以", "x\x00y"]


class Absent(HashingEncoder):
    """Under the embedded encoder's space: whoever asks it was not answered by the daemon, and its vectors tell."""

    def __init__(self) -> None:
        super().__init__(384)
        self._space = EmbeddedEncoder.space


class Clock:
    """Set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def shared(home: str, clock: Clock, local: Encoder | None = None) -> DaemonEncoder:
    return DaemonEncoder(local or Absent(), Link(home, clock), query_seconds=30, clock=clock)


def is_local(encoder: DaemonEncoder) -> bool:
    """Whether the next query is answered by the local encoder."""
    return bool((encoder.encode_query("drop it") == encoder.local.encode_query("drop it")).all())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A home that is served by a process."""
    made = environment(tmp_path_factory.mktemp("shared"))
    with serving(made):
        yield home_of(made)


@pytest.fixture(scope="module")
def embedded() -> EmbeddedEncoder:
    return EmbeddedEncoder()


def test_vectors_are_equal_to_the_local_ones_bit_for_bit(home: str, embedded: EmbeddedEncoder) -> None:
    encoder = shared(home, Clock())
    texts = TEXTS * (BATCH_TEXTS // len(TEXTS) + 2)
    assert encoder.encode_passages(texts).tobytes() == embedded.encode_passages(texts).tobytes()
    for text in TEXTS:
        assert encoder.encode_query(text).tobytes() == embedded.encode_query(text).tobytes()
    assert encoder.encode_passages([]).shape == (0, 384)


def test_it_says_of_itself_what_the_local_one_says(home: str, embedded: EmbeddedEncoder) -> None:
    encoder = shared(home, Clock(), embedded)
    assert encoder.space == embedded.space
    assert (encoder.english_only, encoder.unrelated_cosine) == (embedded.english_only, embedded.unrelated_cosine)


def test_token_states_are_equal_to_the_local_ones_bit_for_bit(home: str, embedded: EmbeddedEncoder) -> None:
    encoder = DaemonTokenEncoder(embedded, embedded, Link(home), query_seconds=30)
    before = health(home)["made"]["states"]
    for text in TEXTS:
        for mine, local in (
            (encoder.token_states(text), embedded.token_states(text)),
            (encoder.query_states(text), embedded.query_states(text)),
        ):
            assert mine.vectors.tobytes() == local.vectors.tobytes() and mine.vectors.shape == local.vectors.shape
            assert mine.spans.tolist() == local.spans.tolist() and mine.spans.shape == local.spans.shape
    assert health(home)["made"]["states"] == before + 2 * len(TEXTS)


def test_token_states_of_another_space_are_made_here(home: str) -> None:
    local = HashingEncoder(64)
    encoder = DaemonTokenEncoder(local, local, Link(home), query_seconds=30)
    assert encoder.token_states("a b").vectors.tobytes() == local.token_states("a b").vectors.tobytes()


def test_what_stands_in_front_is_what_stands_behind(tmp_path: Path) -> None:
    models = Runtime.load(None, environment(tmp_path)).models
    choice = models.encoder_choice(None)
    assert choice is not None
    assert isinstance(models.encoder(choice), TokenEncoder) and isinstance(models.local_encoder(choice), TokenEncoder)
    assert not isinstance(DaemonEncoder(Absent(), Link(str(tmp_path)), query_seconds=1), TokenEncoder)


def test_several_threads_share_one_link(home: str, embedded: EmbeddedEncoder) -> None:
    encoder = shared(home, Clock())
    texts = [f"text number {number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(encoder.encode_query, texts))
    assert np.array(found).tobytes() == np.array([embedded.encode_query(text) for text in texts]).tobytes()


def test_another_space_is_not_asked_for(home: str) -> None:
    before = health(home)["made"]["vectors"]
    encoder = shared(home, Clock(), HashingEncoder(384))
    assert is_local(encoder)
    assert health(home)["made"]["vectors"] == before


def test_a_text_larger_than_a_request_is_encoded_here(home: str) -> None:
    encoder, text = shared(home, Clock()), "é" * 3_000_000
    assert (encoder.encode_query(text) == encoder.local.encode_query(text)).all()
    assert not is_local(encoder)


def test_a_reranker_that_is_not_served_works_by_itself(home: str) -> None:
    reranker = DaemonReranker(OverlapReranker(), "overlap-1", Link(home), seconds=10)
    assert reranker.score("a b", ["a", "c"]) == [0.5, 0.0] and reranker.score("a", []) == []
    assert (reranker.name, reranker.is_probability) == ("word overlap", True)


def test_killed_in_the_middle_it_is_replaced_at_once_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    made, clock = environment(tmp_path), Clock()
    encoder = shared(home_of(made), clock)
    assert is_local(encoder)
    with serving(made) as first:
        clock.now += AWAY_SECONDS
        assert not is_local(encoder)
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert (Path(home_of(made)) / SOCKET).exists()
        assert is_local(encoder)
    with serving(made) as second:
        assert is_local(encoder)  # for a moment nobody is looked for
        clock.now += MOST_AWAY_SECONDS
        assert not is_local(encoder)
        assert health(home_of(made))["pid"] == second.pid


def test_tokens_are_counted_by_the_daemon_and_here_when_it_is_gone(tmp_path: Path) -> None:
    made, asked = environment(tmp_path, '[encoder]\nname = "hashing"\n'), []

    def local() -> Tokenizer:
        asked.append("loaded")
        return tokenizer()

    sharing, wanted = Sharing(home_of(made)), [len(tokenizer().encode(text)) for text in TEXTS]
    with serving(made) as process:
        assert sharing.token_counts(TEXTS, local) == wanted and not asked
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert sharing.token_counts(TEXTS, local) == wanted and asked


def test_a_question_that_loses_the_daemon_loads_the_table_of_tokens_meanwhile(tmp_path: Path) -> None:
    made, loaded = environment(tmp_path), threading.Event()

    def local() -> Tokenizer:
        loaded.set()
        return tokenizer()

    sharing = Sharing(home_of(made))
    encoder = sharing.encoder(Absent(), Choice("embedded", {}))
    with serving(made) as process:
        sharing.token_counts(TEXTS, local)
        encoder.encode_query("the daemon is there")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not loaded.is_set()
        encoder.encode_query("the daemon is gone")
        assert loaded.wait(60)


def test_a_stopped_process_answers_nobody_and_holds_nobody_up(tmp_path: Path) -> None:
    made, clock = environment(tmp_path), Clock()
    encoder = shared(home_of(made), clock)
    with serving(made) as process:
        assert not is_local(encoder)
        process.send_signal(signal.SIGSTOP)
        clock.now += BELIEVED_SECONDS
        assert is_local(encoder)
        process.send_signal(signal.SIGCONT)
        clock.now += MOST_AWAY_SECONDS
        assert not is_local(encoder)


def test_a_daemon_whose_model_changed_is_not_asked(tmp_path: Path) -> None:
    made, clock = environment(tmp_path), Clock()
    other = tmp_path / "other.toml"
    other.write_text('[encoder]\nname = "hashing"\ndim = 384\n', encoding="utf-8")
    encoder = shared(home_of(made), clock)
    with serving(made):
        assert not is_local(encoder)
    with serving(made, "--config", str(other)):
        assert is_local(encoder)  # within the moment in which the first one is still believed in
        clock.now += MOST_AWAY_SECONDS
        assert is_local(encoder)
        assert health(home_of(made))["made"]["vectors"] == 0


def test_a_port_and_a_token_do_as_well(tmp_path: Path, embedded: EmbeddedEncoder) -> None:
    made = environment(tmp_path)
    with serving(made, "--tcp"):
        encoder = shared(home_of(made), Clock())
        assert encoder.encode_query("a").tobytes() == embedded.encode_query("a").tobytes()


def test_a_stranger_at_the_port_of_a_dead_process_is_told_nothing(tmp_path: Path) -> None:
    made = environment(tmp_path)
    with serving(made, "--tcp"):
        address = find(home_of(made))
    assert address is not None and find(home_of(made)) == address  # it was killed, and left its address
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", address.port)) as stranger:
        thread = threading.Thread(target=_answers_anything, args=(stranger, heard))
        thread.start()
        assert is_local(shared(home_of(made), Clock()))
        stranger.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert len(heard) == 1 and heard[0].startswith(b"GET /proof?") and address.token.encode() not in heard[0]


def _answers_anything(stranger: socket.socket, heard: list[bytes]) -> None:
    said = json.dumps({"proof": "0" * 64, "pid": 1, "version": __version__, "spaces": [], "rerankers": []}).encode()
    while True:
        try:
            connection = stranger.accept()[0]
        except OSError:
            return
        with connection:
            heard.append(connection.recv(65536))
            head = f"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {len(said)}\r\n\r\n".encode()
            connection.sendall(head + said)


def test_the_daemon_does_not_ask_itself(tmp_path: Path) -> None:
    runtime = Runtime.load(None, environment(tmp_path))
    early = runtime.spaces.models.encoder_choice(None)
    assert early is not None
    encoder = runtime.models.encoder(early)
    assert isinstance(encoder, DaemonEncoder)
    serving = Serving(runtime)
    serving.start()
    try:
        assert runtime.models.encoder(early).encode_query("a").shape == (384,)
        assert Link(runtime.home).health() is None
        assert health(runtime.home)["made"]["vectors"] == 0
    finally:
        serving.stop()


def test_a_toy_and_a_server_elsewhere_are_not_shared(tmp_path: Path) -> None:
    runtime = Runtime.load(None, environment(tmp_path, '[encoder]\nname = "hashing"\n'))
    choice = runtime.models.encoder_choice(None)
    assert choice is not None and isinstance(runtime.models.encoder(choice), HashingEncoder)


def test_a_socket_that_a_dead_process_left_is_replaced(tmp_path: Path) -> None:
    made = environment(tmp_path)
    with serving(made) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()
    left = Path(home_of(made)) / SOCKET
    was = left.stat().st_ino
    with serving(made) as second:
        wait_for(lambda: health(home_of(made))["pid"] == second.pid, "the second one")
        second.send_signal(signal.SIGTERM)
        assert second.wait(10) == 0
    assert was and not left.exists()
