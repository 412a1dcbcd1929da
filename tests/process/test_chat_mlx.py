"""A chat with a real server of models: MLX's own, on a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_raw_rag.encode.mlx_backend import mlx_available
from tests.servers.memory_http import home_in
from tests.servers.mlx_talking import mlx_server


@pytest.mark.process
@pytest.mark.line("G1")
@pytest.mark.skipif(not mlx_available(), reason="MLX is not installed here")
def test_mlx_lm_server_answers_a_chat_and_both_sides_are_stored(tmp_path: Path) -> None:
    home = home_in(tmp_path / "home")
    with mlx_server(tmp_path) as (url, model):
        home.configure(f'[llm]\nurl = "{url}"\nmodel = "{model}"\nmax_tokens = 12\n')
        first = home.read("chat", "--once", "Which size of a window?", "--session", "s1")
        home.read("chat", "--once", "And why?", "--session", "s1")
    assert first["text"] and first["partial"] and first["captured"]  # cut by max_tokens
    turns = home.read("show", "chat:s1")["turns"]
    assert [one["role"] for one in turns] == ["user", "assistant"] * 2
