"""The proxy before a real server of models: MLX's own, on a tiny model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from agent_raw_rag.encode.mlx_backend import mlx_available
from agent_raw_rag.gateway.exchange import heard
from agent_raw_rag.gateway.forms import OPENAI
from agent_raw_rag.sanitize.scrub import scrub
from tests.process.proxying import CHAT, Proxied, asking
from tests.servers.hostile import Hostile
from tests.servers.memory_http import home_in, serving
from tests.servers.mlx_talking import mlx_server

pytestmark = pytest.mark.process


@pytest.mark.line("F1", "F2", "F3", "F15")
@pytest.mark.skipif(not mlx_available(), reason="MLX is not installed here")
def test_mlx_lm_server_says_through_the_proxy_what_it_says_and_both_sides_are_stored(tmp_path: Path) -> None:
    home = home_in(tmp_path / "home")
    secret = home.token("proxy", scope="proxy")
    with mlx_server(tmp_path) as (url, model):
        home.configure(f'[proxy.upstreams.mlx]\nurl = "{url}/v1"\n')
        with serving(home) as served:
            proxy = Proxied(served, Hostile(0), secret)
            for stream in (False, True):
                body = asking("Which size?", stream=stream, model=model, max_tokens=12, temperature=0)
                direct = httpx2.post(url + CHAT, json=body, trust_env=False, timeout=60)
                answer = proxy.post(body, x_raw_rag_session=f"mlx-{stream}")
                assert answer.headers["content-type"] == direct.headers["content-type"]
                said = heard(OPENAI, answer.content)
                assert said.text == heard(OPENAI, direct.content).text and said.ended
                turns = proxy.captured(f"mlx-{stream}", 2 if said.words.strip() else 1)
                assert turns[0] == ("user", "Which size?", False)
                assert [text for _, text, _ in turns[1:]] == [scrub(said.words).rstrip()][: len(turns) - 1]
            with proxy.client() as client:
                models: dict[str, Any] = client.get("/v1/models", headers=proxy.headers()).json()
    assert models["object"] == "list"
