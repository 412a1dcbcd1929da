from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent_raw_rag.encode.daemon_address import ADDRESS_FILE, MOST_SOCKET_BYTES, SOCKET, Address, find, fits, proof


def test_in_an_empty_home_there_is_no_daemon(tmp_path: Path) -> None:
    assert find(str(tmp_path)) is None
    assert find(str(tmp_path / "missing")) is None


def test_a_socket_in_the_home_is_the_address(tmp_path: Path) -> None:
    (tmp_path / SOCKET).touch()
    assert find(str(tmp_path)) == Address(str(tmp_path / SOCKET))


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ({"port": 4711, "token": "abc"}, Address(port=4711, token="abc")),
        ({"port": 4711}, None),
        ({"port": 4711, "token": ""}, None),
        ({"port": True, "token": "abc"}, None),
        ({"port": 70_000, "token": "abc"}, None),
        ({"socket": ""}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_address_file_says_where_else(tmp_path: Path, said: object, address: Address | None) -> None:
    (tmp_path / ADDRESS_FILE).write_text(json.dumps(said), encoding="utf-8")
    assert find(str(tmp_path)) == address


def test_the_address_file_may_name_another_socket(tmp_path: Path) -> None:
    (tmp_path / ADDRESS_FILE).write_text(json.dumps({"socket": str(tmp_path / "run.sock")}), encoding="utf-8")
    assert find(str(tmp_path)) is None
    (tmp_path / "run.sock").touch()
    assert find(str(tmp_path)) == Address(str(tmp_path / "run.sock"))


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
def test_a_socket_of_another_user_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / SOCKET).touch()
    os.chown(tmp_path / SOCKET, 12345, -1)
    assert find(str(tmp_path)) is None


def test_a_proof_is_of_one_token_and_one_challenge() -> None:
    assert len({proof(token, challenge) for token in ("a", "b") for challenge in ("c", "d", "\ud800", "")}) == 8


def test_a_torn_address_file_is_no_address(tmp_path: Path) -> None:
    (tmp_path / ADDRESS_FILE).write_bytes(b'{"port": 47\xff')
    assert find(str(tmp_path)) is None


def test_the_length_of_a_path_is_counted_in_bytes() -> None:
    assert fits("/" + "a" * (MOST_SOCKET_BYTES - 1))
    assert not fits("/" + "a" * MOST_SOCKET_BYTES)
    assert not fits("/" + "é" * (MOST_SOCKET_BYTES // 2 + 1))
