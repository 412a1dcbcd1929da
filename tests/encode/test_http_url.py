"""Addresses of inference servers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_raw_rag.encode.http_url import server_root, shown
from agent_raw_rag.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "root"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434"),
        ("http://localhost:8000//", "http://localhost:8000"),
        ("HTTPS://Api.Example.com/v1/embeddings", "https://api.example.com"),
        ("https://api.cohere.com/v2", "https://api.cohere.com"),
        ("http://tei:80/rerank", "http://tei:80"),
        ("https://gateway/Team/models-of-v1/v1", "https://gateway/Team/models-of-v1"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_a_url_may_be_written_in_any_usual_way(written: str, root: str) -> None:
    assert server_root(written) == server_root(root) == root


@pytest.mark.parametrize(
    "url",
    [
        "", "   ", "localhost:8080", "127.0.0.1:8080/v1", "//host/v1", "file:///etc/passwd", "ftp://host", "unix:/run/x",
        "http://", "http:///v1", "http://host:port", "http://host:99999", "http://host/v1?key=abc", "http://host/#x",
        "http://user:secret@host/v1", "http://secret@host", "http://host name", "http://host\n/v1", "http://höst",
        "http://[::1", "http:\\\\host", f"http://{'a' * 64}.com", "http://a..b",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_an_example_and_without_the_secret(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        server_root(url)
    assert "http://127.0.0.1:8080" in str(caught.value)
    assert "secret" not in str(caught.value) and "abc" not in str(caught.value)


@given(st.text(max_size=40))
def test_every_text_is_a_root_or_a_config_error(text: str) -> None:
    try:
        root = server_root(text)
    except ConfigError:
        return
    assert server_root(root) == root


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("https://user:pw@other.example/login?token=abc", "https://other.example/login"),
        ("/v2/embeddings?a=b", "/v2/embeddings"),
        ("http://[", "an address that cannot be read"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(location: str, said: str) -> None:
    assert shown(location) == said
