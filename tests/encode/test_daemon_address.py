from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_raw_rag.encode.daemon_address import ADDRESS_FILE, MOST_SOCKET_BYTES, SOCKET, Address, find, fits


def test_in_an_empty_home_there_is_no_daemon(tmp_path: Path) -> None:
    assert find(str(tmp_path)) is None
    assert find(str(tmp_path / "missing")) is None


def test_a_socket_in_the_home_is_the_address(tmp_path: Path) -> None:
    (tmp_path / SOCKET).touch()
    assert find(str(tmp_path)) == Address(str(tmp_path / SOCKET))


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ({"socket": "/run/user/1000/raw-rag-0.sock"}, Address("/run/user/1000/raw-rag-0.sock")),
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


def test_a_torn_address_file_is_no_address(tmp_path: Path) -> None:
    (tmp_path / ADDRESS_FILE).write_bytes(b'{"port": 47\xff')
    assert find(str(tmp_path)) is None


def test_the_length_of_a_path_is_counted_in_bytes() -> None:
    assert fits("/" + "a" * (MOST_SOCKET_BYTES - 1))
    assert not fits("/" + "a" * MOST_SOCKET_BYTES)
    assert not fits("/" + "é" * (MOST_SOCKET_BYTES // 2 + 1))
