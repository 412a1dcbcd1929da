"""The flagship's models reach nothing either: loading and using them, traced, in a namespace that has loopback only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent_raw_rag.encode.mlx_backend import mlx_available
from tests.encode.tiny_qwen import write_model
from tests.process.support import environment
from tests.process.test_no_network import reached, watched

PROGRAM = """
import sys
from agent_raw_rag.encode.qwen_encoder import QwenEncoder
from agent_raw_rag.encode.qwen_reranker import QwenReranker
from agent_raw_rag.errors import ModelError
QwenEncoder(sys.argv[1]).encode_query("x")
QwenReranker(sys.argv[1]).score("why?", ["since"])
try:
    QwenEncoder().encode_query("x")
except ModelError:
    print("refused")
"""


@pytest.mark.process
@pytest.mark.skipif(not mlx_available(), reason="MLX is not installed here")
def test_models_on_mlx_reach_nothing(tmp_path: Path) -> None:
    folder, trace = write_model(tmp_path / "m"), tmp_path / "trace"
    words = [*watched(trace), sys.executable, "-c", PROGRAM, str(folder)]
    done = subprocess.run(words, env=environment(tmp_path / "home"), capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["refused"], done.stderr
    assert reached(trace) == []
    assert not (tmp_path / "home").exists()
