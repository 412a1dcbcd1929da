"""What went over the wire, as files."""

from __future__ import annotations

import json
from pathlib import Path

from agent_raw_rag.gateway.payloads import Payloads


def test_each_exchange_has_a_number_of_its_own_whoever_writes(tmp_path: Path) -> None:
    one, other = Payloads(str(tmp_path)), Payloads(str(tmp_path))
    numbers = [one.request("u", {}, b"{}"), other.request("u", {}, b"{}"), one.request("u", {}, b"{}")]
    assert numbers == [1, 2, 3]


def test_headers_that_hold_secrets_are_masked_and_a_body_is_json_or_text(tmp_path: Path) -> None:
    written = Payloads(str(tmp_path))
    number = written.request("u", {"X-Api-Key": "k", "authorization": "Bearer k", "accept": "a"}, b'{"a": 1}')
    written.response(number, 200, {"set-cookie": "k"}, b"data: \xff\n\n")
    request = json.loads((tmp_path / "request_1.json").read_text(encoding="utf-8"))
    response = json.loads((tmp_path / "response_1.json").read_text(encoding="utf-8"))
    assert request["headers"] == {"X-Api-Key": "***", "authorization": "***", "accept": "a"} and request["body"] == {
        "a": 1
    }
    assert response == {"status": 200, "headers": {"set-cookie": "***"}, "body": "data: \ufffd\n\n"}
